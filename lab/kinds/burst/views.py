"""The view of bursts: the rate of transfers that begin together, by how many there are."""

from __future__ import annotations

from collections.abc import Callable

from ...analysis.intervals import Spread
from ...plan.catalog import Stage
from ...report import sheet, wording
from ...report.document import Block, Bullets, Table
from ...report.scene import Scene
from ...report.sheet import Column, Number, OfRun, Writing, of_view
from ...report.tables import printed
from ...results.records import Run
from . import analysis as bursts
from . import pairs
from .analysis import BurstStep
from .figure import figures as figures
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
    blocks += [*pairs.compared(scene), *pairs.orders(scene)]
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
