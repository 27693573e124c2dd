"""Whether a run drifted or changed, by its series: its requests, and their mean response time."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..workloads.outcome import Second, Series
from . import change_points, trend
from .change_points import Change
from .trend import Trend

_LEAST_SHARE = 0.05  # what is smaller is not worth a sentence


@dataclass(frozen=True)
class Shift:
    """A change at once. share is +0.1 for 10% more than before, and infinite after a mean of 0."""

    from_s: int  # this second was over when it happened
    share: float


@dataclass(frozen=True)
class Course:
    """What happened to a value during a run. A course has shifts, or a drift, or nothing."""

    shifts: tuple[Shift, ...] = ()
    drift: float = 0.0  # from the start to the end; +0.1 for a rise by 10%

    @property
    def is_flat(self) -> bool:
        return not self.shifts and not self.drift


@dataclass(frozen=True)
class OverTime:
    requests: Course  # those that succeeded
    mean_ms: Course  # of the seconds in which one succeeded


def of_series(series: Series, elapsed_s: float) -> OverTime:
    """By the whole seconds. Both are flat where there are too few of them."""
    whole = whole_seconds(series, elapsed_s)
    answered = [(one.t, one.mean_ms) for one in whole if one.mean_ms is not None]
    return OverTime(
        of_values([one.t for one in whole], [one.ended for one in whole]),
        of_values([t for t, _ in answered], [value for _, value in answered]),
    )


def of_values(seconds: Sequence[int], values: Sequence[float]) -> Course:
    """seconds are the numbers of the values, from 1 and in rising order."""
    changes, found = change_points.of_values(values), trend.of_values(values)
    if found.verdict in (trend.RISES, trend.FALLS) and _is_line(values, changes):
        drift = _drift(values, found)
        return Course(drift=drift if abs(drift) >= _LEAST_SHARE else 0.0)
    shifts = (Shift(seconds[one.index] - 1, _share(one)) for one in changes)
    return Course(tuple(one for one in shifts if abs(one.share) >= _LEAST_SHARE))


def _is_line(values: Sequence[float], changes: Sequence[Change]) -> bool:
    """Whether a line describes the values better than steps do.

    A line costs as much as a step without its moment. The moment of the first step costs as much as
    any number that is fitted, by the criterion of Bayes.
    """
    if not changes:
        return True
    calm = change_points.without_spikes(values)
    places = range(len(calm))
    slope, start = statistics.linear_regression(places, calm)
    line = [start + slope * place for place in places]
    moment = math.log(len(calm)) * change_points.noise(calm) ** 2
    dearer = moment + (len(changes) - 1) * change_points.penalty(calm)
    return _squares(calm, line) < _squares(calm, _steps(changes, len(calm))) + dearer


def _steps(changes: Sequence[Change], count: int) -> list[float]:
    """The mean at each value. Requires: there is a change."""
    starts = [0, *(one.index for one in changes)]
    ends = [*starts[1:], count]
    means = [changes[0].before, *(one.after for one in changes)]
    return [mean for mean, start, end in zip(means, starts, ends) for _ in range(start, end)]


def _squares(values: Sequence[float], others: Sequence[float]) -> float:
    return sum((value - other) ** 2 for value, other in zip(values, others))


def _drift(values: Sequence[float], found: Trend) -> float:
    """Of the start of the line; of its middle where the start would not be above 0."""
    level, whole = statistics.median(values), found.slope * (len(values) - 1)
    start = level - whole / 2
    base = start if start > 0 else level
    return whole / base if base > 0 else 0.0


def _share(change: Change) -> float:
    return change.after / change.before - 1 if change.before > 0 else math.inf


_SIGMAS = 5  # by which a second may differ where requests are few


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """Of the whole seconds of a run. They are numbered from 1. A request is one that succeeded."""

    seconds: int
    median: float  # requests in a second
    first: int  # in the first one
    least: int
    weak: tuple[int, ...]  # seconds with less than half of the median
    silent: int  # seconds without a request
    failed: int
    failed_in: tuple[int, ...]  # seconds
    slowest: Second | None  # the one with the longest response time; None: no request succeeded

    @property
    def is_steady(self) -> bool:
        return not self.weak and not self.failed

    @property
    def badness(self) -> tuple[int, int, float]:
        """Larger for a run that is less steady."""
        return self.failed, len(self.weak), 1 - self.least / max(self.median, 1)


def whole_seconds(series: Series, elapsed_s: float) -> list[Second]:
    """Those that were over when the run ended."""
    return [one for one in series.seconds if one.t <= math.floor(elapsed_s + 0.01)]


def steadiness_of(series: Series, elapsed_s: float) -> Steadiness | None:
    """None for a run without a whole second."""
    whole = whole_seconds(series, elapsed_s)
    if not whole:
        return None
    median = statistics.median(one.ended for one in whole)
    limit = median - max(median / 2, _SIGMAS * math.sqrt(median))
    answered = [one for one in whole if one.max_ms is not None]
    return Steadiness(
        seconds=len(whole),
        median=median,
        first=whole[0].ended,
        least=min(one.ended for one in whole),
        weak=tuple(one.t for one in whole if one.ended < limit),
        silent=sum(not one.ended for one in whole),
        failed=sum(one.failed for one in whole),
        failed_in=tuple(one.t for one in whole if one.failed),
        slowest=max(answered, key=lambda one: one.max_ms or 0.0, default=None),
    )
