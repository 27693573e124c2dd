"""An open loop while a server is killed and started again. One run of the load generator each.

Requests are expected to fail, but only after the server was killed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...workloads.load import Asked, Kill
from ...workloads.outcome import Result
from ..closed_loop import load as closed_loop
from ..figure import LESS, NEITHER, Figure
from ..open_loop.load import OpenLoop
from . import outage
from .outage import Outage

FIGURES = (
    Figure(name="failed_requests", better=LESS),
    # From the start of the server that was killed to the end of the second with the first answer.
    Figure(name="first_answer_s", unit="s", better=LESS),
    # Medians of the p99 of single seconds.
    Figure(name="p99_before_ms", unit="ms", better=NEITHER),  # before the server was killed
    Figure(name="p99_after_ms", unit="ms", better=LESS),  # once it answers again
)


@dataclass(frozen=True, kw_only=True)
class Failover(OpenLoop):
    """See load.py. The component is killed at a third of the run, and starts at two thirds."""

    component: str

    def parse(self, raw: dict[str, Any]) -> Result:
        """The server that is killed cannot say how many requests it had."""
        return replace(super().parse(raw), made_in_all=None)

    @property
    def kill(self) -> Kill:
        return Kill(self.component, self.run_s / 3, 2 * self.run_s / 3)

    @property
    def needs_series(self) -> bool:
        return True

    def failures(self, result: Result) -> list[str]:
        found, seen = self._failures_of_schedule(result), outage.of_series(result.series)
        if seen is None:
            return [*found, f"the {self.component} was not killed and started again within the run"]
        if seen.failed_before:
            found.append(
                f"{seen.failed_before} requests failed before the {self.component} was killed"
                f" ({result.error_list})"
            )
        if seen.requests != result.requests + result.errors_total:
            found.append(
                f"the series has {seen.requests} requests, the result "
                f"{result.requests + result.errors_total}"
            )
        return found

    def figures(self, result: Result) -> dict[str, float | None]:
        seen = outage.of_series(result.series)
        return {**super().figures(result), **(_figures(seen) if seen else {})}


def _figures(seen: Outage) -> dict[str, float | None]:
    return {
        "failed_requests": seen.failed,
        "first_answer_s": round(seen.waited_s[1], 3) if seen.waited_s else None,
        "p99_before_ms": seen.before.p99 if seen.before else None,
        "p99_after_ms": seen.after.p99 if seen.after else None,
    }


def load(asked: Asked) -> Failover:
    how, offered = asked.planned.stage.failover, asked.setting.offered_rps
    assert how and offered  # see plan/options.py
    return Failover(
        **vars(closed_loop.load(asked)),
        offered_rps=offered,
        seed=asked.repeat,
        component=how.component,
    )
