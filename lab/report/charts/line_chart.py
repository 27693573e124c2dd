"""Curves over one axis, each named at its end instead of in a legend."""

from collections.abc import Sequence
from dataclasses import dataclass

from . import scales
from .scales import Scale
from .svg import SMALL_PX, Canvas, Place, text_width

_HEAD, _FOOT = 22.0, 18.0
_LINE = 11.5  # between two names at the right
_GAP = 5.0


@dataclass(frozen=True)
class Point:
    """low and high are the ends of its interval; value where there is none."""

    x: float
    value: float
    low: float
    high: float


def point(x: float, value: float) -> Point:
    return Point(x, value, value, value)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """style is "" for a line with dots, "plain" without dots, else "dots" or "dash".

    knee is the x of the diamond. hollow points failed their checks. Intervals are lines at the
    points, or a band behind the curve.
    """

    name: str
    colour: str
    points: Sequence[Point | None]  # None interrupts the line
    style: str = ""
    hollow: Sequence[Point] = ()
    knee: float | None = None
    has_band: bool = False


@dataclass(frozen=True, kw_only=True)
class Axes:
    """x_base is 2 or 10 for a logarithmic axis with such ticks, and 0 for a linear one.

    x_ticks are used instead of those of the scale, and x_names instead of their numbers. All x and
    all intervals must be within the axes, but what is drawn without dots may leave them.
    """

    x_low: float
    x_high: float
    y_values: Sequence[float]
    x_base: int = 0
    is_y_logarithmic: bool = False
    x_title: str = ""
    x_ticks: Sequence[float] = ()
    x_names: Sequence[str] = ()


@dataclass(frozen=True)
class Mark:
    """Something that happened at this x: a line from top to bottom, with its name."""

    x: float
    name: str


@dataclass(frozen=True)
class Cross:
    """What the paper had."""

    x: float
    value: float


def draw(
    title: str,
    curves: Sequence[Curve],
    axes: Axes,
    *,
    crosses: Sequence[Cross] = (),
    marks: Sequence[Mark] = (),
    size: Place = (300.0, 130.0),
    left: float = 34.0,
    right: float | None = None,
    is_wide: bool = False,
) -> Canvas:
    """right is the room for names; as much as they need if it is None."""
    width, height = size
    canvas = Canvas(width, height, title, is_wide=is_wide)
    canvas.text(0, 12, title, "b")
    names = [curve.name for curve in curves if curve.name]
    if right is None:
        right = max(text_width(name, SMALL_PX) for name in ("", axes.x_title, *names)) + 2 * _GAP
    x_high = max(axes.x_high, 2 * axes.x_low, axes.x_low + 1)
    x = Scale(axes.x_low, x_high, left, width - right, axes.x_base > 0)
    make = scales.logarithmic if axes.is_y_logarithmic else scales.from_zero
    y = make(axes.y_values, height - _FOOT, _HEAD)
    _grid(canvas, x, y, axes)
    for cross in crosses:
        if x.low <= cross.x <= x.high and y.low <= cross.value <= y.high:
            canvas.cross(x.at(cross.x), y.at(cross.value), 3.5, "c-paper")
    _marks(canvas, x, y, marks)
    for curve in curves:
        _curve(canvas, x, y, curve)
    _names(canvas, x, y, curves)
    return canvas


def _grid(canvas: Canvas, x: Scale, y: Scale, axes: Axes) -> None:
    ticks = axes.x_ticks or (scales.doublings(x.low, x.high) if axes.x_base == 2 else x.ticks(4))
    for tick in y.ticks(4):
        canvas.line(x.start, y.at(tick), x.end, y.at(tick), "thin c-line")
        canvas.text(x.start - _GAP, y.at(tick) + 3.3, scales.short(tick), "s", "end")
    free = 0.0
    for tick, text in zip(ticks, axes.x_names or [_tick(tick, axes) for tick in ticks]):
        half = text_width(text, SMALL_PX) / 2
        if x.at(tick) - half >= free:
            canvas.text(x.at(tick), y.start + 13, text, "s", "middle")
            free = x.at(tick) + half + 6
    if axes.x_title:
        canvas.text(max(free, x.end + _GAP), y.start + 13, axes.x_title, "s")


def _tick(value: float, axes: Axes) -> str:
    """Doublings are known by their digits."""
    return f"{value:,.0f}" if axes.x_base == 2 else scales.short(value)


def _marks(canvas: Canvas, x: Scale, y: Scale, marks: Sequence[Mark]) -> None:
    """Each name at the right of its line, or at the left where there is no room; one that would
    touch the name before is a line lower.
    """
    free, row = 0.0, 0
    for mark in sorted(marks, key=lambda one: one.x):
        if not x.low <= mark.x <= x.high:
            continue
        place, width = x.at(mark.x), text_width(mark.name, SMALL_PX)
        canvas.line(place, y.start, place, y.end, "dash c-soft")
        is_at_right = place + 3 + width <= x.end
        left = place + 3 if is_at_right else place - 3 - width
        row = row + 1 if left < free else 0
        baseline = y.end + 8 + row * _LINE
        canvas.text(
            place + 3 if is_at_right else place - 3,
            baseline,
            mark.name,
            "s",
            "start" if is_at_right else "end",
        )
        free = max(free, left + width)


def _curve(canvas: Canvas, x: Scale, y: Scale, curve: Curve) -> None:
    kind = f"{'' if curve.style in ('', 'plain') else curve.style + ' '}c-{curve.colour}"
    places = [
        (x.at(one.x), y.at(one.value)) if one and y.low <= one.value <= y.high else None
        for one in curve.points
    ]
    if curve.has_band:
        _band(canvas, x, y, curve)
    canvas.path(places, kind)
    if curve.style == "":
        for one in filter(None, curve.points):
            _point(canvas, x, y, one, curve)
    for one in curve.hollow:
        canvas.dot(x.at(one.x), y.at(one.value), 2.6, f"c-{curve.colour}", is_hollow=True)


def _band(canvas: Canvas, x: Scale, y: Scale, curve: Curve) -> None:
    """As far as the axes go."""
    known = [one for one in curve.points if one]
    highs = [(x.at(one.x), y.at(min(one.high, y.high))) for one in known]
    lows = [(x.at(one.x), y.at(max(one.low, y.low))) for one in known]
    canvas.area([*highs, *reversed(lows)], f"band c-{curve.colour}")


def _point(canvas: Canvas, x: Scale, y: Scale, one: Point, curve: Curve) -> None:
    low, high = max(one.low, y.low), min(one.high, y.high)
    if high > low and not curve.has_band:
        place = x.at(one.x)
        canvas.line(place, y.at(low), place, y.at(high), f"thin c-{curve.colour}")
    if one.x == curve.knee:
        canvas.diamond(x.at(one.x), y.at(one.value), 4.4, f"c-{curve.colour}")
    else:
        canvas.dot(x.at(one.x), y.at(one.value), 1.9, f"c-{curve.colour}")


def _names(canvas: Canvas, x: Scale, y: Scale, curves: Sequence[Curve]) -> None:
    """Each name beside the end of its curve, or as near as the other names allow."""
    ends = []
    for curve in curves:
        known = [one for one in (*curve.points, *curve.hollow) if one is not None]
        if curve.name and known:
            last = max(known, key=lambda one: one.x)
            ends.append((y.at(min(max(last.value, y.low), y.high)) + 3.3, curve))
    ends.sort(key=lambda end: end[0])
    for place, (_, curve) in zip(apart([end[0] for end in ends], y.end + 6, y.start), ends):
        canvas.text(x.end + _GAP, place, curve.name, f"s f c-{curve.colour}")


def apart(wanted: Sequence[float], low: float, high: float) -> list[float]:
    """The places, moved so that they are a line apart and within low … high, if there is room.

    wanted is in rising order.
    """
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + _LINE if places else low))
    for index in reversed(range(len(places))):
        limit = places[index + 1] - _LINE if index + 1 < len(places) else high
        places[index] = min(places[index], limit)
    return places
