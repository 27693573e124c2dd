"""Sums up the trials of bursts: rates by the number of transfers, and how far they overlapped."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...analysis import intervals
from ...analysis.intervals import Spread
from ...analysis.passes import OfPasses
from ...plan.catalog import Cell
from ...plan.claims import Side
from ...results.records import Run
from . import KIND

RATE = KIND.rate


@dataclass(frozen=True)
class BurstStep(OfPasses):
    """All valid trials of a cell with one number of transfers."""

    transfers: int
    runs: list[Run]

    @property
    def rate(self) -> Spread:
        """Bytes a second over the span of a burst."""
        return intervals.spread([_rate(run) for run in self.runs])

    @property
    def mean_rate(self) -> float:
        return statistics.fmean(_rate(run) for run in self.runs)

    @property
    def is_steady(self) -> bool | None:
        """Whether the later half of the trials is like the earlier one; None: too few to tell.

        Each half has an interval of its own, and they are not alike if these do not meet.
        """
        rates = [_rate(run) for run in sorted(self.runs, key=_moment)]
        half = len(rates) // 2
        if half < intervals.FEWEST_FOR_INTERVAL:
            return None
        early, late = intervals.spread(rates[:half]), intervals.spread(rates[-half:])
        return early.low <= late.high and late.low <= early.high

    def of_run(self, run: Run, name: str) -> float | None:
        return _rate(run) if name == RATE else run.figure(name)

    def value(self, of: Callable[[Run], float | None]) -> float | None:
        """The median of what was measured; None if it was not."""
        found = [value for run in self.runs if (value := of(run)) is not None]
        return statistics.median(found) if found else None


def read_for_each_sent(run: Run) -> float | None:
    """Bytes that came from disks for each byte that was sent: 0 if all were in memory."""
    if not run.bytes:
        return None
    read = sum(disk.read_bytes_per_s for disk in run.usage.disks.values())
    return read * run.elapsed_s / run.bytes


def of_cell(stage: str, row: str, runs: Sequence[Run], discard: int = 0) -> list[BurstStep]:
    """In rising order of transfers. runs are all of the folder.

    discard is how many of the first repetitions do not count.
    """
    cell = Cell(stage, row, workload=KIND.name)
    own = [run for run in runs if run.cell == cell and run.is_valid and run.repeat > discard]
    return [
        BurstStep(transfers, [run for run in own if run.threads == transfers])
        for transfers in sorted({run.threads for run in own})
    ]


def _rate(run: Run) -> float:
    return run.figure(RATE) or 0.0


def _moment(run: Run) -> float:
    return run.started_unix_s


def measured(of: Side, row: str, runs: Sequence[Run], discard: int) -> BurstStep | None:
    """None where it was not."""
    steps = of_cell(of.stage, row, runs, discard)
    return next((one for one in steps if one.transfers == of.at), None)
