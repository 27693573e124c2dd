"""A procedure: one run at the same rate in each pass, in which a server is killed."""

from dataclasses import dataclass

from ...plan.planned import Planned, Setting
from ...results.records import Run
from ..open_loop.load import MOST_UNDER_WAY


@dataclass(frozen=True)
class Failovers:
    rate_rps: float
    passes: int

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        """None when this pass has its run."""
        is_done = any(run.repeat == repeat for run in runs)
        return None if is_done else Setting(MOST_UNDER_WAY, self.rate_rps)

    def points_in_all(self, _runs: list[Run]) -> int | None:
        return self.passes


def procedure(planned: Planned) -> Failovers:
    assert planned.stage.failover  # see plan/options.py
    return Failovers(planned.stage.failover.rate_rps, planned.mode.repeat)
