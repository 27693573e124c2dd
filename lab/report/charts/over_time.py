"""Many points over the time of a run: panels one below the other, over one axis of time.

A panel has an axis at its left and may have another one at its right. The lines of an axis have one
unit. Where there are more points than columns of pixels, a pale band reaches from the least to the
largest of a column, and the line is their mean.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import scales, thinning
from .line_chart import Mark
from .scales import Scale
from .svg import SMALL_PX, Canvas, Place, text_width
from .thinning import Column

_WIDTH, _LEFT, _RIGHT = 640.0, 40.0, 40.0
_TITLE, _ROW, _PLOT, _FOOT = 18.0, 12.0, 84.0, 16.0
_GAP = 5.0
_BOLD = 1.05  # so much wider than text
_MOST_ROWS = 3  # of the names of marks
_SAMPLE = 18.0  # the length of a line in the key
_STYLES = ("", "dash ")  # of the first and the second average of a line


@dataclass(frozen=True)
class Average:
    """A moving average, with a value for each time of its line."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class Line:
    """values of None are a gap. changes are the times at which the mean changed. At most two
    averages. Requires: no value is below 0; the times rise.
    """

    name: str
    colour: str
    times_s: Sequence[float]
    values: Sequence[float | None]
    averages: Sequence[Average] = ()
    changes: Sequence[float] = ()


@dataclass(frozen=True)
class Axis:
    unit: str  # "" if there is none
    lines: Sequence[Line]


@dataclass(frozen=True)
class Panel:
    left: Axis
    right: Axis | None = None

    @property
    def axes(self) -> list[Axis]:
        return [self.left, self.right] if self.right else [self.left]

    @property
    def head(self) -> float:
        """The room for the names above it, a row for each line."""
        return _ROW * max(len(axis.lines) for axis in self.axes) + _GAP


@dataclass(frozen=True)
class Span:
    """A part of the time, in seconds, with its name."""

    start: float
    end: float
    name: str


def draw(
    title: str,
    panels: Sequence[Panel],
    *,
    end_s: float,
    marks: Sequence[Mark] = (),
    plateau: Span | None = None,
) -> Canvas:
    """Time is drawn from 0 to end_s, within which all times must be. Requires: there is a panel."""
    x = Scale(0.0, end_s, _LEFT, _WIDTH - _RIGHT)
    named = [*([Mark(plateau.start, plateau.name)] if plateau else []), *marks]
    names, rows = _placed(sorted(named, key=lambda one: one.x), x)
    heads = _lines_of(title)
    first = _TITLE + _ROW * (len(heads) - 1)
    top = first + _ROW * rows
    bottom = top + sum(panel.head + _PLOT for panel in panels)
    lines = [line for panel in panels for axis in panel.axes for line in axis.lines]
    key = _key(lines)
    height = bottom + _FOOT + (_ROW + _GAP if key else 0.0)
    canvas = Canvas(_WIDTH, height, _spoken(title, lines), is_wide=True)
    for row, head in enumerate(heads):
        canvas.text(0, 12 + _ROW * row, head, "b")
    if plateau:
        start, end = x.at(plateau.start), x.at(plateau.end)
        canvas.rectangle(start, top, end - start, bottom - top, "band c-paper")
    place = top
    for panel in panels:
        _panel(canvas, panel, x, place)
        place += panel.head + _PLOT
    for mark in marks:
        canvas.line(x.at(mark.x), top, x.at(mark.x), bottom, "dash c-soft")
    for left, row, name in names:
        canvas.text(left, first + _ROW * (row + 1) - 3, name, "s")
    _seconds(canvas, x, bottom)
    _draw_key(canvas, key, height - 3)
    return canvas


def _lines_of(title: str) -> list[str]:
    """One that is too long is broken behind its last semicolon."""
    begin, semicolon, end = title.rpartition("; ")
    is_long = text_width(title) * _BOLD > _WIDTH
    return [f"{begin};", end] if is_long and semicolon else [title]


def _spoken(title: str, lines: Sequence[Line]) -> str:
    return f"{title}: {', '.join(line.name for line in lines)}"


def _placed(marks: Sequence[Mark], x: Scale) -> tuple[list[tuple[float, int, str]], int]:
    """Left end, row and name of each mark that has room, and how many rows there are."""
    free: list[float] = []  # of each row, from here on
    found = []
    for mark in marks:
        width = text_width(mark.name, SMALL_PX)
        left = min(x.at(mark.x) + 2, _WIDTH - width)
        row = next((index for index, end in enumerate(free) if end <= left), len(free))
        if row == _MOST_ROWS:
            continue
        if row == len(free):
            free.append(0.0)
        free[row] = left + width + _GAP
        found.append((left, row, mark.name))
    return found, len(free)


def _panel(canvas: Canvas, panel: Panel, x: Scale, top: float) -> None:
    start, end = top + panel.head + _PLOT - 1, top + panel.head
    for axis, is_left in zip(panel.axes, (True, False)):
        pieces = [thinning.columns(one.times_s, one.values, x) for one in axis.lines]
        y = scales.from_zero(_values(axis, pieces), start, end)
        _ticks(canvas, x, y, is_left)
        for row, (line, drawn) in enumerate(zip(axis.lines, pieces)):
            name = f"{line.name}, {axis.unit}" if axis.unit else line.name
            place, anchor = (x.start, "start") if is_left else (x.end, "end")
            canvas.text(place, top + _ROW * (row + 1) - 2, name, f"s f c-{line.colour}", anchor)
            _line(canvas, line, drawn, x, y)


def _values(axis: Axis, pieces: Sequence[Sequence[Sequence[Column]]]) -> list[float]:
    """All that must be within the axis."""
    drawn = [column.high for line in pieces for piece in line for column in piece]
    means = [value for line in axis.lines for one in line.averages for value in one.values if value]
    return drawn + means


def _ticks(canvas: Canvas, x: Scale, y: Scale, is_left: bool) -> None:
    """Lines are drawn for the axis at the left only."""
    for tick in y.ticks(4):
        if is_left:
            canvas.line(x.start, y.at(tick), x.end, y.at(tick), "thin c-line")
        place, anchor = (x.start - _GAP, "end") if is_left else (x.end + _GAP, "start")
        canvas.text(place, y.at(tick) + 3.3, scales.short(tick), "s", anchor)


def _line(
    canvas: Canvas, line: Line, pieces: Sequence[Sequence[Column]], x: Scale, y: Scale
) -> None:
    colour = f"c-{line.colour}"
    for change in line.changes:
        canvas.line(x.at(change), y.start, x.at(change), y.end, f"dots {colour}")
        canvas.diamond(x.at(change), y.end, 3.2, colour)
    for piece in pieces:
        if any(column.count > 1 for column in piece):
            canvas.area(_band(piece, y), f"band {colour}")
        kind = f"thin faint {colour}" if line.averages else f"thin {colour}"
        canvas.curve(_means(piece, y), kind)
    for average, style in zip(line.averages, _STYLES):
        for piece in thinning.columns(line.times_s, average.values, x):
            canvas.curve(_means(piece, y), f"{style}{colour}")


def _band(piece: Sequence[Column], y: Scale) -> list[Place]:
    """Its edges are rounded to pixels, away from the mean, which halves its bytes."""
    highs = [(column.x, float(math.floor(y.at(column.high)))) for column in piece]
    lows = [(column.x, float(math.ceil(y.at(column.low)))) for column in piece]
    return [*highs, *reversed(lows)]


def _means(piece: Sequence[Column], y: Scale) -> list[Place]:
    """One alone is as wide as a pixel."""
    if len(piece) == 1:
        place = y.at(piece[0].mean)
        return [(piece[0].x - 0.5, place), (piece[0].x + 0.5, place)]
    return thinning.simplified([(column.x, y.at(column.mean)) for column in piece])


def _seconds(canvas: Canvas, x: Scale, bottom: float) -> None:
    ticks = x.ticks(8)
    for tick in ticks:
        canvas.line(x.at(tick), bottom - 1, x.at(tick), bottom + 2, "thin c-soft")
        canvas.text(x.at(tick), bottom + 12, scales.short(tick), "s", "middle")
    free = x.at(ticks[-1]) + text_width(scales.short(ticks[-1]), SMALL_PX) / 2 + _GAP
    name = "seconds" if free + text_width("seconds", SMALL_PX) <= _WIDTH else "s"
    canvas.text(_WIDTH, bottom + 12, name, "s", "end")


_Drawing = Callable[[Canvas, float, float], None]


def _key(lines: Sequence[Line]) -> list[tuple[str, _Drawing]]:
    """What the styles say, which are the same in all lines, with what draws a sample of each."""
    found: dict[str, _Drawing] = {}
    for line in lines:
        for average, style in zip(line.averages, _STYLES):
            found.setdefault(average.name, _sample(f"{style}c-ink"))
    if found:
        found["points"] = _sample("thin faint c-ink")
    if any(line.changes for line in lines):
        found["change of the mean"] = _sample_of_change
    return list(found.items())


def _sample(kind: str) -> _Drawing:
    return lambda canvas, left, y: canvas.line(left, y, left + _SAMPLE, y, kind)


def _sample_of_change(canvas: Canvas, left: float, y: float) -> None:
    canvas.diamond(left + _SAMPLE / 2, y, 3.2, "c-ink")


def _draw_key(canvas: Canvas, key: Sequence[tuple[str, _Drawing]], baseline: float) -> None:
    left = _LEFT
    for name, drawing in key:
        drawing(canvas, left, baseline - 3.3)
        canvas.text(left + _SAMPLE + _GAP, baseline, name, "s")
        left += _SAMPLE + text_width(name, SMALL_PX) + 4 * _GAP
