"""Many points in few bytes: one for each column of pixels, as no more of them can be seen."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .scales import Scale
from .svg import Place

_SAME = 0.5  # of a pixel: a line that is so near to its points looks the same


@dataclass
class Column:
    """The points of a column of pixels: the least, the largest and the sum of their values."""

    pixel: int
    x: float
    low: float
    high: float
    total: float
    count: int = 1

    @property
    def mean(self) -> float:
        return self.total / self.count


def columns(times: Sequence[float], values: Sequence[float | None], x: Scale) -> list[list[Column]]:
    """In the order of time. None, or a value that is not finite, begins a new list.

    One that has points of the same column before and behind it cannot be seen, and does not.
    Requires: as many times as values, in rising order, and all times are within the scale.
    """
    pieces: list[list[Column]] = [[]]
    is_broken = False
    for time, value in zip(times, values):
        if value is None or not math.isfinite(value):
            is_broken = True
            continue
        place = x.at(time)
        pixel, last = math.floor(place), pieces[-1][-1] if pieces[-1] else None
        if last and last.pixel == pixel:
            _add(last, value)
        else:
            if is_broken and last:
                pieces.append([])
            pieces[-1].append(Column(pixel, place, value, value, value))
        is_broken = False
    return [piece for piece in pieces if piece]


def simplified(places: Sequence[Place]) -> list[Place]:
    """Fewer places, of which a line is nowhere farther than half a pixel above or below.

    Requires: x rises from place to place.
    """
    kept = list(places[:1])
    low, high = -math.inf, math.inf  # of the slopes from the last one kept to all behind it
    for index in range(1, len(places)):
        x, y = places[index]
        slope = (y - kept[-1][1]) / (x - kept[-1][0])
        if not low <= slope <= high:
            kept.append(places[index - 1])
            low, high = -math.inf, math.inf
        away = x - kept[-1][0]
        low = max(low, (y - _SAME - kept[-1][1]) / away)
        high = min(high, (y + _SAME - kept[-1][1]) / away)
    return kept + list(places[max(1, len(places) - 1) :])


def _add(column: Column, value: float) -> None:
    column.x = column.pixel + 0.5
    column.low, column.high = min(column.low, value), max(column.high, value)
    column.total += value
    column.count += 1
