"""Reads drawings back: where their texts are, and whether all is inside."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from itertools import combinations

from lab.report.charts import svg
from lab.report.charts.svg import Canvas

_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)")
_TOLERANCE = 0.5  # of a pixel, because places are rounded


@dataclass(frozen=True)
class Text:
    words: str
    left: float
    right: float
    top: float
    bottom: float

    def covers(self, other: Text) -> bool:
        return (
            self.left < other.right - _TOLERANCE
            and other.left < self.right - _TOLERANCE
            and self.top < other.bottom - _TOLERANCE
            and other.top < self.bottom - _TOLERANCE
        )


def elements(canvas: Canvas) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(canvas.element()).iter())[2:]  # without svg and title


def texts(canvas: Canvas) -> list[Text]:
    return [_text(one) for one in elements(canvas) if one.tag == "text"]


def words(canvas: Canvas) -> list[str]:
    return [text.words for text in texts(canvas)]


def overlapping(canvas: Canvas) -> list[tuple[str, str]]:
    """The pairs of texts of which one covers a part of the other."""
    return [
        (one.words, other.words)
        for one, other in combinations(texts(canvas), 2)
        if one.covers(other)
    ]


def outside(canvas: Canvas) -> list[str]:
    """What is not within the canvas."""
    found = [
        text.words
        for text in texts(canvas)
        if not _is_within(canvas, text.left, text.top)
        or not _is_within(canvas, text.right, text.bottom)
    ]
    for one in elements(canvas):
        found += [
            f"{one.tag} at {place}" for place in places(one) if not _is_within(canvas, *place)
        ]
    return found


def _is_within(canvas: Canvas, x: float, y: float) -> bool:
    is_wide = -_TOLERANCE <= x <= canvas.width + _TOLERANCE
    return is_wide and -_TOLERANCE <= y <= canvas.height + _TOLERANCE


def _text(element: ElementTree.Element) -> Text:
    kinds = element.get("class", "").split()
    size = svg.SMALL_PX if {"s", "w"} & set(kinds) else svg.TEXT_PX
    x, y = float(element.get("x", "")), float(element.get("y", ""))
    content = element.text or ""
    width = svg.text_width(content, size)
    left = {"start": x, "middle": x - width / 2, "end": x - width}[
        element.get("text-anchor", "start")
    ]
    return Text(content, left, left + width, y - 0.75 * size, y + 0.2 * size)


def places(element: ElementTree.Element) -> list[tuple[float, float]]:
    """The corners of a shape; none for a text."""
    if element.tag == "path":
        return [place for part in _parts(element.get("d", "")) for place in part]
    if element.tag == "circle":
        x, y, r = (float(element.get(name, "")) for name in ("cx", "cy", "r"))
        return [(x - r, y - r), (x + r, y + r)]
    if element.tag == "rect":
        x, y, width, height = (
            float(element.get(name, "")) for name in ("x", "y", "width", "height")
        )
        return [(x, y), (x + width, y + height)]
    return []


def _parts(path: str) -> list[list[tuple[float, float]]]:
    """The pieces of a path, which begin with M. Places behind an l are relative."""
    parts = []
    for text in path.split("M")[1:]:
        absolute, _, relative = text.partition("l")
        part = _pairs(absolute)
        for x, y in _pairs(relative):
            part.append((part[-1][0] + x, part[-1][1] + y))
        parts.append(part)
    return parts


def _pairs(text: str) -> list[tuple[float, float]]:
    numbers = [float(one) for one in _NUMBER.findall(text)]
    return list(zip(numbers[::2], numbers[1::2]))
