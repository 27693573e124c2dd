"""Rows with a dot for our value, a line for its interval, and a mark for the paper's value."""

from collections.abc import Sequence
from dataclasses import dataclass

from . import scales
from .svg import SMALL_PX, Canvas, text_width

_WIDTH, _ROW, _HEAD, _FOOT = 300.0, 18.0, 24.0, 20.0
_GAP = 8.0
_TICKS = 7


@dataclass(frozen=True, kw_only=True)
class Row:
    """value, low and high are ours; None where nothing was measured. note stands at the right.

    is_open: the true value may be higher, which an arrow says. is_hollow: the paper's value is
    outside the interval. is_faint: the value tells nothing.
    """

    label: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    paper: float | None = None
    note: str = ""
    is_open: bool = False
    is_hollow: bool = False
    is_faint: bool = False

    @property
    def drawn(self) -> list[float]:
        """All values that must lie within the axis."""
        known = (self.value, self.low, self.high, self.paper)
        return [value for value in known if value is not None and value > 0]


@dataclass(frozen=True)
class Panel:
    title: str
    rows: Sequence[Row]


def draw(panels: Sequence[Panel], unit: str, reference: float | None = None) -> list[Canvas]:
    """A canvas for each panel, all with the same logarithmic axis.

    unit is what a screen reader adds to the title. reference is drawn as a line: no change.
    """
    rows = [row for panel in panels for row in panel.rows]
    left = max((text_width(row.label) for row in rows), default=0.0) + _GAP
    right = _WIDTH - max((text_width(row.note, SMALL_PX) for row in rows), default=0.0) - _GAP
    values = [value for row in rows for value in row.drawn]
    scale = scales.logarithmic(values + ([reference] if reference else []), left, right)
    return [_panel(panel, unit, scale, reference) for panel in panels]


def _panel(panel: Panel, unit: str, scale: scales.Scale, reference: float | None) -> Canvas:
    bottom = _HEAD + _ROW * len(panel.rows)
    canvas = Canvas(_WIDTH, bottom + _FOOT, f"{panel.title}: {unit}")
    canvas.text(0, 12, panel.title, "b")
    _axis(canvas, scale, bottom)
    if reference:
        canvas.line(scale.at(reference), _HEAD - 4, scale.at(reference), bottom, "thin c-soft")
    for index, row in enumerate(panel.rows):
        _row(canvas, scale, row, _HEAD + _ROW * (index + 0.5))
    return canvas


def _axis(canvas: Canvas, scale: scales.Scale, bottom: float) -> None:
    free = 0.0
    for tick in scale.ticks(_TICKS):
        x, text = scale.at(tick), scales.short(tick)
        canvas.line(x, _HEAD - 4, x, bottom, "thin c-line")
        half = text_width(text, SMALL_PX) / 2
        if x - half >= free and x + half <= canvas.width:
            canvas.text(x, bottom + 13, text, "s", "middle")
            free = x + half + 3


def _row(canvas: Canvas, scale: scales.Scale, row: Row, y: float) -> None:
    canvas.text(0, y + 4, row.label)
    if row.paper:
        _paper(canvas, scale.at(row.paper), y)
    if row.value is None or row.value <= 0:
        return
    low, high = (end if end and end > 0 else row.value for end in (row.low, row.high))
    x, colour = scale.at(row.value), "c-line" if row.is_faint else "c-ink"
    canvas.line(scale.at(low), y, scale.at(high), y, colour)
    canvas.dot(x, y, 3.2, colour, row.is_hollow)
    if row.is_open:
        tip = max(x, scale.at(high)) + 4
        canvas.path([(tip, y - 3.5), (tip + 4, y), (tip, y + 3.5)], "c-ink")
    if row.note:
        canvas.text(canvas.width, y + 3.5, row.note, "s", "end")


def _paper(canvas: Canvas, x: float, y: float) -> None:
    """A grey bar across the row, which an interval on it does not hide."""
    canvas.rectangle(x - 1.5, y - 6, 3, 12, "c-paper")
