"""Functions below those that called them, as wide as what they took: a flame graph, upside down."""

from collections.abc import Sequence

from ...observe.call_graph import Frame
from .svg import SMALL_PX, Canvas, text_width

_WIDTH, _ROW, _EDGE, _PAD = 640.0, 15.0, 0.5, 3.0
_NARROWEST = 1.0


def draw(title: str, tops: Sequence[Frame], colour: str) -> Canvas:
    """Frames of ours have the colour, those of libraries are grey."""
    rows = max((frame.depth for frame in tops), default=0)
    canvas = Canvas(_WIDTH, rows * _ROW, title, is_wide=True)
    _row(canvas, tops, 0.0, 0.0, colour)
    return canvas


def _row(canvas: Canvas, frames: Sequence[Frame], left: float, top: float, colour: str) -> None:
    for frame in frames:
        width = frame.share * _WIDTH
        if width >= _NARROWEST:
            _frame(canvas, frame, left, top, colour)
            _row(canvas, frame.called, left, top + _ROW, colour)
        left += width


def _frame(canvas: Canvas, frame: Frame, left: float, top: float, colour: str) -> None:
    width = frame.share * _WIDTH - _EDGE
    kind = f"c-{colour}" if frame.is_ours else "c-line"
    says = f"{frame.name}: {frame.share:.1%}"
    canvas.rectangle(left, top, width, _ROW - _EDGE, kind, says)
    if text := _fitting(frame.name, width - 2 * _PAD):
        canvas.text(left + _PAD, top + _ROW - 4.5, text, "w" if frame.is_ours else "s")


def _fitting(name: str, width: float) -> str:
    """The last part of the name, or as much of it as has room; nothing where that is too little."""
    last = name.rpartition("::")[2] if "<" not in name else name
    for text in (name, last):
        if text_width(text, SMALL_PX) <= width:
            return text
    while last and text_width(f"{last}…", SMALL_PX) > width:
        last = last[:-1]
    return f"{last}…" if len(last) > 2 else ""
