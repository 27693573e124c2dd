"""The knee of throughput over load: the load from which on more of it brings no more throughput.

Two pieces are fitted, a rising line and a flat one from the knee on. The knee is seen if they fit
better than a straight line does in 99 of 100 made-up series that have no knee; see blocks.py. Its
interval holds each load that fits almost as well, by the same measure.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

from . import blocks
from .blocks import Estimate

SEEN, NOT_SEEN, CANNOT_TELL = "seen", "not seen", "cannot tell"

_PLACES = 60  # at which a knee is looked for
_SHORTEST = 5  # values on both sides of a knee
_CERTAIN = 0.99


@dataclass(frozen=True)
class Knee:
    """NOT_SEEN: a straight line is as good. Only a knee that was seen has a load."""

    verdict: str  # SEEN, NOT_SEEN or CANNOT_TELL
    load: Estimate | None = None
    throughput: float | None = None  # from the knee on


def of_values(loads: Sequence[float], throughputs: Sequence[float]) -> Knee:
    """CANNOT_TELL for fewer than blocks.FEWEST values, or where the load is the same in most.

    Requires: as many of both, in the order of time, with the same time between all.
    """
    if len(loads) < blocks.FEWEST:
        return Knee(CANNOT_TELL)
    few_loads, few = blocks.thinned([loads, throughputs])
    pieces = _Pieces(few_loads)
    if not pieces.knees:
        return Knee(CANNOT_TELL)
    squares = pieces.squares(few)
    best = min(range(len(pieces.knees)), key=squares.__getitem__)
    line, bent = (pieces.fitted(few, knee) for knee in (pieces.largest, pieces.knees[best]))
    is_better = _gains(squares)[-1] > _usual_gain(pieces, few, line, -1)
    if not is_better or pieces.slope(few, pieces.knees[best]) <= 0:
        return Knee(NOT_SEEN)
    limit = _usual_gain(pieces, few, bent, best)
    near = [place for place, gain in enumerate(_gains(squares)[:-1]) if gain <= limit]
    ends = [min(few_loads), *pieces.knees, pieces.largest]  # one more than knees on both sides
    load = Estimate(pieces.knees[best], ends[min(near)], ends[max(near) + 2])
    return Knee(SEEN, load, max(bent))


def _gains(squares: Sequence[float]) -> list[float]:
    """By how much the best fit is better than each, in shares of its sum of squares."""
    least = min(squares)
    return [one / least - 1 if least > 0 else math.inf if one > 0 else 0.0 for one in squares]


def _usual_gain(
    pieces: _Pieces, values: Sequence[float], truth: Sequence[float], place: int
) -> float:
    """The gain over the fit at this place that chance brings, if it is the truth."""
    noise = blocks.noise([value - one for value, one in zip(values, truth)], 3)
    gains = sorted(
        blocks.draws(
            [noise],
            lambda made: _gains(pieces.squares([a + b for a, b in zip(truth, made[0])]))[place],
        )
    )
    return gains[math.ceil(_CERTAIN * len(gains)) - 1]


class _Pieces:
    """All that a fit needs of the loads. A knee at the largest load is a straight line."""

    def __init__(self, loads: Sequence[float]):
        self._loads = loads
        self._order = sorted(range(len(loads)), key=loads.__getitem__)
        self._sorted = [loads[index] for index in self._order]
        self.largest = self._sorted[-1]
        low, high = self._sorted[_SHORTEST - 1], self._sorted[-_SHORTEST]
        step = (high - low) / (_PLACES + 1)
        self.knees = [low + step * place for place in range(1, _PLACES + 1)] if step > 0 else []
        self._shapes = [self._shape(knee) for knee in (*self.knees, self.largest)]

    def squares(self, values: Sequence[float]) -> list[float]:
        """The sum of squares that each knee leaves, and last that of the straight line."""
        count, sums, products = len(values), [0.0], [0.0]
        middle = sum(values) / count
        ordered = [values[index] - middle for index in self._order]
        sums.extend(accumulate(ordered))
        products.extend(accumulate(map(mul, ordered, self._sorted)))
        total = blocks.dot(ordered, ordered)
        # The deviations add up to 0, so what is above the knee has the sum of -sums[below].
        return [
            max(0.0, total - (products[below] - knee * sums[below]) ** 2 / spread)
            for below, knee, spread in self._shapes
        ]

    def slope(self, values: Sequence[float], knee: float) -> float:
        return self._line(values, knee)[1]

    def fitted(self, values: Sequence[float], knee: float) -> list[float]:
        start, slope = self._line(values, knee)
        return [start + slope * min(load, knee) for load in self._loads]

    def _line(self, values: Sequence[float], knee: float) -> tuple[float, float]:
        """Where the rising line is at a load of 0, and its slope."""
        bent = [min(load, knee) for load in self._loads]
        middle, level = sum(bent) / len(bent), sum(values) / len(values)
        away = [one - middle for one in bent]
        slope = blocks.dot(away, values) / blocks.dot(away, away)
        return level - slope * middle, slope

    def _shape(self, knee: float) -> tuple[int, float, float]:
        """How many loads are below this knee, the knee, and the squares of the bent loads."""
        bent = [min(load, knee) for load in self._sorted]
        middle = sum(bent) / len(bent)
        return bisect.bisect(self._sorted, knee), knee, sum((one - middle) ** 2 for one in bent)
