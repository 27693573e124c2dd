"""What the series of a run says of an outage: a server was killed, and started again."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...workloads.series import Second, Series

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
