"""All sweeps over N: throughput, and response times. A panel for each row and each two stages."""

from collections.abc import Callable
from dataclasses import dataclass

from ..analysis import intervals
from ..analysis.cells import Analysis, CellResult, ThreadCount
from ..analysis.intervals import Spread
from ..analysis.operational_laws import Prediction
from ..plan import papers
from ..plan.catalog import Cell, Stage
from ..plan.papers import Peak
from ..results.records import Run
from .charts import line_chart
from .charts.line_chart import Axes, Cross, Curve, Point
from .charts.palette import of_stage
from .charts.svg import SMALL_PX, Canvas, text_width
from .document import Figure
from .scene import short_title

_IN_A_PANEL = 2  # stages
_NAME_GAP = 10.0

_WIDTH = 300.0
_CAPTION = (
    "The panels of a row have the same N, and each its own scale. Dots are medians with their 95% "
    "interval as a band. Dotted lines are exact mean value analysis from the demands of the "
    "tables. A hollow dot failed its checks."
)


@dataclass(frozen=True)
class _Shown:
    """What the panels have over N."""

    name: str
    title: str
    caption: str
    of_point: Callable[[ThreadCount], Spread]
    of_run: Callable[[Run], float]
    of_model: Callable[[Prediction], float]
    height: float = 140.0
    is_rate: bool = False  # only a rate has an N*, and a number of the paper


_RATE = _Shown(
    name="sweeps",
    title="Throughput over N",
    caption=f"Requests/s. {_CAPTION} A diamond is N*, a grey cross the paper’s N* and throughput.",
    of_point=lambda point: point.throughput,
    of_run=lambda run: run.throughput_rps,
    of_model=lambda one: one.throughput_rps,
    height=190.0,
    is_rate=True,
)
_TIME = _Shown(
    name="response-times",
    title="Response time over N",
    caption=f"Mean response times in ms, on a logarithmic axis. {_CAPTION} Where a resource is "
    "full, twice the users wait twice as long.",
    of_point=lambda point: intervals.spread([run.mean_ms for run in point.runs]),
    of_run=lambda run: run.mean_ms,
    of_model=lambda one: 1000 * one.threads / one.throughput_rps,
)


def grids(stages: list[Stage], rows: list[str], analysis: Analysis) -> list[Figure]:
    """[] if nothing was measured. The cells with a limited fileserver are not in them."""
    groups = _groups(stages, rows, analysis)
    names = [stage.name for stage in stages]
    room = max((text_width(name, SMALL_PX) for name in names), default=0.0) + _NAME_GAP
    found = []
    for shown in (_RATE, _TIME):
        drawn = [canvas for row in rows for canvas in _row(shown, row, groups, analysis, room)]
        if drawn:
            made = Figure(
                name=shown.name,
                title=shown.title,
                caption=shown.caption,
                canvases=drawn,
                columns=len(groups),
            )
            found.append(made)
    return found


def _groups(stages: list[Stage], rows: list[str], analysis: Analysis) -> list[list[Stage]]:
    """Two stages in each; one that was measured for few rows only joins the stage before it."""
    groups: list[list[Stage]] = []
    whole: list[Stage] = []
    for stage in stages:
        measured = sum(_is_measured(Cell(stage.name, row), analysis) for row in rows)
        if groups and 2 * measured < len(rows):
            groups[-1].append(stage)
            continue
        if len(whole) % _IN_A_PANEL == 0:
            groups.append([])
        groups[-1].insert(len(whole) % _IN_A_PANEL, stage)
        whole.append(stage)
    return groups


def _is_measured(cell: Cell, analysis: Analysis) -> bool:
    return any(run.cell == cell for run in analysis.runs)


def _row(
    shown: _Shown, row: str, groups: list[list[Stage]], analysis: Analysis, room: float
) -> list[Canvas]:
    """The panels of a row. They are empty where a stage was not measured, so that all align."""
    made = [_curves(shown, row, group, analysis) for group in groups]
    peaks = [
        [peak for stage in group if shown.is_rate and (peak := _peak(stage.name, row))]
        for group in groups
    ]
    points = [one for curves in made for one in _measured(curves)]
    if not points:
        return []
    crosses = [[Cross(peak.n_star or 0, peak.throughput_rps) for peak in one] for one in peaks]
    places = [point.x for point in points] + [cross.x for one in crosses for cross in one]
    drawn = []
    for group, curves, of_paper in zip(groups, made, crosses):
        values = [one.value for one in _measured(curves)] + [one.value for one in of_paper]
        axes = Axes(
            x_low=1.0,
            x_high=max(places),
            y_values=values or [1.0],
            x_base=2,
            is_y_logarithmic=not shown.is_rate,
            x_title="N",
        )
        title = f"{short_title(row)}: {_named(group, curves)}"
        drawn.append(
            line_chart.draw(
                title, curves, axes, crosses=of_paper, size=(_WIDTH, shown.height), right=room
            )
        )
    return drawn


def _measured(curves: list[Curve]) -> list[Point]:
    """Not what is predicted."""
    known = (point for one in curves if not one.style for point in (*one.points, *one.hollow))
    return [point for point in known if point]


def _named(group: list[Stage], curves: list[Curve]) -> str:
    """The stages that are drawn; where nothing is, those that could be."""
    drawn = list(dict.fromkeys(curve.name for curve in curves if curve.name))
    names = drawn or [stage.name for stage in group]
    if len(names) > _IN_A_PANEL:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join(names)


def _peak(stage: str, row: str) -> Peak | None:
    """The paper's, from the first table that has an N* for it."""
    for paper in papers.names():
        for table in papers.numbers(paper).tables.values():
            peak = table.get(stage, {}).get(row)
            if peak and peak.n_star:
                return peak
    return None


def _curves(shown: _Shown, row: str, group: list[Stage], analysis: Analysis) -> list[Curve]:
    curves = []
    for index, stage in enumerate(group):
        cell, colour = Cell(stage.name, row), of_stage(index, len(group))
        result = analysis.result(cell)
        if result:
            curves += _of_result(shown, stage, result, colour)
        elif failed := [run for run in analysis.invalid if run.cell == cell]:
            hollow = _hollow(shown, failed)
            curves.append(Curve(name=stage.name, colour=colour, points=[], hollow=hollow))
    return curves


def _of_result(shown: _Shown, stage: Stage, result: CellResult, colour: str) -> list[Curve]:
    measured = Curve(
        name=stage.name,
        colour=colour,
        points=[_point(point.threads, shown.of_point(point)) for point in result.points],
        hollow=_hollow(shown, result.invalid),
        knee=result.n_star if shown.is_rate else None,
        has_band=True,
    )
    if result.model is None:
        return [measured]
    most = max(point.threads for point in result.points)
    predicted = [
        line_chart.point(one.threads, shown.of_model(one))
        for one in result.model.predictions(most)
        if one.threads & (one.threads - 1) == 0 or one.threads == most
    ]
    return [Curve(name="", colour=colour, points=predicted, style="dots"), measured]


def _hollow(shown: _Shown, runs: list[Run]) -> list[Point]:
    return [
        line_chart.point(run.threads, shown.of_run(run)) for run in runs if shown.of_run(run) > 0
    ]


def _point(threads: int, spread: Spread) -> Point:
    return Point(threads, spread.median, spread.low, spread.high)
