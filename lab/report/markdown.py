"""Prints a document as Markdown, with the figures as links to their files."""

from collections.abc import Callable

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
    numeric_columns,
)


def render(document: Document) -> str:
    blocks = [*document.overview, *document.blocks]
    parts = [f"# {document.title}", document.subtitle, *map(_block, blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    printers: dict[type, Callable[..., str]] = {
        Heading: lambda block: f"{'#' * block.level} {block.text}",
        Paragraph: lambda block: block.text,
        Bullets: lambda block: "\n".join(f"- {item}" for item in block.items),
        Checklist: _checklist,
        Figure: _figure,
        Listing: lambda block: f"**{block.title}**\n\n```\n{block.text}\n```",
        Pointer: lambda block: block.text,
        Table: _table,
    }
    return printers[type(block)](block)


def _checklist(checklist: Checklist) -> str:
    return "\n".join(f"- {item.mark} {item.text} ({item.verdict})" for item in checklist.items)


def _figure(figure: Figure) -> str:
    caption = _caption(figure.title, figure.caption)
    return f"![{figure.title}](figures/{figure.name}.svg)\n\n*{caption}*"


def _table(table: Table) -> str:
    alignments = ["---:" if is_number else "---" for is_number in numeric_columns(table)]
    rows = [[_cell(text) for text in row] for row in table.rows]
    lines = map(_row, [_named_by_group(table), alignments, *rows])
    return "\n".join(lines) + f"\n\n*{_caption(table.title, table.caption)}*"


def _caption(title: str, text: str) -> str:
    return f"{title}. {text}".rstrip()


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(text: str) -> str:
    value, _, beneath = text.partition("\n")
    return f"{value} ({beneath})" if beneath else value


def _named_by_group(table: Table) -> list[str]:
    """Markdown has one header line, so each column name contains its group."""
    if not table.groups:
        return table.header
    groups = [title for title, width in table.groups for _ in range(width)]
    return [f"{group}: {name}" if group else name for group, name in zip(groups, table.header)]
