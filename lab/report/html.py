"""Prints a document as one HTML file that needs nothing else: styles and figures are inside it."""

import re
from collections.abc import Callable, Sequence
from html import escape

from .charts.svg import Canvas
from .document import (
    Block,
    Bullets,
    Checklist,
    Document,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Pointer,
    Table,
    decimals,
    numeric_columns,
    split_number,
)
from .html_style import STYLE

_SHORT_NAME = 22  # letters
_LONG_TABLE = 20  # rows; a longer table may go on on the next printed page
_MANY_COLUMNS = 8  # of a table that is set in smaller letters
_DIGIT, _POINT = "\u2007", "\u2008"  # spaces as wide as a digit and as a point


def render(document: Document, again_s: int | None = None) -> str:
    """again_s: a browser loads it again after so many seconds."""
    again = f'<meta http-equiv="refresh" content="{again_s}">\n' if again_s else ""
    blocks = [*document.overview, *document.blocks]
    anchors = _anchors(blocks)
    names = dict(zip(map(id, blocks), anchors))
    grey_from = len(document.blocks) if document.grey_from is None else document.grey_from
    overview, rest, grey = (
        "\n".join(_block(block, names[id(block)]) for block in part)
        for part in (document.overview, document.blocks[:grey_from], document.blocks[grey_from:])
    )
    if grey:
        rest += f'\n<div class="grey">\n{grey}\n</div>'
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{again}'
        f"<title>{escape(document.title)}</title>\n<style>{STYLE}</style>\n<body>\n<main>\n"
        f'<section class="overview">\n<h1>{escape(document.title)}</h1>\n'
        f'<p class="subtitle">{_text(document.subtitle)}</p>\n{overview}\n</section>\n'
        f'<nav aria-label="Contents">\n{_contents(blocks, anchors)}\n</nav>\n'
        f'<section class="rest">\n{rest}\n</section>\n</main>\n</body>\n</html>\n'
    )


def _contents(blocks: Sequence[Block], anchors: Sequence[str]) -> str:
    """A line for each section, and for each figure and table in it."""
    return "\n".join(
        f'<a{"" if isinstance(block, Heading) else " class=part"} href="#{anchor}">'
        f"{_text(_title(block))}</a>"
        for block, anchor in zip(blocks, anchors)
        if anchor and not (isinstance(block, Heading) and block.level > 2)
    )


def _title(block: Block) -> str:
    if isinstance(block, Heading):
        return block.text
    return block.title if isinstance(block, (Table, Figure)) else ""


def _anchors(blocks: Sequence[Block]) -> list[str]:
    """A name of its own for each heading, figure and table; "" for other blocks.

    A figure is named after its file, a row of a table as the table says.
    """
    taken = {name for block in blocks if isinstance(block, Table) for name in block.anchors if name}
    found = []
    for block in blocks:
        name = wanted = _slug(block.name if isinstance(block, Figure) else _title(block))
        number = 1
        while name in taken:
            number += 1
            name = f"{wanted}-{number}"
        found.append(name)
        if name:
            taken.add(name)
    return found


def _block(block: Block, anchor: str) -> str:
    printers: dict[type, Callable[..., str]] = {
        Heading: _heading,
        Paragraph: lambda block, _: f"<p>{_text(block.text)}</p>",
        Bullets: _bullets,
        Checklist: _checklist,
        Figure: _figure,
        Listing: _listing,
        Pointer: _pointer,
        Table: _table,
    }
    return printers[type(block)](block, anchor)


def _heading(heading: Heading, anchor: str) -> str:
    return f'<h{heading.level} id="{anchor}">{_text(heading.text)}</h{heading.level}>'


def _bullets(bullets: Bullets, _anchor: str) -> str:
    return "<ul>" + "".join(f"<li>{_text(item)}</li>" for item in bullets.items) + "</ul>"


def _checklist(checklist: Checklist, _anchor: str) -> str:
    lines = "".join(
        f'<li><i>{item.mark}</i><span><a href="#{item.target}">{_text(item.text)}</a> '
        f"<small>{_text(item.verdict)}</small></span></li>"
        for item in checklist.items
    )
    return f'<ul class="checks">{lines}</ul>'


def _listing(listing: Listing, _anchor: str) -> str:
    title, text = _text(listing.title), escape(listing.text)
    return f"<details><summary>{title}</summary><pre>{text}</pre></details>"


def _pointer(pointer: Pointer, _anchor: str) -> str:
    return f'<p><a href="#{_slug(pointer.target)}">{_text(pointer.text)}</a></p>'


def _figure(figure: Figure, anchor: str) -> str:
    canvases = "\n".join(canvas.element(_class_of(canvas)) for canvas in figure.canvases)
    is_long = ' class="long"' if len(figure.canvases) > 4 * figure.columns else ""
    return (
        f'<figure id="{anchor}"{is_long}><div class="panels">{canvases}</div>'
        f"{_caption(figure.title, figure.caption)}</figure>"
    )


def _class_of(canvas: Canvas) -> str:
    return ' class="key"' if canvas.is_key else ' class="wide"' if canvas.is_wide else ""


def _caption(title: str, text: str) -> str:
    return f"<figcaption><b>{_text(title)}.</b> {_text(text)}</figcaption>"


def _table(table: Table, anchor: str) -> str:
    are_numbers = numeric_columns(table)
    places = [
        max((decimals(row[index]) for row in table.rows), default=0) if is_number else 0
        for index, is_number in enumerate(are_numbers)
    ]
    groups = ""
    if table.groups:
        cells = "".join(
            f'<th colspan="{width}">{_text(title)}</th>' for title, width in table.groups
        )
        groups = f'<tr class="group">{cells}</tr>'
    kinds = [_kind(table, index, is_number) for index, is_number in enumerate(are_numbers)]
    header = "".join(
        f"<th{_class(kind)}>{_text(name)}</th>" for name, kind in zip(table.header, kinds)
    )
    rows = "\n".join(
        f"<tr{_row_name(table, index)}>" + "".join(map(_cell, row, kinds, places)) + "</tr>"
        for index, row in enumerate(table.rows)
    )
    head = f"<thead>{groups}<tr>{header}</tr></thead>" if any(table.header) else ""
    kind = "long" if len(table.rows) > _LONG_TABLE else "short"
    kind += " tight" if len(table.header) > _MANY_COLUMNS else ""
    return (
        f'<figure id="{anchor}" class="{kind} of-table">{_caption(table.title, table.caption)}'
        f'<div class="scroll"><table aria-label="{escape(table.title)}">'
        f"{head}\n<tbody>\n{rows}\n</tbody></table></div></figure>"
    )


def _row_name(table: Table, index: int) -> str:
    name = table.anchors[index] if table.anchors else ""
    return f' id="{name}"' if name else ""


def _kind(table: Table, column: int, is_number: bool) -> str:
    if is_number:
        return "n"
    longest = max((len(row[column]) for row in table.rows), default=0)
    return "k" if longest <= _SHORT_NAME else ""


def _class(kind: str) -> str:
    """n: numbers; k: short texts, whose lines are not broken."""
    return f' class="{kind}"' if kind else ""


def _cell(text: str, kind: str, places: int) -> str:
    value, _, beneath = text.partition("\n")
    content = _text(_padded(value, places) if kind == "n" and value else value)
    content += f"<small>{_text(beneath)}</small>" if beneath else ""
    return f"<td{_class(kind)}>{content}</td>"


def _padded(value: str, places: int) -> str:
    """Fills up the missing decimals, so that the points of a column stand below each other."""
    digits, rest = split_number(value)
    missing = places - decimals(value)
    if missing == places and places > 0:
        return f"{digits}{_POINT}{_DIGIT * (places - 1)}{rest}"
    return f"{digits}{_DIGIT * missing}{rest}"


def _text(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
