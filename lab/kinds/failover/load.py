"""An open loop while a server is killed and started again. One run of the load generator each.

Requests are expected to fail, but only after the server was killed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...workloads.load import Asked, Kill
from ...workloads.outcome import Result, Second, Series
from ..closed_loop import load as closed_loop
from ..kind import LESS, NEITHER, Figure
from ..open_loop.load import OpenLoop

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
        found, seen = self._failures_of_schedule(result), of_series(result.series)
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
        seen = of_series(result.series)
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


KILLED, STARTED = "killed", "started again"  # the events, behind the name of the component
_ALIKE = 1.5  # times as slow is still as before: seconds of one run differ as much


@dataclass(frozen=True)
class Times:
    """The median of the p50 and of the p99 of single seconds, in ms."""

    p50: float
    p99: float


@dataclass(frozen=True, kw_only=True)
class Outage:
    """Seconds are numbered from 1, and times are in seconds after the run began."""

    component: str
    killed_s: float
    started_s: float
    requests: int  # in all
    failed: int
    failed_before: int  # in the seconds that had ended when it was killed
    last_failed: int | None  # the last second in which a request failed
    answered_meanwhile: int  # in the seconds that lie between both events
    first_answered: (
        int | None
    )  # the first second with an answer after the start; None: there is none
    before: Times | None  # without the first second, in which a run begins
    after: Times | None  # from the second after the first one with an answer
    is_as_before: bool | None  # None: one of the two is not known

    @property
    def waited_s(self) -> tuple[float, float] | None:
        """From the start until the first answer: at least, and at most."""
        if self.first_answered is None:
            return None
        end_s = self.first_answered - self.started_s
        return max(0.0, end_s - 1), end_s


def of_series(series: Series) -> Outage | None:
    """None when nothing was killed and started again."""
    times = {
        what: event.t
        for event in series.events
        for what in (KILLED, STARTED)
        if event.what.endswith(what)
    }
    if not series.seconds or len(times) < 2:
        return None
    seconds = series.seconds
    killed, started = math.floor(times[KILLED]), math.floor(times[STARTED])
    answered = [one.t for one in seconds if one.t > started and one.ended]
    first = answered[0] if answered else None
    before = [one for one in seconds if 1 < one.t <= killed and one.ended]
    after = [one for one in seconds if first is not None and one.t > first and one.ended]
    return Outage(
        component=series.events[0].what.partition(" ")[0],
        killed_s=times[KILLED],
        started_s=times[STARTED],
        requests=sum(one.ended + one.failed for one in seconds),
        failed=sum(one.failed for one in seconds),
        failed_before=sum(one.failed for one in seconds if one.t <= killed),
        last_failed=max((one.t for one in seconds if one.failed), default=None),
        answered_meanwhile=sum(one.ended for one in seconds if killed + 1 < one.t <= started),
        first_answered=first,
        before=_times(before),
        after=_times(after),
        is_as_before=_is_as_before(before, after),
    )


def _p50(second: Second) -> float:
    return second.p50_ms or 0.0


def _p99(second: Second) -> float:
    return second.p99_ms or 0.0


def _times(seconds: Sequence[Second]) -> Times | None:
    if not seconds:
        return None
    return Times(statistics.median(map(_p50, seconds)), statistics.median(map(_p99, seconds)))


def _is_as_before(before: Sequence[Second], after: Sequence[Second]) -> bool | None:
    """Whether the usual second is hardly slower than the usual one before, or no slower than a
    quarter of those. None: cannot tell.
    """
    if not before or not after:
        return None

    def is_reached(of: Callable[[Second], float]) -> bool:
        usual = [of(second) for second in before]
        limit = max(_ALIKE * statistics.median(usual), _upper_quartile(usual))
        return statistics.median(map(of, after)) <= limit

    return is_reached(_p50) and is_reached(_p99)


def _upper_quartile(values: Sequence[float]) -> float:
    if len(values) < 2:
        return values[0]
    return statistics.quantiles(values, n=4, method="inclusive")[2]
