"""Moving averages: the mean of a window around each point.

There is None where the window would reach beyond the first or the last point, so that the ends of a
curve are means of as much as its middle.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def over_points(values: Sequence[float], count: int) -> list[float | None]:
    """One for each value. Requires: count is odd, so that a value is in the middle."""
    half = count // 2
    return [
        statistics.fmean(values[index - half : index + half + 1])
        if half <= index < len(values) - half
        else None
        for index in range(len(values))
    ]


def over_seconds(
    times_s: Sequence[float], values: Sequence[float | None], span_s: float, end_s: float
) -> list[float | None]:
    """One for each time: the mean of the values that are at most half of span_s away.

    The values stand for the time from 0 to end_s. One of None is left out, and a window in which
    there is no other has None. Requires: as many times as values.
    """
    half = span_s / 2
    found: list[float | None] = []
    for middle in times_s:
        is_whole = middle >= half and middle + half <= end_s
        near = [
            value
            for time, value in zip(times_s, values)
            if value is not None and abs(time - middle) <= half
        ]
        found.append(statistics.fmean(near) if is_whole and near else None)
    return found
