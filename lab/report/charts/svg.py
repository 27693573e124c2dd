"""A canvas that becomes an SVG element. The same calls give the same bytes.

Elements have classes instead of colours; palette.py says what these look like. There are no ids.
"""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from . import palette

Place = tuple[float, float]

TEXT_PX, SMALL_PX = 11.0, 9.5
_NARROW = frozenset("iljtfrI.,:;'|!()[]·- ")
_WIDE = frozenset("mwMW@%—…≥→")
_GAP = 14.0  # between the canvases of a figure


def text_width(text: str, size_px: float = TEXT_PX) -> float:
    """An upper estimate: no common sans-serif font needs more."""
    return size_px * sum(
        0.36
        if letter in _NARROW
        else 0.9
        if letter in _WIDE
        else 0.72
        if letter.isupper()
        else 0.585
        for letter in text
    )


def number(value: float) -> str:
    """With one decimal at most."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


class Canvas:
    """One panel of a figure. Its title is what a screen reader says.

    The key of a figure, which explains the colours of all its panels, has a row for itself. So has
    a wide panel, which is drawn as wide as the page allows.
    """

    def __init__(
        self,
        width: float,
        height: float,
        title: str,
        is_key: bool = False,
        is_wide: bool = False,
    ):
        self.width = width
        self.height = height
        self.title = title
        self.is_key = is_key
        self.is_wide = is_wide
        self._elements: list[str] = []

    def text(self, x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> None:
        """y is the baseline. kind is any of s (small), b (bold), w (on a filled ground), c-NAME."""
        where = f'x="{number(x)}" y="{number(y)}"'
        end = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._elements.append(f"<text {where}{_class(kind)}{end}>{escape(text, False)}</text>")

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.path([(x1, y1), (x2, y2)], kind)

    def path(self, places: Sequence[Place | None], kind: str) -> None:
        """A line through these places. None interrupts it."""
        words, is_down = [], False
        for place in places:
            if place is not None:
                words.append(f"{'L' if is_down else 'M'}{number(place[0])} {number(place[1])}")
            is_down = place is not None
        if words:
            self._elements.append(f'<path{_class(f"l {kind}")} d="{"".join(words)}"/>')

    def curve(self, places: Sequence[Place], kind: str) -> None:
        """A line through many places, in few bytes: each is given by its distance from the last."""
        if places:
            self._elements.append(f'<path{_class(f"l {kind}")} d="{_steps(places)}"/>')

    def area(self, places: Sequence[Place], kind: str) -> None:
        """A filled shape with these corners, in few bytes."""
        if places:
            self._elements.append(f'<path{_class(f"f {kind}")} d="{_steps(places)}z"/>')

    def rectangle(
        self, x: float, y: float, width: float, height: float, kind: str, says: str = ""
    ) -> None:
        """says is shown under the pointer."""
        end = f"><title>{escape(says, False)}</title></rect>" if says else "/>"
        self._elements.append(
            f'<rect{_class(f"f {kind}")} x="{number(x)}" y="{number(y)}" '
            f'width="{number(width)}" height="{number(height)}"{end}'
        )

    def dot(self, x: float, y: float, radius: float, kind: str, is_hollow: bool = False) -> None:
        shape = "o" if is_hollow else "f"
        self._elements.append(
            f'<circle{_class(f"{shape} {kind}")} cx="{number(x)}" cy="{number(y)}" '
            f'r="{number(radius)}"/>'
        )

    def diamond(self, x: float, y: float, radius: float, kind: str) -> None:
        corners = ((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y))
        places = "L".join(f"{number(one)} {number(other)}" for one, other in corners)
        self._elements.append(f'<path{_class(f"f {kind}")} d="M{places}Z"/>')

    def cross(self, x: float, y: float, radius: float, kind: str) -> None:
        for sign in (-1, 1):
            self.line(x - radius, y - sign * radius, x + radius, y + sign * radius, kind)

    def element(self, where: str = "") -> str:
        """The svg element. It relies on the palette's rules around it."""
        title = escape(self.title)
        return (
            f'<svg{where} viewBox="0 0 {number(self.width)} {number(self.height)}" '
            f'width="{number(self.width)}" height="{number(self.height)}" role="img" '
            f'aria-label="{title}"><title>{title}</title>{"".join(self._elements)}</svg>'
        )


def file(title: str, canvases: Sequence[Canvas], columns: int) -> str:
    """A whole SVG file: the canvases in rows, with the style that they need."""
    elements, bottom, right = [], 0.0, 0.0
    for row in _rows(canvases, columns):
        x = 0.0
        for canvas in row:
            elements.append(canvas.element(f' x="{number(x)}" y="{number(bottom)}"'))
            x += canvas.width + _GAP
        right = max(right, x - _GAP)
        bottom += max(canvas.height for canvas in row) + _GAP
    size = f"{number(right)} {number(bottom - _GAP)}"
    width, height = size.split()
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{width}" '
        f'height="{height}">\n<title>{escape(title)}</title>\n'
        f"<style>\n{palette.style_of_a_file()}\n</style>\n" + "\n".join(elements) + "\n</svg>\n"
    )


def _rows(canvases: Sequence[Canvas], columns: int) -> list[list[Canvas]]:
    rows: list[list[Canvas]] = []
    for canvas in canvases:
        if not rows or len(rows[-1]) == columns or canvas.is_key or rows[-1][0].is_key:
            rows.append([])
        rows[-1].append(canvas)
    return rows


def _steps(places: Sequence[Place]) -> str:
    """Absolute, then relative places. Each is rounded before the distances are taken, so that no
    error adds up.
    """
    tenths = [(round(10 * x), round(10 * y)) for x, y in places]
    words = [f"M{_tenths(tenths[0][0])} {_tenths(tenths[0][1])}l"]
    for (x, y), (later_x, later_y) in pairwise(tenths):
        for distance in (later_x - x, later_y - y):
            text = _tenths(distance)
            is_apart = text[0] == "-" or words[-1][-1] == "l"
            words.append(text if is_apart else f" {text}")
    return "".join(words).removesuffix("l")


def _tenths(count: int) -> str:
    """So many tenths: 5 is ".5" and -10 is "-1"."""
    whole, rest = divmod(abs(count), 10)
    digits = f"{whole or ''}.{rest}" if rest else f"{whole}"
    return f"-{digits}" if count < 0 else digits


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""
