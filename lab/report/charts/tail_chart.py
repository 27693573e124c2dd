"""Tail curves: a response time over its percentile, with as much room for 99% to 99.9% as for 90%
to 99%. That is the axis of HdrHistogram's plotter: 1 / (1 - percentile), logarithmic.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from . import line_chart
from .line_chart import Axes, Curve, Point
from .svg import Canvas, Place

_CLOSEST = 0.02  # two points of a curve, in powers of ten of the axis


@dataclass(frozen=True, kw_only=True)
class Tail:
    """buckets are (largest value in ms, count), ascending. style is that of a Curve.

    One without a name belongs to the curve of its colour.
    """

    name: str
    colour: str
    buckets: Sequence[tuple[float, int]]
    style: str = "plain"


def draw(title: str, tails: Sequence[Tail], size: Place = (300.0, 170.0)) -> Canvas:
    """Requires: a tail has a value."""
    curves = [
        Curve(name=one.name, colour=one.colour, points=points(one.buckets), style=one.style)
        for one in tails
    ]
    known = [point for curve in curves for point in curve.points if point]
    most = max(point.x for point in known)
    ticks = [10.0**power for power in range(math.floor(math.log10(most) + 1e-9) + 1)]
    axes = Axes(
        x_low=1.0,
        x_high=most,
        y_values=[point.value for point in known],
        x_base=10,
        x_ticks=ticks,
        x_names=[percentile_name(power) for power in range(len(ticks))],
    )
    return line_chart.draw(title, curves, axes, size=size)


def points(buckets: Sequence[tuple[float, int]]) -> list[Point]:
    """Each bucket where its last value is. The largest value of n is at n, as 1 / (1 - 1) is no
    place. Some that are too close to the one before are left out.
    """
    counts = list(accumulate(count for _, count in buckets))
    total = counts[-1] if counts else 0
    found: list[Point] = []
    for (upper, _), passed in zip(buckets, counts):
        x = total / (total - passed) if passed < total else float(total)
        if not found or passed == total or math.log10(x / found[-1].x) >= _CLOSEST:
            found.append(line_chart.point(x, upper))
    return found


def percentile_name(power: int) -> str:
    """Of the share of all but one of ten to this power: 0%, 90%, 99%, 99.9% …"""
    return "0%" if power == 0 else f"{100 - 100 / 10**power:.{max(0, power - 2)}f}%"
