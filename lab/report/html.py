"""Prints a document as one HTML file that needs nothing else: styles and figures are inside it."""

from __future__ import annotations

import re
from html import escape

from .document import (
    Block,
    Bullets,
    Document,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Table,
    is_numeric,
    numeric_columns,
)

_STYLE = """
:root { --ink: #1c2430; --soft: #5b6675; --line: #dde3ea; --band: #f5f7fa; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 3rem 1.5rem 6rem; max-width: 70rem;
  color: var(--ink); background: #fff;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans",
  sans-serif; }
h1 { margin: 0 0 .2rem; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3.2rem 0 .8rem; padding-top: 1.2rem; border-top: 2px solid var(--ink);
  font-size: 1.4rem; }
h3 { margin: 2rem 0 .6rem; font-size: 1.1rem; }
p, ul { max-width: 50rem; }
.subtitle { margin: 0 0 1.5rem; color: var(--soft); }
nav { margin: 1.5rem 0; padding: .8rem 1.2rem; background: var(--band); border-radius: 6px;
  columns: 2; }
nav a { display: block; color: var(--accent); text-decoration: none; }
figure { margin: 1.6rem 0; }
figure svg { width: 100%; height: auto; }
figcaption, caption { color: var(--soft); font-size: .86rem; line-height: 1.45; text-align: left; }
figcaption { max-width: 56rem; }
.scroll { overflow-x: auto; margin: 1.2rem 0 1.8rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; padding-top: .6rem; max-width: 56rem; }
th, td { padding: .34rem .75rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
thead th { border-bottom: 1.5px solid var(--ink); font-weight: 600; white-space: nowrap; }
thead .group th { border-bottom: 1px solid var(--line); text-align: center; }
tbody tr:nth-child(even) { background: var(--band); }
td.number, th.number { text-align: right; white-space: nowrap; }
td small { display: block; color: var(--soft); font-size: .82em; }
td:first-child { white-space: nowrap; font-weight: 600; }
code { padding: .05em .3em; background: var(--band); border-radius: 3px; font-size: .9em; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--accent); }
pre { padding: 1rem; background: var(--band); border-radius: 6px; overflow-x: auto;
  font-size: .8rem; white-space: pre-wrap; }
@media print { body { max-width: none; padding: 0; } figure, table { break-inside: avoid; }
  nav { display: none; } }
"""


def render(document: Document) -> str:
    contents = "".join(
        f'<a href="#{_anchor(block.text)}">{_text(block.text)}</a>'
        for block in document.blocks
        if isinstance(block, Heading) and block.level == 2
    )
    body = "\n".join(map(_block, document.blocks))
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>{_STYLE}</style>\n<body>\n"
        f'<h1>{escape(document.title)}</h1>\n<p class="subtitle">{_text(document.subtitle)}</p>\n'
        f"<nav>{contents}</nav>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f'<h{block.level} id="{_anchor(block.text)}">{_text(block.text)}</h{block.level}>'
    if isinstance(block, Paragraph):
        return f"<p>{_text(block.text)}</p>"
    if isinstance(block, Bullets):
        return "<ul>" + "".join(f"<li>{_text(item)}</li>" for item in block.items) + "</ul>"
    if isinstance(block, Figure):
        caption = f"<figcaption>{_text(block.caption)}</figcaption>"
        return f"<figure>{inline_svg(block.svg, block.name)}{caption}</figure>"
    if isinstance(block, Listing):
        title, text = _text(block.title), escape(block.text)
        return f"<details><summary>{title}</summary><pre>{text}</pre></details>"
    return _table(block)


def inline_svg(svg: str, name: str) -> str:
    """The svg element alone. Its ids get a prefix, because many figures share one page."""
    element = svg[svg.index("<svg") :]
    prefix = re.sub(r"[^A-Za-z0-9]", "_", name)
    element = re.sub(r'\bid="', f'id="{prefix}-', element)
    element = re.sub(r'(xlink:href|href)="#', rf'\1="#{prefix}-', element)
    return element.replace("url(#", f"url(#{prefix}-")


def _table(table: Table) -> str:
    groups = ""
    if table.groups:
        cells = "".join(
            f'<th colspan="{width}">{_text(title)}</th>' for title, width in table.groups
        )
        groups = f'<tr class="group">{cells}</tr>'
    header = "".join(
        f'<th class="number">{_text(name)}</th>' if is_number else f"<th>{_text(name)}</th>"
        for name, is_number in zip(table.header, numeric_columns(table))
    )
    rows = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in table.rows)
    return (
        f'<div class="scroll"><table><caption>{_text(table.caption)}</caption>'
        f"<thead>{groups}<tr>{header}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"
    )


def _cell(text: str) -> str:
    value, _, beneath = text.partition("\n")
    content = _text(value) + (f"<small>{_text(beneath)}</small>" if beneath else "")
    return f'<td class="number">{content}</td>' if is_numeric(text) else f"<td>{content}</td>"


def _text(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text, quote=False))


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
