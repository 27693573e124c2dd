"""A line through the samples of a run, y = a + b x: memory over requests under way, for example.

Least squares. The intervals respect that neighbouring seconds depend on each other; see blocks.py.
"""

from __future__ import annotations

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
