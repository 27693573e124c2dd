"""A procedure: response times over the offered load, and the most that keeps p99 under a limit.

The first pass finds the maximum with a closed loop. Each pass then offers parts of it by a
schedule. The last pass searches between the highest rate that keeps the limit and the lowest that
does not. It knows only the runs so far, so an interrupted run of the lab can be resumed.
"""

from dataclasses import dataclass

from ...plan.planned import Planned, Setting
from ...procedures.sweep import KneeSweep
from ...results.records import Run
from .load import MOST_UNDER_WAY

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # of the maximum
_CLOSE_ENOUGH = 1.05  # the search ends when the two rates are as near
_MOST_CONFIRMATIONS = 3


@dataclass(frozen=True)
class Answer:
    """The most that keeps p99 under the limit lies between the two rates.

    keeps_rps is 0 if no rate kept it. fails_rps is None if every rate did. If not has_failed, the
    runs at fails_rps were invalid, so nothing is known about it.
    """

    keeps_rps: float
    fails_rps: float | None
    has_failed: bool
    confirmations: int  # runs that agree, for each of the two


@dataclass(frozen=True)
class OfferedLoad:
    """sweep finds the maximum of the closed loop, and has the number of passes."""

    sweep: KneeSweep
    p99_limit_ms: float

    @property
    def confirmations(self) -> int:
        """How many runs must agree on whether a rate keeps the limit."""
        return min(_MOST_CONFIRMATIONS, self.sweep.passes)

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        """The point to measure next in this pass; None when the pass is complete.

        runs are all of the cell so far.
        """
        closed = [run for run in runs if run.offered_rps is None]
        if repeat == 1 and (threads := self.sweep.next_threads(closed, 1)) is not None:
            return Setting(threads)
        done = {run.offered_rps for run in runs if run.repeat == repeat}
        rates = rates_of(runs)
        rate = next((rate for rate in rates if rate not in done), None)
        if rate is None and rates and repeat == self.sweep.passes:
            rate = self._searched(runs)
        return None if rate is None else Setting(MOST_UNDER_WAY, rate)

    def points_in_all(self, runs: list[Run]) -> int | None:
        """The number of points of all passes; None until the search has ended."""
        return len(runs) if self.next_setting(runs, self.sweep.passes) is None else None

    def answer(self, runs: list[Run]) -> Answer | None:
        """None as long as the search has not ended, or if there is no maximum."""
        rates, offered = rates_of(runs), {run.offered_rps for run in runs}
        if not rates or not offered.issuperset(rates) or self._searched(runs) is not None:
            return None
        keeps_rps, fails_rps, _ = self._bounds(runs)
        has_failed = fails_rps is not None and (
            self._in_time(runs, fails_rps).count(False) >= self.confirmations
        )
        return Answer(keeps_rps, fails_rps, has_failed, self.confirmations)

    def _searched(self, runs: list[Run]) -> float | None:
        """The rate to measure next; None when the answer is known closely enough."""
        keeps, fails, undecided = self._bounds(runs)
        if undecided is not None:
            return undecided
        if fails is None or not keeps or fails / keeps <= _CLOSE_ENOUGH:
            return None
        middle = _rounded((keeps + fails) / 2)
        return middle if keeps < middle < fails else None

    def _bounds(self, runs: list[Run]) -> tuple[float, float | None, float | None]:
        """The highest rate that keeps the limit below the lowest that does not, and that one.

        The third is a rate between them on which the runs do not agree yet. 0 and None stand for
        what there is not.
        """
        keeps = 0.0
        for rate in sorted({run.offered_rps for run in runs if run.offered_rps is not None}):
            is_kept = self._keeps(runs, rate)
            if is_kept is None:
                return keeps, None, rate
            if not is_kept:
                return keeps, rate, None
            keeps = rate
        return keeps, None, None

    def _keeps(self, runs: list[Run], rate: float) -> bool | None:
        """None when too few valid runs agree. A rate whose runs stay invalid does not keep it."""
        kept = self._in_time(runs, rate)
        if kept.count(True) >= self.confirmations:
            return True
        tries = sum(run.offered_rps == rate for run in runs)
        is_hopeless = tries > 2 * self.confirmations
        return False if kept.count(False) >= self.confirmations or is_hopeless else None

    def _in_time(self, runs: list[Run], rate: float) -> list[bool]:
        """Whether each valid run at this rate kept the limit."""
        return [
            run.p99_ms is not None and run.p99_ms <= self.p99_limit_ms
            for run in runs
            if run.offered_rps == rate and run.is_valid
        ]


def maximum_rps(runs: list[Run]) -> float:
    """The highest throughput of the closed loop; 0 if it has no valid run."""
    return max(
        (run.throughput_rps for run in runs if run.offered_rps is None and run.is_valid), default=0
    )


def rates_of(runs: list[Run]) -> list[float]:
    """The rates that every pass offers; [] while the maximum is not known."""
    maximum = maximum_rps(runs)
    return [_rounded(share * maximum) for share in SHARES] if maximum else []


def _rounded(rate: float) -> float:
    """To three digits. More would look as if the maximum were known so exactly."""
    return float(f"{rate:.3g}")


def procedure(planned: Planned) -> OfferedLoad:
    return OfferedLoad(KneeSweep(planned.sweep, planned.mode.repeat), planned.p99_limit_ms)
