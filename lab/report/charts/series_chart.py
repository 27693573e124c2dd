"""A run over time: the answered and the failed requests of each second, and response times below.

A second is drawn at its middle, so that events, which have exact times, stand where they belong.
The axis has room for all events. On a busy machine one may come before the run, or after its end.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import line_chart
from .line_chart import Axes, Curve, Mark, Point
from .svg import Canvas

_SIZE = (620.0, 140.0)
_RIGHT = 60.0  # room for names, the same in both, so that their seconds are one above the other
_LOW_MS = 0.001  # below what a clock tells; a logarithmic axis has no 0


@dataclass(frozen=True, kw_only=True)
class Second:
    """t counts from 1. None: nothing was answered in it."""

    t: int
    answered: int
    failed: int
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None


@dataclass(frozen=True, kw_only=True)
class Averages:
    """Moving averages, with a value for each second, from the first one on. None: there is none."""

    name: str
    answered: Sequence[float | None]
    mean_ms: Sequence[float | None]


NO_AVERAGES = Averages(name="", answered=(), mean_ms=())


def draw(
    seconds: Sequence[Second], marks: Sequence[Mark], averages: Averages = NO_AVERAGES
) -> list[Canvas]:
    """To be put one below the other. Requires: there is a second."""
    return [_requests(seconds, marks, averages), _times(seconds, marks, averages)]


def _requests(seconds: Sequence[Second], marks: Sequence[Mark], averages: Averages) -> Canvas:
    curves = [
        _curve("answered", "stage1", seconds, lambda one: one.answered),
        _curve("failed", "failed", seconds, lambda one: one.failed),
        _average(averages.name, seconds, averages.answered),
    ]
    axes = _axes(seconds, curves, marks)
    return _drawn("Requests in each second: answered, and failed", curves, axes, marks)


def _times(seconds: Sequence[Second], marks: Sequence[Mark], averages: Averages) -> Canvas:
    """A second in which nothing was answered interrupts the lines."""
    curves = [
        _curve("max", "soft", seconds, lambda one: _above_zero(one.max_ms), "dots"),
        _curve("p99", "stage1", seconds, lambda one: _above_zero(one.p99_ms)),
        _curve("p50", "stage0", seconds, lambda one: _above_zero(one.p50_ms)),
        _average(averages.name, seconds, [_above_zero(one) for one in averages.mean_ms]),
    ]
    axes = _axes(seconds, curves, marks, is_logarithmic=True)
    return _drawn("Response time of those that were answered, ms", curves, axes, marks)


def _above_zero(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else max(milliseconds, _LOW_MS)


def _curve(
    name: str,
    colour: str,
    seconds: Sequence[Second],
    of: Callable[[Second], float | None],
    style: str = "",
) -> Curve:
    points = [_point(second, of(second)) for second in seconds]
    return Curve(name=name, colour=colour, points=points, style=style)


def _average(name: str, seconds: Sequence[Second], values: Sequence[float | None]) -> Curve:
    """values may end before the seconds do."""
    points = [_point(second, value) for second, value in zip(seconds, values)]
    return Curve(name=name, colour="ink", points=points, style="plain")


def _point(second: Second, value: float | None) -> Point | None:
    return None if value is None else line_chart.point(second.t - 0.5, value)


def _axes(
    seconds: Sequence[Second],
    curves: Sequence[Curve],
    marks: Sequence[Mark],
    *,
    is_logarithmic: bool = False,
) -> Axes:
    happened = [mark.x for mark in marks]
    return Axes(
        x_low=float(math.floor(min([0.0, *happened]))),
        x_high=float(math.ceil(max([seconds[-1].t, *happened]))),
        y_values=[one.value for curve in curves for one in curve.points if one],
        is_y_logarithmic=is_logarithmic,
        x_title="seconds",
    )


def _drawn(title: str, curves: Sequence[Curve], axes: Axes, marks: Sequence[Mark]) -> Canvas:
    return line_chart.draw(title, curves, axes, marks=marks, size=_SIZE, right=_RIGHT)
