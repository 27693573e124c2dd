"""Horizontal bars of parts, one under the other: what a total consists of."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .svg import SMALL_PX, Canvas, text_width

_WIDTH, _HEAD, _ROW, _BAR, _THIN = 300.0, 22.0, 19.0, 11.0, 3.0
_GAP = 6.0
_SWATCH, _LINE = 15.0, 16.0  # of the key
_OUTLIER = 4.0  # a bar so many times as long as the median one is broken off


@dataclass(frozen=True)
class Part:
    name: str  # said inside the bar where there is room
    colour: str
    value: float


@dataclass(frozen=True)
class Bar:
    """note stands at the end of the bar. beside is a second quantity, a thin bar below it."""

    label: str
    parts: Sequence[Part]
    note: str
    beside: Part | None = None

    @property
    def total(self) -> float:
        return sum(part.value for part in self.parts)

    @property
    def length(self) -> float:
        return max(self.total, self.beside.value if self.beside else 0.0)


def draw(title: str, bars: Sequence[Bar], left: float, right: float, what: str) -> Canvas:
    """left and right are the widths of labels and notes: alike in all panels of a figure.

    what is said to a screen reader after the title.
    """
    canvas = Canvas(_WIDTH, _HEAD + _ROW * len(bars) + 2, f"{title}: {what}")
    canvas.text(0, 12, title, "b")
    start, end = left + _GAP, _WIDTH - right - _GAP
    longest = _longest([bar.length for bar in bars])
    pixels = (end - start) / longest if longest > 0 else 0.0
    for index, bar in enumerate(bars):
        y = _HEAD + _ROW * index
        canvas.text(0, y + 9.5, bar.label, "s")
        _bar(canvas, bar, start, y, pixels, end)
        reach = start + min(bar.length * pixels, end - start)
        canvas.text(reach + _GAP, y + 9.5, bar.note, "s")
    return canvas


def widths(bars: Sequence[Bar]) -> tuple[float, float]:
    """The widths that labels and notes need."""
    return (
        max((text_width(bar.label, SMALL_PX) for bar in bars), default=0.0),
        max((text_width(bar.note, SMALL_PX) for bar in bars), default=0.0),
    )


def key(parts: Sequence[tuple[str, str]], thin: tuple[str, str]) -> Canvas:
    """What the colours are, as (name, colour), no wider than a panel; thin is the bar below."""
    places, x, y = [], 0.0, 0.0
    for name, colour in [*parts, thin]:
        width = _SWATCH + text_width(name) + 2 * _GAP
        if x + width > _WIDTH:
            x, y = 0.0, y + _LINE
        places.append((x, y, name, colour))
        x += width
    title = "Colours: " + ", ".join(name for _, _, name, _ in places)
    canvas = Canvas(_WIDTH, y + _LINE, title, is_key=True)
    for x, y, name, colour in places:
        is_thin = (name, colour) == thin
        canvas.rectangle(x, y + (7 if is_thin else 3), 11, _THIN if is_thin else 11, f"c-{colour}")
        canvas.text(x + _SWATCH, y + 12, name)
    return canvas


def _longest(lengths: Sequence[float]) -> float:
    """The length that fills the panel: the longest, but for those that are far longer."""
    if not lengths:
        return 0.0
    limit = _OUTLIER * statistics.median(lengths)
    return max(length for length in lengths if length <= limit or limit == 0)


def _bar(canvas: Canvas, bar: Bar, start: float, y: float, pixels: float, end: float) -> None:
    x = start
    for part in bar.parts:
        width = min(part.value * pixels, end - x)
        if width > 0.05:
            canvas.rectangle(x, y, width, _BAR, f"c-{part.colour}")
        if width > text_width(part.name, SMALL_PX) + 6:
            canvas.text(x + width / 2, y + 8.8, part.name, "w", "middle")
        x += max(0.0, width)
    if bar.beside and bar.beside.value > 0:
        width = min(bar.beside.value * pixels, end - start)
        canvas.rectangle(start, y + _BAR + 1, max(width, 0.5), _THIN, f"c-{bar.beside.colour}")
    if bar.total * pixels > end - start + 0.5:
        _break(canvas, end - 14, y)


def _break(canvas: Canvas, x: float, y: float) -> None:
    """Two gaps across the bar: it is longer than drawn."""
    for shift in (0, 5):
        canvas.line(x + shift, y + _BAR + 1, x + shift + 4, y - 1, "c-ground")


_NAMED_WIDTH, _NAMED_ROW, _NAMED_BAR, _NOTE = 300.0, 27.0, 7.0, 44.0


def draw_named(
    title: str, bars: Sequence[tuple[str, float, str]], longest: float, colour: str
) -> Canvas:
    """bars are (name, length, its text). A bar as long as longest has the whole width."""
    canvas = Canvas(_NAMED_WIDTH, _NAMED_ROW * len(bars), title)
    for index, (name, length, value) in enumerate(bars):
        y = _NAMED_ROW * index
        canvas.text(0, y + 10, _cut(name), "s")
        canvas.text(_NAMED_WIDTH, y + 22, value, "s", "end")
        canvas.rectangle(
            0, y + 14, length / longest * (_NAMED_WIDTH - _NOTE), _NAMED_BAR, f"c-{colour}"
        )
    return canvas


def _cut(name: str) -> str:
    """The name, or as much of its beginning as has room."""
    if text_width(name, SMALL_PX) <= _NAMED_WIDTH:
        return name
    while name and text_width(f"{name}…", SMALL_PX) > _NAMED_WIDTH:
        name = name[:-1]
    return f"{name}…"
