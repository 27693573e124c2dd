"""Medians and 95% intervals of a handful of repeated measurements."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

# Student's t, two-sided 95%, for 1 … 30 degrees of freedom; beyond that the normal value.
_T_95 = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.160,
    2.145,
    2.131,
    2.120,
    2.110,
    2.101,
    2.093,
    2.086,
    2.080,
    2.074,
    2.069,
    2.064,
    2.060,
    2.056,
    2.052,
    2.048,
    2.045,
    2.042,
)
_NORMAL_95 = 1.960

# With two values Student's t is 12.7, which makes an interval that is too wide to be useful.
_FEWEST_FOR_INTERVAL = 3


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one thing.

    low and high are the 95% t interval of the mean when is_interval, else the smallest and largest.
    """

    median: float
    low: float
    high: float
    count: int
    is_interval: bool


def student_t_95(degrees_of_freedom: float) -> float:
    """Requires: degrees_of_freedom >= 1. A fraction is rounded down, which widens the interval."""
    index = int(degrees_of_freedom)
    return _T_95[index - 1] if index <= len(_T_95) else _NORMAL_95


def standard_error(values: list[float]) -> float:
    """The standard error of the mean; 0 for fewer than two values."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def spread(values: list[float]) -> Spread:
    """Requires: at least one value."""
    median = statistics.median(values)
    if len(values) < _FEWEST_FOR_INTERVAL:
        return Spread(median, min(values), max(values), len(values), False)
    half = student_t_95(len(values) - 1) * standard_error(values)
    mean = statistics.fmean(values)
    return Spread(median, mean - half, mean + half, len(values), True)


def ratio(numerator: list[float], denominator: list[float]) -> Spread:
    """The ratio of two medians, with a 95% interval by the delta method.

    With too few values for an interval, low and high are the extreme ratios.
    Requires: at least one value each; denominators above 0.
    """
    top, bottom = statistics.median(numerator), statistics.median(denominator)
    middle = top / bottom
    if min(len(numerator), len(denominator)) < _FEWEST_FOR_INTERVAL:
        return Spread(
            middle,
            min(numerator) / max(denominator),
            max(numerator) / min(denominator),
            min(len(numerator), len(denominator)),
            False,
        )
    relative = math.hypot(
        standard_error(numerator) / statistics.fmean(numerator),
        standard_error(denominator) / statistics.fmean(denominator),
    )
    freedom = min(len(numerator), len(denominator)) - 1  # the cautious choice
    half = student_t_95(freedom) * relative * middle
    return Spread(middle, middle - half, middle + half, freedom + 1, True)


def paired_ratio(numerator: dict[int, float], denominator: dict[int, float]) -> Spread:
    """The ratio of two things that were measured in passes, as pass -> value.

    Values of the same pass are compared, so a drift of the machine from pass to pass cancels out.
    The median is the geometric mean of the ratios. With too few common passes: the same as ratio().
    Requires: at least one value each, all above 0.
    """
    passes = sorted(numerator.keys() & denominator.keys())
    if len(passes) < _FEWEST_FOR_INTERVAL:
        return ratio(list(numerator.values()), list(denominator.values()))
    logarithms = [math.log(numerator[one] / denominator[one]) for one in passes]
    middle = statistics.fmean(logarithms)
    half = student_t_95(len(passes) - 1) * standard_error(logarithms)
    return Spread(
        math.exp(middle), math.exp(middle - half), math.exp(middle + half), len(passes), True
    )
