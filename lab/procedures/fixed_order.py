"""A procedure: the points that a stage names, in its order."""

from __future__ import annotations

from dataclasses import dataclass

from ..plan.setting import Setting
from ..results.records import Run


@dataclass(frozen=True)
class FixedOrder:
    """Exactly these N, in this order, in each pass."""

    steps: tuple[int, ...]
    passes: int

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        done = {run.threads for run in runs if run.repeat == repeat}
        return next((Setting(step) for step in self.steps if step not in done), None)

    def points_in_all(self, runs: list[Run]) -> int | None:
        return len(self.steps) * self.passes
