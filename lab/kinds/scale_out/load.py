"""A closed loop against several hosts behind a proxy. One run of the load generator each.

All files are asked for equally often. Where a host is lost, requests may fail, but only afterwards.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...workloads.load import Asked, Kill
from ...workloads.outcome import Result, Second, Series
from ..closed_loop import load as closed_loop
from ..closed_loop.load import Drawn
from ..failover.load import KILLED, STARTED
from ..kind import LESS, MORE, NEITHER, Figure
from ..mix.load import FROM_DISK, FROM_MEMORY, IN_MEMORY

_LITTLES_LAW = "X*R "  # so the load generator begins what it says of it

FIGURES = (
    # What haproxy says, asked before the run.
    Figure(name="share_of_most", unit="share", better=LESS),  # of the names, on one host
    Figure(name="names_of_lost", better=NEITHER),  # those of the last host
    Figure(name="names_moved", better=LESS),  # names with another host once the last one is gone
    # By the servers’ telemetry.
    Figure(name="files_held", better=MORE),  # different files that come from some host’s memory
    # By the series, where a host was lost.
    Figure(name="rate_before_rps", unit="/s", better=NEITHER),
    Figure(name="rate_without_rps", unit="/s", better=MORE),
    Figure(name="taken_over_s", unit="s", better=LESS),
    Figure(name="whole_again_s", unit="s", better=LESS),
)


@dataclass(frozen=True, kw_only=True)
class FromHosts(Drawn):
    hosts: int

    def figures_of_server(
        self, before: Mapping[str, float], after: Mapping[str, float]
    ) -> dict[str, float | None]:
        """A file that is asked for as often as any other: the share of the hits is that of the
        files, whatever several hosts hold alike.
        """
        from_memory, from_disk = (after[name] - before[name] for name in (FROM_MEMORY, FROM_DISK))
        sent = from_memory + from_disk
        hits = from_memory / sent if sent else None
        return {
            **self._of_names(before),
            "hit_share": hits,
            "files_in_memory": before[IN_MEMORY],
            "files_held": None if hits is None else hits * self.files,
        }

    def _of_names(self, told: Mapping[str, float]) -> dict[str, float | None]:
        return {
            "share_of_most": told["names_of_most"] / told["names"],
            "names_of_lost": told["names_of_last"],
            "names_moved": told["names_moved"],
        }


@dataclass(frozen=True, kw_only=True)
class WithALostHost(FromHosts):
    """The last host is lost at a third of the run, with its cable, and back at two thirds."""

    component: str

    @property
    def kill(self) -> Kill:
        return Kill(
            self.component,
            self.warmup_s + self.seconds / 3,
            self.warmup_s + 2 * self.seconds / 3,
        )

    @property
    def needs_series(self) -> bool:
        return True

    def failures(self, result: Result) -> list[str]:
        """Little's law does not hold of those that succeeded while others failed."""
        reasons = [one for one in result.invalid_because if not one.startswith(_LITTLES_LAW)]
        found = [f"load generator: {reason}" for reason in reasons]
        if not result.requests:
            return [*found, "no request succeeded"]
        seen = of_series(result.series, self.hosts)
        if seen is None:
            return [*found, f"the {self.component} was not lost and started again within the run"]
        if seen.failed_before:
            found.append(f"{seen.failed_before} requests failed before ({result.error_list})")
        return found + self._missing_bytes(result)

    def figures(self, result: Result) -> dict[str, float | None]:
        seen = of_series(result.series, self.hosts)
        if seen is None:
            return super().figures(result)
        return {
            **super().figures(result),
            "failed_requests": float(seen.failed),
            "rate_before_rps": seen.before_rps,
            "rate_without_rps": seen.without_rps,
            "taken_over_s": seen.taken_over_s,
            "whole_again_s": seen.whole_again_s,
        }

    def figures_of_server(
        self, before: Mapping[str, float], _after: Mapping[str, float]
    ) -> dict[str, float | None]:
        """The counters of a host that was started again are those since then."""
        return self._of_names(before)


def load(asked: Asked) -> FromHosts:
    how, planned = asked.planned.stage.cluster, asked.planned
    assert how and planned.size  # see plan/options.py
    made = FromHosts(
        **vars(closed_loop.load(asked)),
        hosts=how.hosts,
        files=planned.file_count,
        seed=asked.repeat,
    )
    if not how.is_lost:
        return made
    return WithALostHost(**vars(made), component=f"fileserver-{how.hosts}")


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
