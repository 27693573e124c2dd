"""Whether a run drifted or changed, by its series: its requests, and their mean response time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ..workloads.series import Series
from . import change_points, steadiness, trend
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
    whole = steadiness.whole_seconds(series, elapsed_s)
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
