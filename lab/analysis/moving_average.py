"""Moving averages: the mean of a window around each point.

There is None where the window would reach beyond the first or the last point, so that the ends of a
curve are means of as much as its middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


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
