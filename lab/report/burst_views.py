"""The view of bursts: the rate of transfers that begin together, by how many there are."""

from __future__ import annotations

from ..analysis.bursts import BurstStep
from ..plan.catalog import BURST, Stage
from . import wording
from .document import Block, Table
from .printed import printed
from .scene import Scene

_HOW_TO_READ = (
    "KB (1,024 bytes) a second: all bytes over the time from the first moment of asking to the "
    "last byte, with the 95% interval of the passes below. Overlap is the transfers' own times "
    "over their number and that time: 1 if all took place together. Disk: bytes that came from it "
    "for each byte sent."
)


def rates(scene: Scene) -> list[Block]:
    """One table for each size of file: transfers down, stages across."""
    blocks: list[Block] = []
    for row in scene.rows:
        found = {stage.name: _by_transfers(scene, stage, row) for stage in scene.stages}
        counts = sorted({count for steps in found.values() for count in steps})
        if counts:
            blocks.append(_table(scene, row, found, counts))
    return [*blocks, *printed(scene)]


def answers(scene: Scene) -> list[str]:
    """The highest rate of each stage, a sentence for each row; [] for another workload."""
    if scene.experiment.workload != BURST:
        return []
    texts = []
    for row in scene.rows:
        found = {stage.name: _by_transfers(scene, stage, row).values() for stage in scene.stages}
        best = [
            f"{name} {_rate(step)} KB/s with {step.transfers}"
            for name, steps in found.items()
            if (step := max(steps, key=lambda one: one.rate.median, default=None))
        ]
        if best:
            texts.append(f"The highest rates of {row}: {', '.join(best)}.")
    return texts


def _rate(step: BurstStep) -> str:
    return wording.three_digits(step.rate.median / 1024)


def _by_transfers(scene: Scene, stage: Stage, row: str) -> dict[int, BurstStep]:
    return {step.transfers: step for step in scene.analysis.bursts(stage.name, row)}


def _table(
    scene: Scene, row: str, found: dict[str, dict[int, BurstStep]], counts: list[int]
) -> Table:
    names = [stage.name for stage in scene.stages if found[stage.name]]
    return Table(
        title=f"Rate of transfers that begin together, {row}",
        caption=_HOW_TO_READ,
        header=["transfers", *(title for _ in names for title in ("KB/s", "overlap", "disk"))],
        groups=[("", 1), *((name, 3) for name in names)],
        rows=[
            [str(count), *(cell for name in names for cell in _cells(found[name].get(count)))]
            for count in counts
        ],
    )


def _cells(step: BurstStep | None) -> list[str]:
    if step is None:
        return ["", "", ""]
    rate = step.rate
    low, high = (wording.three_digits(value / 1024) for value in (rate.low, rate.high))
    mark = "" if rate.is_interval else "*"
    return [
        f"{_rate(step)}\n{low}–{high}{mark}",
        wording.three_digits(step.value(lambda run: run.simultaneity)),
        wording.three_digits(step.read_for_each_sent),
    ]
