"""A procedure: the points that a stage names, in its order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..plan.planned import Setting
from ..results.records import Run


@dataclass(frozen=True)
class FixedOrder:
    """Exactly these N, in this order, in each pass.

    Or blocked: all repetitions of an N in a row, in one pass.
    """

    steps: tuple[int, ...]
    passes: int
    is_blocked: bool = False

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        if self.is_blocked:
            return self._next_of_block(runs) if repeat == 1 else None
        done = {run.threads for run in runs if run.repeat == repeat}
        return next((Setting(step) for step in self.steps if step not in done), None)

    def _next_of_block(self, runs: list[Run]) -> Setting | None:
        made = Counter(threads for threads, _ in {(run.threads, run.repeat) for run in runs})
        return next((Setting(step) for step in self.steps if made[step] < self.passes), None)

    def points_in_all(self, runs: list[Run]) -> int | None:
        return len(self.steps) * self.passes
