"""Prints a document as Markdown, with the figures as links to their files."""

from __future__ import annotations

from .document import (
    Block,
    Bullets,
    Document,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Table,
    numeric_columns,
)


def render(document: Document) -> str:
    parts = [f"# {document.title}", document.subtitle, *map(_block, document.blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Bullets):
        return "\n".join(f"- {item}" for item in block.items)
    if isinstance(block, Figure):
        return f"![{block.name}](figures/{block.name}.svg)\n\n*{block.caption}*"
    if isinstance(block, Listing):
        return f"**{block.title}**\n\n```\n{block.text}\n```"
    return _table(block)


def _table(table: Table) -> str:
    alignments = ["---:" if is_number else "---" for is_number in numeric_columns(table)]
    rows = [[_cell(text) for text in row] for row in table.rows]
    lines = map(_row, [_named_by_group(table), alignments, *rows])
    return "\n".join(lines) + f"\n\n*{table.caption}*"


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
