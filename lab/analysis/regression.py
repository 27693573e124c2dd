"""A line through the samples of a run, y = a + b x: memory over requests under way, for example.

Least squares. The intervals respect that neighbouring seconds depend on each other; see blocks.py.

Throughput rises with the clients, so the CPU is correlated with both. A partial correlation is
that of what remains of two columns when a line over a third one is taken off. Its interval respects
the same.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from . import blocks
from .blocks import Estimate


@dataclass(frozen=True, kw_only=True)
class Line:
    """The variances are those of what was fitted: of the level, which is y at the middle of all x,
    of the slope, and of both together. width is how many standard errors an interval reaches.
    """

    slope: float
    intercept: float
    middle: float
    points: int  # samples
    r_squared: float
    level_variance: float
    slope_variance: float
    covariance: float
    width: float

    @property
    def slope_estimate(self) -> Estimate:
        half = self.width * math.sqrt(self.slope_variance)
        return Estimate(self.slope, self.slope - half, self.slope + half)

    def predict(self, x: float) -> Estimate:
        """The mean of y at this x. A single second has its own deviation beside that."""
        away = x - self.middle
        variance = self.level_variance + 2 * away * self.covariance + away**2 * self.slope_variance
        value, half = self.intercept + self.slope * x, self.width * math.sqrt(max(0.0, variance))
        return Estimate(value, value - half, value + half)

    def reaches(self, y: float) -> Estimate:
        """The x at which the line comes to y from below, with all x whose interval holds y.

        The value is infinite for a line that does not rise, and the upper end for one that perhaps
        does not. Fieller's interval. Requires: y is above the level.
        """
        missing = y - self.predict(self.middle).value
        value = self.middle + missing / self.slope if self.slope > 0 else math.inf
        squares = self.width**2
        second = self.slope**2 - squares * self.slope_variance
        first = -self.slope * missing - squares * self.covariance
        constant = missing**2 - squares * self.level_variance
        if second > 0 and self.slope < 0:  # it falls
            return Estimate(math.inf, math.inf, math.inf)
        if second > 0:
            root = math.sqrt(max(0.0, first**2 - second * constant))
            low, high = (-first - root) / second, (-first + root) / second
            return Estimate(value, self.middle + low, self.middle + high)
        if constant <= 0:  # the level may be y already
            return Estimate(value, -math.inf, math.inf)
        return Estimate(value, self.middle + _first_above_zero(second, first, constant), math.inf)


def fit(xs: Sequence[float], ys: Sequence[float]) -> Line | None:
    """None for fewer than blocks.FEWEST samples, or if all x are equal.

    Requires: as many y as x, in the order of time, with the same time between all.
    """
    if len(xs) < blocks.FEWEST:
        return None
    few_xs, few_ys = blocks.thinned([xs, ys])
    middle, level = statistics.fmean(few_xs), statistics.fmean(few_ys)
    away = [x - middle for x in few_xs]
    squares = blocks.dot(away, away)
    if blocks.is_nothing(squares, few_xs):
        return None
    weights = [one / squares for one in away]
    slope = blocks.dot(weights, few_ys)
    if blocks.is_nothing(slope**2 * squares, few_ys):
        slope = 0.0
    deviations = [y - level - slope * one for y, one in zip(few_ys, away)]
    noise = blocks.noise(deviations, 2)
    drawn = blocks.draws(
        [noise], lambda made: (statistics.fmean(made[0]), blocks.dot(weights, made[0]))
    )
    levels, slopes = [one for one, _ in drawn], [one for _, one in drawn]
    return Line(
        slope=slope,
        intercept=level - slope * middle,
        middle=middle,
        points=len(xs),
        r_squared=_r_squared(xs, ys, level - slope * middle, slope),
        level_variance=statistics.pvariance(levels),
        slope_variance=statistics.pvariance(slopes),
        covariance=statistics.covariance(levels, slopes),
        width=blocks.widening(len(few_xs), noise.kept, 2),
    )


def _first_above_zero(second: float, first: float, constant: float) -> float:
    """The smallest d > 0 with second d² + 2 first d + constant <= 0, or infinity.

    Requires: second <= 0 < constant.
    """
    if second == 0:
        return constant / (-2 * first) if first < 0 else math.inf
    return (-first - math.sqrt(first**2 - second * constant)) / second


def _r_squared(xs: Sequence[float], ys: Sequence[float], intercept: float, slope: float) -> float:
    """Of the samples, not of the means of neighbours."""
    middle = statistics.fmean(ys)
    total = sum((y - middle) ** 2 for y in ys)
    left = sum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys))
    return 1 - left / total if total > 0 else 1.0


_ALMOST_ONE = 1 - 1e-12


@dataclass(frozen=True)
class OfCpu:
    """The partial correlations of the CPU. None: the remaining column does not vary."""

    with_throughput: Estimate | None  # given the clients
    with_clients: Estimate | None  # given throughput


def of_cpu(cpu: Sequence[float], throughput: Sequence[float], clients: Sequence[float]) -> OfCpu:
    """Requires: as many of each, in the order of time, with the same time between all."""
    return OfCpu(of_values(cpu, throughput, clients), of_values(cpu, clients, throughput))


def of_values(
    values: Sequence[float], others: Sequence[float], given: Sequence[float]
) -> Estimate | None:
    """The correlation of values and others when given is held fast.

    None for fewer than blocks.FEWEST of them, or where given leaves nothing of one of the two.
    Requires: the same as of_cpu().
    """
    if len(values) < blocks.FEWEST:
        return None
    few, few_others, few_given = blocks.thinned([values, others, given])
    middle = statistics.fmean(few_given)
    away = [one - middle for one in few_given]
    left, left_of_others = _left(few, away), _left(few_others, away)
    if any(
        blocks.is_nothing(blocks.dot(rest, rest), column)
        for rest, column in ((left, few), (left_of_others, few_others))
    ):
        return None
    noises = [blocks.noise(rest, 2) for rest in (left, left_of_others)]
    drawn = blocks.draws(
        noises, lambda made: _stretched(_left(made[0], away), _left(made[1], away))
    )
    both = noises[0].kept * noises[1].kept  # what two columns have in common fades so fast
    half = blocks.widening(len(few), both, 3) * statistics.pstdev(drawn)
    found = _stretched(left, left_of_others)
    return Estimate(math.tanh(found), math.tanh(found - half), math.tanh(found + half))


def _left(column: Sequence[float], away: Sequence[float]) -> list[float]:
    """What remains of a column without its line over these. Their mean is 0."""
    middle, squares = statistics.fmean(column), blocks.dot(away, away)
    slope = blocks.dot(column, away) / squares if squares else 0.0
    return [value - middle - slope * one for value, one in zip(column, away)]


def _stretched(left: Sequence[float], others: Sequence[float]) -> float:
    """The correlation by Fisher's z, which is as wide near 1 as near 0."""
    squares = blocks.dot(left, left) * blocks.dot(others, others)
    found = blocks.dot(left, others) / math.sqrt(squares) if squares else 0.0
    return math.atanh(max(-_ALMOST_ONE, min(_ALMOST_ONE, found)))
