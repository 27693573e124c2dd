"""How far chance goes in values that follow each other: the block bootstrap.

A good second is often followed by a good one, so a thousand seconds say less than a thousand values
that do not depend on each other. An interval that overlooks it is too narrow. So series are made up
that depend on each other as the measured one does, and the spread of a result over these series is
how far chance goes:
  1. Neighbours are averaged, until at most MOST values are left.
  2. The share that a value keeps of the deviation before it is taken out. What remains is its news.
  3. The news are drawn in blocks of neighbours, with the same places in all columns. A block is
     longer where the news still depend on each other.
  4. The share is put in again, larger by its own standard error, because it is an estimate.
Steps 2 and 4 are called pre-whitening and post-blackening (Davison and Hinkley, 1997). Without them
the blocks would have to be much longer than most runs allow.
"""

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import mul
from typing import TypeVar

from . import intervals, trend

FEWEST = 20  # values; with fewer nobody knows how much they depend on each other
MOST = 200  # values; more cost time and tell little
DRAWS = 299
_SEED = "blocks"  # the same values give the same interval
_MOST_KEPT = 0.99
_FEWEST_DEGREES, _MOST_DEGREES = 2, 15  # of freedom
_ROUNDING = 1e-18  # of squares
_CALM = 5  # lags in a row without a correlation end the search for the last one with it
_SHORTEST_PART = 8  # of the values; a block is no longer, so that there are several

Columns = Sequence[Sequence[float]]
Drawn = TypeVar("Drawn")


@dataclass(frozen=True)
class Estimate:
    """A value with its 99% interval."""

    value: float
    low: float
    high: float

    def has(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Noise:
    """How the values of a column deviate from what was fitted to them."""

    kept: float  # the share of a deviation that the next value keeps, rather more than less
    news: tuple[float, ...]  # what each value adds; their mean is 0

    def blackened(self, places: Sequence[int]) -> list[float]:
        """A series with the news of these places."""
        deviation = self.news[places[0]] / math.sqrt(1 - self.kept**2)
        made = [deviation]
        for place in places[1:]:
            deviation = self.kept * deviation + self.news[place]
            made.append(deviation)
        return made


def thinned(columns: Columns) -> list[list[float]]:
    """The means of neighbours, of as many in all columns. What is left over is left out at the
    start. Requires: the columns are of the same length.
    """
    length = math.ceil(len(columns[0]) / MOST)
    return [trend.block_means(column, length) for column in columns]


def noise(deviations: Sequence[float], fitted: int) -> Noise:
    """fitted is how many numbers were fitted to get these deviations. Requires: FEWEST values."""
    kept = share_kept(deviations)
    news = [later - kept * value for value, later in pairwise(deviations)]
    middle = statistics.fmean(news)
    wider = math.sqrt(len(news) / (len(news) - fitted))  # a fit takes some of the deviations away
    error = math.sqrt((1 - kept**2) / len(deviations))
    return Noise(min(_MOST_KEPT, kept + error), tuple(wider * (one - middle) for one in news))


def share_kept(deviations: Sequence[float]) -> float:
    """The correlation of neighbours. A short series shows less of it than there is: by (2 + 4 kept)
    of its length where a line was fitted (Kendall). That is put back.
    """
    count = len(deviations)
    seen = correlation_at(deviations, 1)
    return min(_MOST_KEPT, max(-_MOST_KEPT, (seen + 2 / count) / (1 - 4 / count)))


def draws(noises: Sequence[Noise], of: Callable[[list[list[float]]], Drawn]) -> list[Drawn]:
    """What `of` makes of DRAWS made-up series, which have a column for each noise, one value longer
    than its news. The same noises give the same draws.
    """
    source = random.Random(_SEED)
    count = len(noises[0].news)
    length = max(block_length(one.news) for one in noises)
    found = []
    for _ in range(DRAWS):
        places: list[int] = []
        while len(places) <= count:
            start = source.randrange(count - length + 1)
            places.extend(range(start, start + length))
        del places[count + 1 :]
        found.append(of([one.blackened(places) for one in noises]))
    return found


def block_length(news: Sequence[float]) -> int:
    """Twice the last lag at which the news are clearly correlated, but at least the cube root of
    their number, and at most an eighth of them.
    """
    longest = max(1, len(news) // _SHORTEST_PART)
    limit = 2 * math.sqrt(math.log10(len(news)) / len(news))
    last, lag = 0, 1
    while lag <= longest and lag - last <= _CALM:
        if abs(correlation_at(news, lag)) > limit:
            last = lag
        lag += 1
    return min(longest, max(2 * last, math.ceil(math.pow(len(news), 1 / 3))))


def correlation_at(deviations: Sequence[float], lag: int) -> float:
    """Of each value with the one so many places later; 0 if nothing deviates."""
    squares = dot(deviations, deviations)
    return dot(deviations, deviations[lag:]) / squares if squares else 0.0


def dot(values: Sequence[float], others: Sequence[float]) -> float:
    """The sum of the products; what is longer is cut."""
    found: float = sum(map(mul, values, others))
    return found


def is_nothing(squares: float, values: Sequence[float]) -> bool:
    """Whether deviations with this sum of squares are no more than the rounding of these values."""
    return squares <= _ROUNDING * dot(values, values)


def widening(count: int, kept: float, fitted: int) -> float:
    """By how many standard errors a 99% interval reaches to both sides: Student's t.

    Its degrees of freedom are as many as values without dependence would tell as much, but no more
    than _MOST_DEGREES, because the spread of the draws is an estimate by a few blocks.
    """
    worth = math.floor(count * min(1.0, (1 - kept) / (1 + kept)))
    return intervals.student_t_99(max(_FEWEST_DEGREES, min(_MOST_DEGREES, worth - fitted)))


def mean(values: Sequence[float]) -> Estimate | None:
    """None for fewer than FEWEST values."""
    if len(values) < FEWEST:
        return None
    (few,) = thinned([values])
    middle = statistics.fmean(few)
    deviating = noise([value - middle for value in few], 1)
    error = statistics.pstdev(draws([deviating], lambda made: statistics.fmean(made[0])))
    half = widening(len(few), deviating.kept, 1) * error
    of_all = statistics.fmean(values)
    return Estimate(of_all, of_all - half, of_all + half)
