"""Tables of bursts that differ in one thing: in their files, or in the order of repetitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...analysis import passes
from ...analysis.intervals import Spread
from ...plan.catalog import Stage
from ...plan.planned import BLOCKED
from ...report.document import Table
from ...report.scene import Scene
from .analysis import RATE, BurstStep


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
