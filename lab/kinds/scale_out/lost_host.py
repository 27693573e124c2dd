"""What the series of a run says of a host that was lost, and came back."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ...workloads.series import Second, Series
from ..failover.outage import KILLED, STARTED

_ENOUGH = 0.9  # of the rate that is expected: seconds of one run differ as much


@dataclass(frozen=True, kw_only=True)
class LostHost:
    """Rates are medians of whole seconds. Times are in seconds after the run began."""

    lost_s: float
    back_s: float
    before_rps: float
    without_rps: float | None  # once the others have taken over; None: they did not
    after_rps: float | None  # once it serves again; None: it does not
    failed: int
    failed_before: int  # in the seconds that had ended when it was lost
    # From the loss to the end of the first second from which on the others have their share of the
    # rate before; None: they have not.
    taken_over_s: float | None
    # From the start of the program to the end of the first second that has the rate of before.
    whole_again_s: float | None


def of_series(series: Series, hosts: int) -> LostHost | None:
    """None when no host was lost and started again, or too early to know the rate before."""
    times = {
        what: event.t
        for event in series.events
        for what in (KILLED, STARTED)
        if event.what.endswith(what)
    }
    if len(times) < 2:
        return None
    lost_s, back_s = times[KILLED], times[STARTED]
    seconds = series.seconds
    before = [one for one in seconds if 1 < one.t <= math.floor(lost_s)]
    if not before:
        return None
    before_rps = _median(before)
    without = [one for one in seconds if math.floor(lost_s) < one.t <= math.floor(back_s)]
    after = [one for one in seconds[:-1] if one.t > math.floor(back_s)]  # the last may be a part
    share = (hosts - 1) / hosts
    taken = _from_then_on(without, _ENOUGH * share * before_rps)
    whole = _from_then_on(after, _ENOUGH * before_rps)
    return LostHost(
        lost_s=lost_s,
        back_s=back_s,
        before_rps=before_rps,
        without_rps=_median(taken) if taken else None,
        after_rps=_median(whole) if whole else None,
        failed=sum(one.failed for one in seconds),
        failed_before=sum(one.failed for one in seconds if one.t <= math.floor(lost_s)),
        taken_over_s=taken[0].t - lost_s if taken else None,
        whole_again_s=whole[0].t - back_s if whole else None,
    )


def _median(seconds: Sequence[Second]) -> float:
    return statistics.median(one.ended for one in seconds)


def _from_then_on(seconds: Sequence[Second], least: float) -> list[Second]:
    """From the first of two seconds in a row that both have this much; [] if there are none."""
    for index in range(len(seconds) - 1):
        if all(one.ended >= least for one in seconds[index : index + 2]):
            return list(seconds[index:])
    return []
