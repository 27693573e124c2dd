"""A report as blocks, which html.py and markdown.py print. Texts have no markup except `code`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NUMBER = re.compile(r"–|[×-]?\d[\d,.]*( ?(ms|s|B|kB|MB|GB|%))?")


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
class Table:
    """groups span columns above the header: (title, number of columns).

    What follows a line break in a cell is less important and is printed smaller.
    """

    caption: str
    header: list[str]
    rows: list[list[str]]
    groups: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Figure:
    """name is that of the file in figures/; svg its content."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Listing:
    """Command lines and the like; folded away in the HTML form."""

    title: str
    text: str


Block = Heading | Paragraph | Bullets | Table | Figure | Listing


@dataclass(frozen=True)
class Document:
    title: str
    subtitle: str
    blocks: list[Block]


def is_numeric(text: str) -> bool:
    """Whether a cell is a number, which is printed flush right."""
    return _NUMBER.fullmatch(text.partition("\n")[0]) is not None


def numeric_columns(table: Table) -> list[bool]:
    """For each column, whether all its cells are numbers or empty."""
    return [
        all(is_numeric(row[column]) for row in table.rows if row[column]) and bool(table.rows)
        for column in range(len(table.header))
    ]
