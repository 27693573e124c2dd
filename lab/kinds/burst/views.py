"""The view of bursts: the rate of transfers that begin together, by how many there are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ...analysis import passes
from ...analysis.intervals import Spread
from ...plan.catalog import Stage
from ...plan.planned import BLOCKED
from ...report import sheet, wording
from ...report.charts import line_chart
from ...report.charts.line_chart import Axes, Curve, Point
from ...report.charts.svg import Canvas
from ...report.document import Block, Bullets, Figure, Table
from ...report.scene import Scene
from ...report.sheet import Column, Number, OfRun, Writing, of_view
from ...report.tables import printed
from ...results.records import Run
from . import analysis as bursts
from .analysis import RATE, BurstStep
from .load import SHORTEST_WATCHED_S

_MUCH_APART = 0.8  # below it, a burst was hardly one

_HOW_TO_READ = (
    "KB are 1,024 bytes: the median with the 95% interval of the repetitions, and their mean. "
    "Disk: bytes that came from it for each byte sent. Cached: the part of the files that was in "
    "memory before. Switches: those of the whole host from one thread to another, for each "
    "transfer."
)


def _kilobytes(bytes_s: float | None) -> str:
    return "" if bytes_s is None else f"{bytes_s / 1024:,.0f}"


def _milliseconds(value: float | None) -> str:
    return f"{value:,.0f}" if value is not None and value >= 100 else wording.three_digits(value)


def _more_by_server(run: Run) -> float | None:
    """How much higher the rate is by the server's own log, as a part of it."""
    by_server, rate = run.figure("server_rate_bytes_s"), run.figure("rate_bytes_s")
    return by_server / rate - 1 if by_server and rate else None


def _switches(run: Run) -> float | None:
    """For each transfer; None for a burst that is too short to count them."""
    rate = run.usage.figure("context_switches_per_s")
    if rate is None or not run.requests or run.elapsed_s < SHORTEST_WATCHED_S:
        return None
    return rate * run.elapsed_s / run.requests


_COLUMNS: tuple[str | Number, ...] = (
    Number("server's", _more_by_server, lambda part: "" if part is None else f"{part:+.1%}"),
    *("simultaneity", "slowest_bytes_s", "fairness", "first_byte_ms"),
    Number("disk", bursts.read_for_each_sent),
    "resident_before",
    Number("switches", _switches, wording.number),
)
_WRITINGS = {
    "B/s": Writing(", KB/s", _kilobytes),
    "ms": Writing(", ms", _milliseconds),
    "share": Writing(text=wording.percent),
}


def rates(scene: Scene) -> list[Block]:
    """A table for each size of file: stages and their transfers down."""
    blocks: list[Block] = []
    remarks: list[str] = []
    for row in scene.rows:
        found = [
            (stage, step)
            for stage in scene.stages
            for step in scene.analysis.bursts(stage.name, row)
        ]
        if found:
            blocks.append(_rates(row, found))
            remarks += [text for stage, step in found for text in _remarks(stage, step, row)]
    blocks += [*compared(scene), *orders(scene)]
    return [*blocks, *([Bullets(remarks)] if remarks else []), *printed(scene)]


def answers(scene: Scene) -> list[str]:
    """The highest rate of each stage, in a sentence."""
    of_rows = []
    for row in scene.rows:
        found = {stage.name: scene.analysis.bursts(stage.name, row) for stage in scene.stages}
        best = [
            f"{name} {_kilobytes(step.rate.median)} KB/s with {step.transfers}"
            for name, steps in found.items()
            if (step := max(steps, key=lambda one: one.rate.median, default=None))
        ]
        if best:
            of_rows.append(f"of {row}: {', '.join(best)}")
    return [f"The highest rates {'; '.join(of_rows)}."] if of_rows else []


def _name(stage: Stage, step: BurstStep) -> str:
    return f"({step.transfers}, {'same' if stage.same_file else 'different'})"


_Line = tuple[Stage, BurstStep]


def _rates(row: str, found: list[_Line]) -> Table:
    """Without the columns of what was not measured."""
    runs = [run for _, step in found for run in step.runs]
    has_several = len({stage.name for stage, _ in found}) > 1
    columns: list[Column[_Line]] = [
        *([Column[_Line]("stage", lambda line: line[0].name)] if has_several else []),
        Column("burst", lambda line: _name(*line)),
        Column("KB/s", lambda line: _interval(line[1].rate)),
        Column("mean", lambda line: _kilobytes(line[1].mean_rate)),
        *(one.column(_median) for one in of_view("bursts", _COLUMNS, _WRITINGS, runs)),
    ]
    title = f"Rate of transfers that begin together, {row}"
    return sheet.table(title, _HOW_TO_READ, columns, found)


def _median(line: _Line, of: OfRun) -> float | None:
    return line[1].value(of)


def _interval(rate: Spread) -> str:
    mark = "" if rate.is_interval else "*"
    return f"{_kilobytes(rate.median)}\n{_kilobytes(rate.low)}–{_kilobytes(rate.high)}{mark}"


def _remarks(stage: Stage, step: BurstStep, row: str) -> list[str]:
    """What a reader of the rate must know."""
    name = f"{stage.name} {_name(stage, step)}, {row}"
    found = []
    overlap = step.value(lambda run: run.figure("simultaneity"))
    if overlap is not None and overlap < _MUCH_APART:
        found.append(
            f"{name}: its transfers overlapped by {overlap:.2f} only, so its rate is partly one of "
            "transfers one after the other."
        )
    if step.is_steady is False:
        found.append(f"{name}: the later repetitions are unlike the earlier ones.")
    return found


VIEWS: dict[str, Callable[[Scene], list[Block]]] = {"bursts": rates}
TERMS = [
    "Burst: all transfers log in and open their connections, wait for the last one, and ask in the "
    "same moment. Its rate is all bytes over the span from the first asking to the last byte.",
    "Overlap: the sum of the transfers' own times over their number times the span. 1: all took "
    "place together; 1/n: one after the other.",
    "(4, same): four transfers of one file; (4, different): of a file each.",
    "KB are 1,024 bytes. A rate has the 95% interval of its repetitions (* = lowest and highest of "
    "two). Server's: how much the rate by the log of the server differs. Slowest: of the single "
    "transfers. Fairness: Jain's index of their rates, 1 if all are alike.",
    "Finding: the ratio of two rates is taken within each pass. It is seen here if its whole 99% "
    "interval is within the limits of the finding, and not seen if it is outside; otherwise it "
    "cannot be told.",
]


_SIZE = (330.0, 150.0)
_OURS = ("stage0", "stage1", "stage2", "ink", "soft")


def figures(scene: Scene) -> list[Block]:
    """Over the number of transfers or, if that is always the same, over the size of the files."""
    found = {stage.name: _by_name(scene, stage) for stage in scene.stages}
    names = list(dict.fromkeys(name for steps in found.values() for name in steps))
    if len(names) < 2:
        return []
    names.sort(key=_as_number)
    ours = [_curve(stage, found[stage.name], names, at) for at, stage in enumerate(scene.stages)]
    charts = [_chart("Here, KB/s", ours, names)]
    if paper := _printed(scene, names):
        charts.append(_chart("In the paper, KB/s", paper, names))
    return [
        Figure(
            name=f"bursts-{scene.experiment.name}",
            title=f"{scene.experiment.title}: the rates",
            caption="With intervals. Compare the shapes, not the heights.",
            canvases=charts,
        )
    ]


def _by_name(scene: Scene, stage: Stage) -> dict[str, BurstStep]:
    """By the number of transfers, or by the size where there are several sizes."""
    steps = {row: scene.analysis.bursts(stage.name, row) for row in scene.rows}
    if len(scene.rows) > 1:
        return {row: found[0] for row, found in steps.items() if found}
    return {str(step.transfers): step for found in steps.values() for step in found}


def _curve(stage: Stage, steps: dict[str, BurstStep], names: Sequence[str], at: int) -> Curve:
    points = [
        Point(float(place), *(value / 1024 for value in (rate.median, rate.low, rate.high)))
        for place, name in enumerate(names)
        if name in steps
        for rate in [steps[name].rate]
    ]
    return Curve(name=stage.name, colour=_OURS[at % len(_OURS)], points=points)


def _printed(scene: Scene, names: Sequence[str]) -> list[Curve]:
    """The columns of the paper's table; [] if it has none for this experiment."""
    table = scene.printed.printed.get(scene.experiment.numbers)
    if not table:
        return []
    place = {name.replace("i", ""): float(at) for at, name in enumerate(names)}
    curves = []
    for column, title in enumerate(table.header[1:], start=1):
        known = [(row[0], row[column]) for row in table.rows if row[column] and row[0] in place]
        points = [line_chart.point(place[name], float(value)) for name, value in known]
        style = "" if column == 1 else "dash"
        curves.append(Curve(name=title.split(",")[0], colour="paper", points=points, style=style))
    return curves


def _chart(title: str, curves: Sequence[Curve], names: Sequence[str]) -> Canvas:
    points = [point for curve in curves for point in curve.points if point]
    axes = Axes(
        x_low=0.0,
        x_high=float(len(names) - 1),
        y_values=[0.0, *(value for point in points for value in (point.value, point.high))],
        x_ticks=[float(at) for at in range(len(names))],
        x_names=names,
    )
    return line_chart.draw(title, curves, axes, size=_SIZE)


def _as_number(name: str) -> float:
    """1 … 24, or 256KiB … 16MiB, in rising order."""
    units = {"KiB": 2.0**10, "MiB": 2.0**20}
    digits = name.rstrip("KMiB")
    return float(digits) * units.get(name[len(digits) :], 1.0)


def compared(scene: Scene) -> list[Table]:
    """Different files against one file, for stages that differ in nothing else."""
    rows = [
        [different.name, row, str(mine.transfers), _ratio(passes.ratio(mine, other, RATE))]
        for same, different in _pairs(scene.stages)
        for row in scene.rows
        for mine in scene.analysis.bursts(different.name, row)
        for other in scene.analysis.bursts(same.name, row)
        if mine.transfers == other.transfers > 1
    ]
    if not rows:
        return []
    return [
        Table(
            title=f"Different files against one file: {scene.experiment.title}",
            caption="The ratio of the rates, within each pass, with its 99% interval.",
            header=["stage", "file", "transfers", "different / same"],
            rows=rows,
        )
    ]


def orders(scene: Scene) -> list[Table]:
    """What the order of the repetitions does, for stages that are alike otherwise."""
    rows = [
        [name, row, str(one.transfers), _ratio(passes.ratio(one, other, RATE)), _width(one, other)]
        for others, blocked in _pairs_of_orders(scene.stages)
        for row in scene.rows
        for one in scene.analysis.bursts(blocked.name, row)
        for other in scene.analysis.bursts(others.name, row)
        if one.transfers == other.transfers
        for name in (f"{blocked.order} / {others.order}",)
    ]
    if not rows:
        return []
    return [
        Table(
            title=f"Repetitions in a row against others: {scene.experiment.title}",
            caption="The ratio of the rates, by the number of the repetition, with its 99% "
            "interval: not 1 if the point before leaves something behind, or the machine drifts. "
            "And the width of the intervals: repetitions in a row may agree too well. They share "
            "their servers, while interleaved passes start them anew.",
            header=["orders", "file", "transfers", "rate", "width of the interval"],
            rows=rows,
        )
    ]


def _width(one: BurstStep, other: BurstStep) -> str:
    if not (one.rate.is_interval and other.rate.is_interval):
        return ""
    mine, others = one.rate.high - one.rate.low, other.rate.high - other.rate.low
    return f"×{mine / others:.2f}" if others else ""


def _pairs(stages: list[Stage]) -> Iterator[tuple[Stage, Stage]]:
    for same in stages:
        for different in stages:
            is_pair = same.same_file and not different.same_file
            if is_pair and _but(same, same_file=False) == _but(different):
                yield same, different


def _pairs_of_orders(stages: list[Stage]) -> Iterator[tuple[Stage, Stage]]:
    for others in stages:
        for blocked in stages:
            is_pair = blocked.order == BLOCKED and others.order not in ("", BLOCKED)
            if is_pair and _but(others, order=BLOCKED) == _but(blocked):
                yield others, blocked


def _but(stage: Stage, **changes: Any) -> Stage:
    """Without what every stage has of its own."""
    return replace(stage, name="", title="", **changes)


def _ratio(spread: Spread | None) -> str:
    if spread is None:
        return ""
    mark = "" if spread.is_interval else "*"
    return f"×{spread.median:.2f} ({spread.low:.2f}–{spread.high:.2f}{mark})"
