"""Bars with a long name above each: for names that no margin has room for."""

from __future__ import annotations

from collections.abc import Sequence

from .svg import SMALL_PX, Canvas, text_width

_WIDTH, _ROW, _BAR, _NOTE = 300.0, 27.0, 7.0, 44.0


def draw(title: str, bars: Sequence[tuple[str, float, str]], longest: float, colour: str) -> Canvas:
    """bars are (name, length, its text). A bar as long as longest has the whole width."""
    canvas = Canvas(_WIDTH, _ROW * len(bars), title)
    for index, (name, length, value) in enumerate(bars):
        y = _ROW * index
        canvas.text(0, y + 10, _cut(name), "s")
        canvas.text(_WIDTH, y + 22, value, "s", "end")
        canvas.rectangle(0, y + 14, length / longest * (_WIDTH - _NOTE), _BAR, f"c-{colour}")
    return canvas


def _cut(name: str) -> str:
    """The name, or as much of its beginning as has room."""
    if text_width(name, SMALL_PX) <= _WIDTH:
        return name
    while name and text_width(f"{name}…", SMALL_PX) > _WIDTH:
        name = name[:-1]
    return f"{name}…"
