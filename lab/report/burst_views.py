"""The view of bursts: the rate of transfers that begin together, by how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..analysis import bursts
from ..analysis.bursts import BurstStep
from ..analysis.intervals import Spread
from ..plan.catalog import BURST, Stage
from ..plan.planned import BLOCKED
from ..results.records import Run
from ..workloads.burst import SHORTEST_WATCHED_S
from . import wording
from .columns import Column, Writing, of_view
from .document import Block, Bullets, Table
from .printed import printed
from .scene import Scene

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


_COLUMNS: tuple[str | Column, ...] = (
    Column("server's", _more_by_server, lambda part: "" if part is None else f"{part:+.1%}"),
    *("simultaneity", "slowest_bytes_s", "fairness", "first_byte_ms"),
    Column("disk", bursts.read_for_each_sent),
    "resident_before",
    Column("switches", _switches, wording.number),
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
        found = [(stage, step) for stage in scene.stages for step in _steps(scene, stage, row)]
        if found:
            blocks.append(_rates(row, found))
            remarks += [text for stage, step in found for text in _remarks(stage, step, row)]
    blocks += [*_compared(scene), *_orders(scene)]
    return [*blocks, *([Bullets(remarks)] if remarks else []), *printed(scene)]


def answers(scene: Scene) -> list[str]:
    """The highest rate of each stage, in a sentence; [] for another workload."""
    if scene.experiment.workload != BURST:
        return []
    of_rows = []
    for row in scene.rows:
        found = {stage.name: _steps(scene, stage, row) for stage in scene.stages}
        best = [
            f"{name} {_kilobytes(step.rate.median)} KB/s with {step.transfers}"
            for name, steps in found.items()
            if (step := max(steps, key=lambda one: one.rate.median, default=None))
        ]
        if best:
            of_rows.append(f"of {row}: {', '.join(best)}")
    return [f"The highest rates {'; '.join(of_rows)}."] if of_rows else []


def _steps(scene: Scene, stage: Stage, row: str) -> list[BurstStep]:
    return scene.analysis.bursts(stage.name, row)


def _name(stage: Stage, step: BurstStep) -> str:
    return f"({step.transfers}, {'same' if stage.same_file else 'different'})"


def _rates(row: str, found: list[tuple[Stage, BurstStep]]) -> Table:
    """Without the columns of what was not measured."""
    runs = [run for _, step in found for run in step.runs]
    columns = of_view("bursts", _COLUMNS, _WRITINGS, runs)
    header = ["stage", "burst", "KB/s", "mean", *(column.title for column in columns)]
    rows = [[stage.name, _name(stage, step), *_cells(step, columns)] for stage, step in found]
    kept = [at for at in range(len(header)) if any(cells[at] for cells in rows)]
    if len({stage.name for stage, _ in found}) == 1:
        kept.remove(0)
    return Table(
        title=f"Rate of transfers that begin together, {row}",
        caption=_HOW_TO_READ,
        header=[header[at] for at in kept],
        rows=[[cells[at] for at in kept] for cells in rows],
    )


def _cells(step: BurstStep, columns: list[Column]) -> list[str]:
    rate = step.rate
    mark = "" if rate.is_interval else "*"
    return [
        f"{_kilobytes(rate.median)}\n{_kilobytes(rate.low)}–{_kilobytes(rate.high)}{mark}",
        _kilobytes(step.mean_rate),
        *(column.text(step.value(column.of)) for column in columns),
    ]


def _compared(scene: Scene) -> list[Table]:
    """Different files against one file, for stages that differ in nothing else."""
    rows = [
        [different.name, row, str(mine.transfers), _ratio(bursts.ratio(mine, other))]
        for same, different in _pairs(scene.stages)
        for row in scene.rows
        for mine in _steps(scene, different, row)
        for other in _steps(scene, same, row)
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


def _orders(scene: Scene) -> list[Table]:
    """What the order of the repetitions does, for stages that are alike otherwise."""
    rows = [
        [name, row, str(one.transfers), _ratio(bursts.ratio(one, other)), _width(one, other)]
        for others, blocked in _pairs_of_orders(scene.stages)
        for row in scene.rows
        for one in _steps(scene, blocked, row)
        for other in _steps(scene, others, row)
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
