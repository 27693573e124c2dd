"""Where the mean of values that follow each other changes at once: binary segmentation.

The values are cut where two means describe them best, and each part again, as long as a cut gains
more than a penalty. A slow drift looks like stairs here; over_time.py knows which of the two it is.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

SHORTEST = 5  # values of a part; less is a spike
_FEWEST = 4 * SHORTEST  # with fewer values the noise is not known well enough
_REACH = 2  # of the window of a spike: so many values on both sides
_SPIKE = 5  # times the noise
# In squares of the noise, for each unit of log(values). 2 to 4 are usual for values that do not
# depend on each other. Here a value that follows half of the one before counts as no change.
_PENALTY = 15
_SIGMAS_OF_MAD = 1.4826  # the deviation of a normal distribution, by its median deviation
_SIGMAS_OF_MEAN = math.sqrt(math.pi / 2)  # the same by its mean deviation


@dataclass(frozen=True)
class Change:
    """index is the first value after it. The means are those of the parts on both sides."""

    index: int
    before: float
    after: float


def of_values(values: Sequence[float]) -> list[Change]:
    """In their order; [] for fewer than 20 values. Requires: the same time between all values."""
    if len(values) < _FEWEST:
        return []
    calm = without_spikes(values)
    cuts = _cuts(list(accumulate(calm, initial=0.0)), 0, len(calm), penalty(calm))
    ends = [0, *cuts, len(calm)]
    means = [statistics.fmean(calm[start:end]) for start, end in pairwise(ends)]
    return [Change(*found) for found in zip(cuts, means, means[1:])]


def without_spikes(values: Sequence[float]) -> list[float]:
    """One or two values far from those around them are replaced by the median of these."""
    limit = _SPIKE * noise(values)
    found = []
    for index, value in enumerate(values):
        middle = statistics.median(values[max(0, index - _REACH) : index + _REACH + 1])
        found.append(middle if abs(value - middle) > limit else value)
    return found


def noise(values: Sequence[float]) -> float:
    """The standard deviation, by the differences of neighbours, so that no change is in it.

    Where most neighbours are equal it is that of the rest. Requires: two values.
    """
    steps = [abs(later - value) for value, later in pairwise(values)]
    usual = _SIGMAS_OF_MAD * statistics.median(steps)
    return (usual or _SIGMAS_OF_MEAN * statistics.fmean(steps)) / math.sqrt(2)


def penalty(values: Sequence[float]) -> float:
    """By how much a cut must lower the sum of squares. Requires: two values."""
    return _PENALTY * math.log(len(values)) * noise(values) ** 2


def _cuts(sums: Sequence[float], start: int, end: int, least_gain: float) -> list[int]:
    """Of the values from start to end. sums[i] is the sum of all values before i."""
    places = range(start + SHORTEST, end - SHORTEST + 1)
    gain, place = max(((_gain(sums, start, one, end), one) for one in places), default=(0.0, start))
    if gain <= least_gain or math.isclose(gain, 0.0, abs_tol=1e-9):
        return []
    return [
        *_cuts(sums, start, place, least_gain),
        place,
        *_cuts(sums, place, end, least_gain),
    ]


def _gain(sums: Sequence[float], start: int, place: int, end: int) -> float:
    """By how much two means instead of one lower the sum of squares."""
    left, right = place - start, end - place
    difference = (sums[place] - sums[start]) / left - (sums[end] - sums[place]) / right
    return difference**2 * left * right / (left + right)
