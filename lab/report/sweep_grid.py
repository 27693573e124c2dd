"""All sweeps over N in one figure: a panel for each row and each two stages, on shared axes."""

from __future__ import annotations

from ..analysis.cells import Analysis, CellResult
from ..analysis.intervals import Spread
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

_CAPTION = (
    "Requests/s over N, both axes logarithmic; the panels of a row have the same axes. Dots are "
    "medians with their 95% interval, and a diamond is N*. Dotted lines are exact mean value "
    "analysis from the demands of the tables. A hollow dot failed its checks. A grey cross is the "
    "paper’s N* and throughput."
)


def grid(stages: list[Stage], rows: list[str], analysis: Analysis) -> Figure | None:
    """None if nothing was measured. The cells with a limited fileserver are not in it."""
    groups = _groups(stages, rows, analysis)
    names = [stage.name for stage in stages]
    room = max((text_width(name, SMALL_PX) for name in names), default=0.0) + _NAME_GAP
    canvases = [canvas for row in rows for canvas in _row(row, groups, analysis, room)]
    if not canvases:
        return None
    return Figure(
        name="sweeps",
        title="Throughput over N",
        caption=_CAPTION,
        canvases=canvases,
        columns=len(groups),
    )


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


def _row(row: str, groups: list[list[Stage]], analysis: Analysis, room: float) -> list[Canvas]:
    """The panels of a row. They are empty where a stage was not measured, so that all align."""
    made = [_curves(row, group, analysis) for group in groups]
    peaks = [[peak for stage in group if (peak := _peak(stage.name, row))] for group in groups]
    points = [
        point
        for curves in made
        for curve in curves
        for point in (*curve.points, *curve.hollow)
        if point and curve.style == ""
    ]
    if not points:
        return []
    crosses = [[Cross(peak.n_star or 0, peak.throughput_rps) for peak in one] for one in peaks]
    drawn = [cross for one in crosses for cross in one]
    axes = Axes(
        x_low=1.0,
        x_high=max([point.x for point in points] + [cross.x for cross in drawn]),
        y_values=[value for point in points for value in (point.value, point.low, point.high)]
        + [cross.value for cross in drawn],
        x_base=2,
        is_y_logarithmic=True,
        x_title="N",
    )
    return [
        line_chart.draw(
            f"{short_title(row)}: {_named(group, curves)}",
            curves,
            axes,
            crosses=of_paper,
            right=room,
        )
        for group, curves, of_paper in zip(groups, made, crosses)
    ]


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


def _curves(row: str, group: list[Stage], analysis: Analysis) -> list[Curve]:
    curves = []
    for index, stage in enumerate(group):
        cell, colour = Cell(stage.name, row), of_stage(index, len(group))
        result = analysis.result(cell)
        if result:
            curves += _of_result(stage, result, colour)
        elif failed := [run for run in analysis.invalid if run.cell == cell]:
            curves.append(Curve(name=stage.name, colour=colour, points=[], hollow=_hollow(failed)))
    return curves


def _of_result(stage: Stage, result: CellResult, colour: str) -> list[Curve]:
    measured = Curve(
        name=stage.name,
        colour=colour,
        points=[_point(point.threads, point.throughput) for point in result.points],
        hollow=_hollow(result.invalid),
        knee=result.n_star,
    )
    if result.model is None:
        return [measured]
    most = max(point.threads for point in result.points)
    predicted = [
        line_chart.point(one.threads, one.throughput_rps)
        for one in result.model.predictions(most)
        if one.threads & (one.threads - 1) == 0 or one.threads == most
    ]
    return [Curve(name="", colour=colour, points=predicted, style="dots"), measured]


def _hollow(runs: list[Run]) -> list[Point]:
    return [
        line_chart.point(run.threads, run.throughput_rps) for run in runs if run.throughput_rps > 0
    ]


def _point(threads: int, spread: Spread) -> Point:
    return Point(threads, spread.median, spread.low, spread.high)
