"""A procedure: climb until throughput stops rising, and repeat the points around the knee.

A procedure says which point of a cell comes next. It knows only the runs so far, so an interrupted
run of the lab can be resumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..plan.planned import Setting, Sweep
from ..results.records import Run
from . import sweep
from .sweep import Point


@dataclass(frozen=True)
class KneeSweep:
    """The first pass finds the points; each further pass repeats those that decide."""

    rule: Sweep
    passes: int

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        """The point to measure next in this pass; None when the pass is complete.

        runs are all of the cell so far.
        """
        threads = self.next_threads(runs, repeat)
        return None if threads is None else Setting(threads)

    def next_threads(self, runs: list[Run], repeat: int) -> int | None:
        """The N to measure next in this pass; None when the pass is complete.

        runs are all of the cell so far.
        """
        first = _points(runs, 1)
        if repeat == 1:
            return sweep.next_threads(self.rule, first)
        done = {point.threads for point in _points(runs, repeat)}
        return next((threads for threads in self._repeated(first) if threads not in done), None)

    def points_in_all(self, runs: list[Run]) -> int | None:
        """The number of points of all passes; None while the first pass is not complete."""
        first = _points(runs, 1)
        if sweep.next_threads(self.rule, first) is not None:
            return None
        return len(first) + (self.passes - 1) * len(self._repeated(first))

    def _repeated(self, first: list[Point]) -> list[int]:
        return sweep.worth_repeating(first) if self.rule.stops else list(self.rule.ladder)


def _points(runs: list[Run], repeat: int) -> list[Point]:
    """An invalid point counts as throughput 0, so that a sweep stops when requests fail."""
    last = {run.threads: run for run in runs if run.repeat == repeat}
    return [
        Point(run.threads, run.throughput_rps if run.is_valid else 0.0, run.noise)
        for run in last.values()
    ]
