"""A report as blocks, which html.py and markdown.py print. Texts have no markup except `code`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .charts import svg
from .charts.svg import Canvas

# A sign, digits, decimals, what follows: a unit, or the star of a range.
_NUMBER = re.compile(r"([≥≤<×−-]?\s?\d[\d,]*)(\.\d+)?((?:[*†]| ?(?:ms|µs|s|B|kB|MB|GB|%))?)")


@dataclass(frozen=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Bullets:
    items: list[str]


@dataclass(frozen=True)
class Check:
    """A line of a checklist. mark is a sign, target the anchor of the evidence."""

    mark: str
    text: str
    verdict: str
    target: str


@dataclass(frozen=True)
class Checklist:
    items: list[Check]


@dataclass(frozen=True, kw_only=True)
class Table:
    """groups span columns above the header: (title, number of columns).

    What follows a line break in a cell is less important and is printed smaller. anchors name the
    rows, so that links lead there; there are none or as many as rows.
    """

    title: str
    caption: str = ""
    header: list[str]
    rows: list[list[str]]
    groups: list[tuple[str, int]] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Pointer:
    """A line instead of a figure that is there already; target is the name of that figure."""

    text: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Figure:
    """name is that of the file in figures/. columns is how many canvases stand side by side.

    shows says what is drawn, so that the same is not drawn twice.
    """

    name: str
    title: str
    caption: str
    canvases: Sequence[Canvas]
    columns: int = 3
    shows: frozenset[str] = frozenset()

    @property
    def svg(self) -> str:
        """The content of the file."""
        return svg.file(self.title, self.canvases, self.columns)


@dataclass(frozen=True)
class Listing:
    """Command lines and the like; folded away in the HTML form."""

    title: str
    text: str


Block = Heading | Paragraph | Bullets | Checklist | Table | Figure | Pointer | Listing


@dataclass(frozen=True, kw_only=True)
class Document:
    """The overview is the first page, blocks are what follows the contents.

    grey_from is the place in blocks from which on they are printed grey: what was measured, and is
    not judged.
    """

    title: str
    subtitle: str
    overview: list[Block] = field(default_factory=list)
    blocks: list[Block]
    grey_from: int | None = None

    @property
    def figures(self) -> list[Figure]:
        return [block for block in (*self.overview, *self.blocks) if isinstance(block, Figure)]


def numeric_columns(table: Table) -> list[bool]:
    """For each column, whether all its cells are numbers or empty."""
    columns = [[row[index] for row in table.rows] for index in range(len(table.header))]
    return [
        any(cells) and all(_NUMBER.fullmatch(_value(cell)) for cell in cells if cell)
        for cells in columns
    ]


def decimals(text: str) -> int:
    """How many characters the decimals of a number take, with the point."""
    found = _NUMBER.fullmatch(_value(text))
    return len(found[2] or "") if found else 0


def split_number(text: str) -> tuple[str, str]:
    """A number, and its unit or star. Requires: it is one."""
    found = _NUMBER.fullmatch(text)
    assert found, text
    return found[1] + (found[2] or ""), found[3]


def without_empty_columns(table: Table) -> Table:
    """Leaves out the columns that have nothing in any row."""
    kept = [
        index
        for index in range(len(table.header))
        if index == 0 or any(row[index] for row in table.rows)
    ]
    groups, start = [], 0
    for title, width in table.groups:
        if left := sum(start <= index < start + width for index in kept):
            groups.append((title, left))
        start += width
    return replace(
        table,
        header=[table.header[index] for index in kept],
        rows=[[row[index] for index in kept] for row in table.rows],
        groups=groups,
    )


def _value(cell: str) -> str:
    return cell.partition("\n")[0]
