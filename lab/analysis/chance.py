"""How much attempts to fetch a file differ by chance, where a point has too few to say it itself.

Three attempts or more have an interval of their own. Two may agree by luck. How much attempts
differ is then taken from many points together, each around its own mean, and the interval is
Student's with their degrees of freedom. It is not narrower than 1% either way: what all attempts
of a run have in common, such as a clock of the processor, is not seen within the run.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import intervals
from .intervals import Spread

_FEWEST = 2  # one attempt tells nothing
_LEAST = 0.01  # as a share


@dataclass(frozen=True)
class Noise:
    """Of one attempt: the standard deviation of the logarithm, and how well it is known."""

    deviation: float
    degrees: int  # of freedom; 0: it is not known


def noise(points: Iterable[Mapping[int, float]]) -> Noise:
    """points are of things that may differ, each with its attempts; values above 0 count."""
    squares, degrees = 0.0, 0
    for point in points:
        logarithms = [math.log(value) for value in point.values() if value > 0]
        if len(logarithms) >= _FEWEST:
            degrees += len(logarithms) - 1
            squares += (len(logarithms) - 1) * statistics.variance(logarithms)
    return Noise(math.sqrt(squares / degrees) if degrees else math.inf, degrees)


def cautious(found: Spread, *sides: tuple[Noise, int]) -> Spread:
    """found, or with few attempts the 99% interval that the noise of each side gives it.

    A side is the noise of one attempt, and how many attempts there are. Without a second attempt,
    or if no noise is known, anything may be.
    """
    if found.is_interval:
        return found
    if any(count < _FEWEST or not one.degrees for one, count in sides):
        return Spread(found.median, 0.0, math.inf, found.count, False)
    error = math.hypot(*(one.deviation / math.sqrt(count) for one, count in sides))
    t = intervals.student_t_99(min(one.degrees for one, _ in sides))
    times = math.exp(max(t * error, _LEAST))
    low, high = min(found.low, found.median / times), max(found.high, found.median * times)
    return Spread(found.median, low, high, found.count, False)
