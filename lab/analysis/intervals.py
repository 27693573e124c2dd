"""Medians and intervals of a handful of repeated measurements.

A single quantity is shown with its 95% interval. A ratio of two decides a verdict, and a report has
dozens of them, so its interval is a 99% one: of 100 verdicts, about one is wrong by chance.
"""

import math
import statistics
from dataclasses import dataclass

# Student's t, two-sided, for 1 … 30 degrees of freedom.
# fmt: off
_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)
_T_99 = (
    63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169,
    3.106, 3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845,
    2.831, 2.819, 2.807, 2.797, 2.787, 2.779, 2.771, 2.763, 2.756, 2.750,
)
# fmt: on
_Z_95, _Z_99 = 1.959964, 2.575829  # of the normal distribution

# With two values Student's t is 12.7, which makes an interval that is too wide to be useful.
FEWEST_FOR_INTERVAL = 3


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one thing.

    low and high are a t interval of the mean when is_interval, else the smallest and largest. The
    interval is a 95% one for a quantity and a 99% one for a ratio.
    """

    median: float
    low: float
    high: float
    count: int
    is_interval: bool


def student_t_95(degrees_of_freedom: int) -> float:
    """Requires: degrees_of_freedom >= 1."""
    return _t(_T_95, _Z_95, degrees_of_freedom)


def student_t_99(degrees_of_freedom: int) -> float:
    """Requires: degrees_of_freedom >= 1."""
    return _t(_T_99, _Z_99, degrees_of_freedom)


def _t(table: tuple[float, ...], z: float, degrees: int) -> float:
    """Beyond the table by an expansion around the normal value z, right to three decimals."""
    if degrees <= len(table):
        return table[degrees - 1]
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def standard_error(values: list[float]) -> float:
    """The standard error of the mean; 0 for fewer than two values."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def spread(values: list[float]) -> Spread:
    """Requires: at least one value."""
    median = statistics.median(values)
    if len(values) < FEWEST_FOR_INTERVAL:
        return Spread(median, min(values), max(values), len(values), False)
    half = student_t_95(len(values) - 1) * standard_error(values)
    mean = statistics.fmean(values)
    return Spread(median, mean - half, mean + half, len(values), True)


def spread_of_percentile(values: list[float]) -> Spread:
    """Of a percentile of response times, with the t interval of the logarithms: a few slow passes
    skew it, and it never reaches 0. As spread() where a value is 0. Requires: at least one value.
    """
    if len(values) < FEWEST_FOR_INTERVAL or min(values) <= 0:
        return spread(values)
    found = spread([math.log(value) for value in values])
    low, high = math.exp(found.low), math.exp(found.high)
    return Spread(statistics.median(values), low, high, len(values), True)


def ratio(numerator: list[float], denominator: list[float]) -> Spread:
    """The ratio of two medians, with a 99% interval by the delta method.

    With too few values for an interval, low and high are the extreme ratios.
    Requires: at least one value each; denominators above 0.
    """
    middle = statistics.median(numerator) / statistics.median(denominator)
    count = min(len(numerator), len(denominator))
    if count < FEWEST_FOR_INTERVAL:
        low, high = min(numerator) / max(denominator), max(numerator) / min(denominator)
        return Spread(middle, low, high, count, False)
    relative = math.hypot(
        standard_error(numerator) / statistics.fmean(numerator),
        standard_error(denominator) / statistics.fmean(denominator),
    )
    half = student_t_99(count - 1) * relative * middle  # count - 1 is the cautious choice
    return Spread(middle, middle - half, middle + half, count, True)


def apart_ratio(numerator: list[float], denominator: list[float]) -> Spread:
    """The ratio of two things that were measured at different times: Welch's t of the logarithms.

    The median is the ratio of the geometric means. With fewer than FEWEST_FOR_INTERVAL values of
    one, low and high are the extreme ratios. Requires: at least one value each, all above 0.
    """
    sides = [[math.log(value) for value in one] for one in (numerator, denominator)]
    middle = statistics.fmean(sides[0]) - statistics.fmean(sides[1])
    count = min(map(len, sides))
    if count < FEWEST_FOR_INTERVAL:
        low, high = min(sides[0]) - max(sides[1]), max(sides[0]) - min(sides[1])
        return Spread(math.exp(middle), math.exp(low), math.exp(high), count, False)
    squares = [standard_error(one) ** 2 for one in sides]
    own = sum(square**2 / (len(one) - 1) for square, one in zip(squares, sides))
    degrees = math.floor(sum(squares) ** 2 / own) if own else count - 1
    half = student_t_99(max(1, degrees)) * math.sqrt(sum(squares))
    return Spread(math.exp(middle), math.exp(middle - half), math.exp(middle + half), count, True)


def paired_ratio(numerator: dict[int, float], denominator: dict[int, float]) -> Spread:
    """The ratio of two things that were measured in passes, as pass -> value.

    Values of the same pass are compared, so a drift of the machine from pass to pass cancels out.
    The median is the geometric mean of the ratios. With too few common passes for an interval, low
    and high are the extreme ratios of a pass. If both sides have enough values of their own, or no
    pass in common, it is the same as ratio(). Requires: at least one value each, all above 0.
    """
    passes = sorted(numerator.keys() & denominator.keys())
    is_short = len(passes) < FEWEST_FOR_INTERVAL
    if not passes or (is_short and min(len(numerator), len(denominator)) >= FEWEST_FOR_INTERVAL):
        return ratio(list(numerator.values()), list(denominator.values()))
    logarithms = [math.log(numerator[one] / denominator[one]) for one in passes]
    middle = statistics.fmean(logarithms)
    if is_short:
        low, high = min(logarithms), max(logarithms)
    else:
        half = student_t_99(len(passes) - 1) * standard_error(logarithms)
        low, high = middle - half, middle + half
    return Spread(math.exp(middle), math.exp(low), math.exp(high), len(passes), not is_short)
