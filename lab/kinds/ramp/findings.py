"""Judges what a paper found about ramps. A verdict needs the whole 99% interval on one side."""

import math
from collections.abc import Callable, Sequence

from ...analysis import blocks, knee, trend
from ...analysis.blocks import Estimate
from ...analysis.passes import CANNOT_TELL, NOT_SEEN, SEEN, Told, inside
from ...plan.claims import (
    AnswersLinks,
    CapacityHolds,
    Drifts,
    EarlyKnee,
    FollowsThroughput,
    MemoryOfEach,
    OfRamp,
    Ratio,
    SharedLimit,
    ViewsAgree,
)
from . import capacity
from .analysis import RampResult

_LESS_THAN_THE_SUM = 0.75
_NEARLY_THE_SUM = 0.9
_RISES_WITH_THE_LINK = 1.1
_SAME_MEMORY = 0.05  # the half of its interval, as a share of the slope
_OTHER_SPEED = 1.25  # times, between two runs of a shared machine
_LEAST_MEMORY = 1 << 10  # of each client
_MORE_THROUGHPUT = 1.2  # times, where the CPU can be seen to answer
_LEAST_DRIFT = 0.05  # of the mean
_MIB = 1 << 20

Ramps = Callable[[str, str], RampResult | None]  # by stage and row


def judge(finding: OfRamp | Ratio, row: str, ramps: Ramps) -> Told | None:
    """None where something of it was not measured."""
    stage = finding.here.stage if isinstance(finding, Ratio) else finding.stage
    result = ramps(stage, row)
    if result is None:
        return None
    others = [ramps(stage, one) for one in _other_rows(finding)]
    known = [one for one in others if one]
    if len(known) < len(others):
        return None
    if not all(one.run.is_valid for one in (result, *known)):
        return Told(CANNOT_TELL, "a run is not valid" if known else "its run is not valid")
    if isinstance(finding, Ratio):
        return _ratio(finding, result, *known)
    if isinstance(finding, SharedLimit):
        return _shared(result, known[:-1], known[-1])
    if isinstance(finding, MemoryOfEach):
        return _memory(result)
    if isinstance(finding, FollowsThroughput):
        return _follows(result, *known)
    if isinstance(finding, ViewsAgree):
        return _agree(result, finding.within)
    if isinstance(finding, AnswersLinks):
        return _answers(result, finding.above)
    if isinstance(finding, Drifts):
        return _drifts(result, finding.rises)
    if isinstance(finding, CapacityHolds):
        return _capacity(result, *known)
    return _early(result, finding)


def _other_rows(finding: OfRamp | Ratio) -> Sequence[str]:
    """What it is compared with."""
    if isinstance(finding, Ratio):
        return (finding.there.row,)
    if isinstance(finding, FollowsThroughput):
        return finding.slower, finding.faster
    if isinstance(finding, CapacityHolds):
        return (finding.foretold_by,)
    return (*finding.alone, finding.doubled) if isinstance(finding, SharedLimit) else ()


def throughput(result: RampResult) -> Estimate | None:
    """On the plateau; None if that is too short."""
    return blocks.mean(result.rates(result.plateau))


def _quotient(above: Sequence[Estimate], below: Sequence[Estimate]) -> Estimate:
    """Of two sums: as far as both intervals allow."""
    return Estimate(
        sum(one.value for one in above) / sum(one.value for one in below),
        sum(one.low for one in above) / sum(one.high for one in below),
        sum(one.high for one in above) / max(1.0, sum(one.low for one in below)),
    )


def _ratio(finding: Ratio, result: RampResult, than: RampResult) -> Told:
    ours, theirs = throughput(result), throughput(than)
    if ours is None or theirs is None:
        return Told(CANNOT_TELL)
    found = _quotient([ours], [theirs])
    return Told(inside(found, finding.above, finding.below), _times(found))


def _shared(both: RampResult, alone: Sequence[RampResult], doubled: RampResult) -> Told:
    rates = [throughput(one) for one in (both, doubled, *alone)]
    known = [one for one in rates if one]
    if len(known) < len(rates):
        return Told(CANNOT_TELL)
    together, wide, *parts = known
    of_sum, of_link = _quotient([together], parts), _quotient([wide], [together])
    figures = f"{_times(of_sum)} of the sum; with the doubled link {_times(of_link)}"
    if of_sum.high < _LESS_THAN_THE_SUM and of_link.low > _RISES_WITH_THE_LINK:
        return Told(SEEN, figures)
    return Told(NOT_SEEN if of_sum.low > _NEARLY_THE_SUM else CANNOT_TELL, figures)


def _memory(result: RampResult) -> Told:
    line = result.group_memory or result.memory
    if line is None:
        return Told(CANNOT_TELL)
    slope = line.slope_estimate
    half = (slope.high - slope.low) / 2
    figures = f"{slope.value / _MIB:.3f} MiB ± {half / _MIB:.3f} each, R² {line.r_squared:.3f}"
    if slope.low > 0 and half <= _SAME_MEMORY * slope.value:
        return Told(SEEN, figures)
    return Told(NOT_SEEN if slope.high < _LEAST_MEMORY else CANNOT_TELL, figures)


def _follows(result: RampResult, slower: RampResult, faster: RampResult) -> Told:
    """By how the CPU answers to more clients, and to more throughput. An answer of 1: it grows by
    the same factor; of 0: it stays. Clients come within a run; two runs differ in speed, too.
    """
    settled, line = result.settled, result.cores_over_load
    before, after = slower.cores, faster.cores
    rates = [throughput(one) for one in (slower, faster)]
    if line is None or before is None or after is None or rates[0] is None or rates[1] is None:
        return Told(CANNOT_TELL)
    if result.is_full(settled):
        return Told(CANNOT_TELL, "the CPU is full")
    loads = [result.courses.clients[i].load for i in (settled[0], settled[-1])]
    rate = rates[1].value / rates[0].value
    few = line.predict(loads[0])
    if rate < _MORE_THROUGHPUT or few.low <= 0 or before.low <= 0:
        return Told(CANNOT_TELL)
    slope, more = line.slope_estimate, (loads[1] - loads[0]) / few.value
    by_clients = Estimate(*(1 + more * one for one in (slope.value, slope.low, slope.high)))
    by_rate = _of_two_runs(_quotient([after], [before]))
    clients = loads[1] / loads[0]
    figures = (
        f"CPU {_times(by_clients)} from {loads[0]:,.0f} to {loads[1]:,.0f} uploads under way, "
        f"{_times(by_rate)} by ×{rate:.2f} of the throughput"
    )
    if by_clients.low <= 0:
        return Told(CANNOT_TELL, figures)
    to_clients, to_rate = _answer(by_clients, clients), _answer(by_rate, rate)
    if to_rate.low > max(0.0, to_clients.high):
        return Told(SEEN, figures)
    is_other = to_clients.low > max(0.0, to_rate.high) and not faster.is_full(faster.plateau)
    return Told(NOT_SEEN if is_other else CANNOT_TELL, figures)


def _of_two_runs(found: Estimate) -> Estimate:
    """Of the CPU of two runs. A shared machine is faster at one time than at another."""
    return Estimate(found.value, found.low / _OTHER_SPEED, found.high * _OTHER_SPEED)


def _answer(quotient: Estimate, factor: float) -> Estimate:
    value, low, high = (
        math.log(one) / math.log(factor) for one in (quotient.value, quotient.low, quotient.high)
    )
    return Estimate(value, low, high)


def _agree(result: RampResult, within: float) -> Told:
    found = result.agreement
    if found is None:
        return Told(CANNOT_TELL)
    mean = found.mean
    figures = f"{mean.value:+.2%} on average, {found.worst:+.1%} in the worst step"
    return Told(inside(mean, -within, within), figures)


def _drifts(result: RampResult, rises: bool) -> Told:
    values = result.rates(result.plateau)
    found = trend.of_values(values)
    if found.verdict == trend.CANNOT_TELL:
        return Told(CANNOT_TELL)
    wanted, other = (trend.RISES, trend.FALLS) if rises else (trend.FALLS, trend.RISES)
    third = len(values) // 3
    first, last = sum(values[:third]) / third, sum(values[-third:]) / third
    change = last / first - 1 if first else math.inf
    figures = f"{change:+.0%} from the first to the last third of the plateau"
    is_small = abs(change) < _LEAST_DRIFT
    if found.verdict == wanted and not is_small:
        return Told(SEEN, figures)
    return Told(NOT_SEEN if found.verdict == other or is_small else CANNOT_TELL, figures)


def _answers(result: RampResult, above: float) -> Told:
    if result.ramp.changes_s is None:
        return Told(CANNOT_TELL)
    first_s, last_s = result.ramp.changes_s
    step_s, plateau = result.courses.step_s, result.plateau
    before = range(plateau.start, min(plateau.stop, int(first_s / step_s)))
    after = range(max(plateau.start, math.ceil(last_s / step_s)), plateau.stop)
    known = [one for steps in (before, after) if (one := blocks.mean(result.rates(steps)))]
    if len(known) < 2:
        return Told(CANNOT_TELL)
    found = _quotient([known[1]], [known[0]])
    return Told(inside(found, above, math.inf), _times(found))


def _early(result: RampResult, finding: EarlyKnee) -> Told:
    found, limit = result.knee, finding.share * result.run.threads
    if found.verdict == knee.NOT_SEEN:
        return Told(NOT_SEEN, "no knee")
    if found.load is None:
        return Told(CANNOT_TELL)
    load = found.load
    figures = f"at {load.value:,.0f} uploads under way ({load.low:,.0f}–{load.high:,.0f})"
    if load.high < limit:
        return Told(SEEN, figures)
    return Told(NOT_SEEN if load.low > limit else CANNOT_TELL, figures)


def _capacity(tried: RampResult, fewer: RampResult) -> Told | None:
    """None where no limit was tried."""
    found, early = capacity.of_runs([fewer], tried), capacity.of_trial(fewer)
    if found is None:
        return None
    if early:
        return Told(CANNOT_TELL, f"with {fewer.run.threads:,} clients already, {early}")
    (foretold,) = found.foretold
    if foretold.estimate is None or not found.tried.is_reached:
        return Told(CANNOT_TELL, found.tried.at_the_end)
    estimate, uploads = foretold.estimate, found.tried.uploads
    figures = (
        f"{found.tried}, "
        f"foretold {estimate.value:,.0f} ({estimate.low:,.0f} to {estimate.high:,.0f})"
    )
    holds = foretold.holds(uploads)
    if holds is None:
        return Told(CANNOT_TELL, figures)
    return Told(SEEN if holds else NOT_SEEN, figures)


def _times(found: Estimate) -> str:
    return f"×{found.value:.2f} ({found.low:.2f}–{found.high:.2f})"
