"""Whether values that follow each other rise or fall: the test of Mann and Kendall.

The test wants values that do not depend on each other, but a good second is often followed by a
good one. So it looks at the means of blocks of seconds, which depend on each other much less. What
is left of that is why the limit is 1% and not 5%.

A moving average is None where its window would reach beyond the first or the last point, so that
the ends of a curve are means of as much as its middle.
"""

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

RISES, FALLS, NO_TREND, CANNOT_TELL = "rises", "falls", "no trend", "cannot tell"

_SHORTEST_BLOCK = 5  # values
_MOST_BLOCKS = 20
_FEWEST_BLOCKS = 6  # five that are in perfect order have a p-value above the limit
_LIMIT = 0.01  # of the p-value


@dataclass(frozen=True)
class Trend:
    """p_value is the chance of such an order, or a clearer one, among values without a trend."""

    verdict: str  # RISES, FALLS, NO_TREND or CANNOT_TELL
    slope: float  # from one value to the next, by Theil and Sen; 0 where nobody can tell
    p_value: float


def of_values(values: Sequence[float]) -> Trend:
    """CANNOT_TELL for fewer than 30 values. Requires: the same time between all values."""
    length = block_length(len(values))
    means = block_means(values, length)
    if len(means) < _FEWEST_BLOCKS:
        return Trend(CANNOT_TELL, 0.0, 1.0)
    score = kendall_score(means)
    p_value = _p_value(means, score)
    slope = theil_sen_slope(means) / length
    if p_value > _LIMIT:
        return Trend(NO_TREND, slope, p_value)
    return Trend(RISES if score > 0 else FALLS, slope, p_value)


def block_length(count: int) -> int:
    """Of so many values: as long as _MOST_BLOCKS allow, for long blocks depend less."""
    return max(_SHORTEST_BLOCK, math.ceil(count / _MOST_BLOCKS))


def block_means(values: Sequence[float], length: int) -> list[float]:
    """Of whole blocks. What is left over is left out at the start, where a run warms up."""
    first = len(values) % length
    return [
        statistics.fmean(values[start : start + length])
        for start in range(first, len(values), length)
    ]


def kendall_score(values: Sequence[float]) -> int:
    """How many pairs rise, less how many fall. A tie is neither."""
    return sum(
        (later > value) - (later < value)
        for index, value in enumerate(values)
        for later in values[index + 1 :]
    )


def theil_sen_slope(values: Sequence[float]) -> float:
    """The median of the slopes of all pairs. Requires: two values."""
    return statistics.median(
        (values[later] - values[index]) / (later - index)
        for index in range(len(values))
        for later in range(index + 1, len(values))
    )


def _p_value(values: Sequence[float], score: int) -> float:
    """Of both sides, by the normal approximation with the correction for ties and continuity."""
    variance = _pair_variance(len(values)) - sum(
        _pair_variance(same) for same in Counter(values).values()
    )
    if variance <= 0:  # all are equal
        return 1.0
    z = max(0, abs(score) - 1) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def _pair_variance(count: int) -> float:
    return count * (count - 1) * (2 * count + 5) / 18


def over_points(values: Sequence[float], count: int) -> list[float | None]:
    """One for each value. If count is even, the window has one value more before than behind."""
    sums = list(accumulate(values, initial=0.0))
    before, behind = count // 2, count - count // 2
    return [
        (sums[index + behind] - sums[index - before]) / count
        if before <= index <= len(values) - behind
        else None
        for index in range(len(values))
    ]


def over_seconds(
    times_s: Sequence[float], values: Sequence[float | None], span_s: float, end_s: float
) -> list[float | None]:
    """One for each time: the mean of the values that are at most half of span_s away.

    The values stand for the time from 0 to end_s. One of None is left out, and a window in which
    there is no other has None. Requires: as many times as values, in rising order.
    """
    half = span_s / 2
    sums = list(accumulate((value or 0.0 for value in values), initial=0.0))
    known = list(accumulate((value is not None for value in values), initial=0))
    found: list[float | None] = []
    first = end = 0  # of the window; both only move on
    for middle in times_s:
        while times_s[first] < middle - half:
            first += 1
        while end < len(times_s) and times_s[end] <= middle + half:
            end += 1
        is_whole = middle >= half and middle + half <= end_s
        near = known[end] - known[first]
        found.append((sums[end] - sums[first]) / near if is_whole and near else None)
    return found
