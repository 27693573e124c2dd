"""Marks in the forms that others read: text, Gradescope's JSON, JUnit, CSV and one HTML page."""

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from html import escape
from typing import Any
from xml.etree import ElementTree

from .marks import Part, Sheet

COLUMNS = ("submission", "stage", "contract", "gain", "marks", "of", "reason")
_MOST_TEXT = 2000


def plain(text: str) -> str:
    """Without control characters, which a server may send, and not too long."""
    return "".join(one if one.isprintable() else "?" for one in text)[:_MOST_TEXT]


def text(sheet: Sheet) -> str:
    """For the terminal: what to mend first."""
    lines = [plain(sheet.remark)] if sheet.remark else []
    for part in sheet.parts:
        lines.append(f"{part.name}: {part.points:g} of {part.of} ({part.rule})")
        bad = [one for one in part.outcomes if not one.holds]
        lines += [f"  mend: {plain(str(one))}" for one in bad]
        if part.reason and not bad:
            lines.append(f"  {plain(part.reason)}")
    return "\n".join([*lines, f"{sheet.points:g} of {sheet.of}"])


def gradescope(sheet: Sheet) -> str:
    """results.json as Gradescope's autograders write it."""
    tests = [test for part in sheet.parts for test in _tests(part)]
    found = {"score": sheet.points, "output": plain(sheet.reason), "visibility": "visible"}
    return json.dumps({**found, "tests": tests}, indent=1, ensure_ascii=False) + "\n"


def _tests(part: Part) -> list[dict[str, Any]]:
    """One of each part, whose points add up to the score; its cases are in the output."""
    said = [f"{'ok' if one.holds else 'mend'}: {plain(str(one))}" for one in part.outcomes]
    said += [plain(part.reason)] if part.reason and not part.outcomes else []
    return [
        {
            "name": part.name,
            "score": part.points,
            "max_score": part.of,
            "status": "passed" if part.is_full else "failed",
            "output": "\n".join([part.rule, *said]),
        }
    ]


def junit(sheet: Sheet) -> str:
    top = ElementTree.Element("testsuites", name=plain(sheet.name))
    for part in sheet.parts or (Part("marked", 0, 1, "", (), sheet.remark),):
        cases = part.outcomes
        failed = sum(not one.holds for one in cases) if cases else int(not part.is_full)
        suite = ElementTree.SubElement(
            top,
            "testsuite",
            name=part.name,
            tests=str(max(1, len(cases))),
            failures=str(failed),
        )
        for one in cases:
            case = ElementTree.SubElement(suite, "testcase", classname=part.name, name=one.name)
            if not one.holds:
                ElementTree.SubElement(case, "failure", message=plain(str(one)))
        if not cases:
            case = ElementTree.SubElement(suite, "testcase", classname=part.name, name=part.name)
            if failed:
                ElementTree.SubElement(case, "failure", message=plain(part.reason))
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def table(sheets: Sequence[Sheet]) -> str:
    """class.csv. A name that a spreadsheet would take for a formula gets an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for sheet in sheets:
        contract = sheet.part("contract")
        gain = "" if sheet.gain is None else f"{sheet.gain:.2f}"
        row = [sheet.name, sheet.stage, f"{contract.points:g}" if contract else "", gain]
        row += [f"{sheet.points:g}", sheet.of, sheet.reason]
        writer.writerow([_cell(one) for one in row])
    return out.getvalue()


def _cell(value: object) -> str:
    said = plain(str(value))
    return f"'{said}" if said[:1] in "=+-@" and not _is_number(said) else said


def _is_number(said: str) -> bool:
    try:
        float(said)
    except ValueError:
        return said == ""
    return True


_STYLE = """body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;
color:#222;background:#fff}table{border-collapse:collapse}td,th{padding:.2em .7em;text-align:left;
border-bottom:1px solid #ddd}.n{text-align:right}.bar{background:#4a7ab5;height:.8em;
display:inline-block}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}
td,th{border-color:#444}}"""


def page(sheets: Sequence[Sheet]) -> str:
    """class.html: one file without scripts."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>The class</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>The class: {len(sheets)} submissions</h1>\n"
        f"<h2>Marks of each stage</h2>\n{_distribution(sheets)}\n"
        f"<h2>The ladder: CPU time of a request, reference / student</h2>\n{_ladder(sheets)}\n"
        f"<h2>Where the class loses its points</h2>\n{_losses(sheets)}\n"
        f"<h2>All submissions</h2>\n{_all(sheets)}\n"
        f"<h2>The rules</h2>\n<ul>{_rules(sheets)}</ul>\n</body></html>\n"
    )


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells are HTML already."""
    first = "".join(f"<th>{escape(one)}</th>" for one in head)
    rest = "\n".join("<tr>" + "".join(f"<td>{one}</td>" for one in row) + "</tr>" for row in rows)
    return f"<table><tr>{first}</tr>\n{rest}</table>"


def _bar(share: float) -> str:
    return f'<span class="bar" style="width:{max(0.0, min(1.0, share)) * 12:.2f}em"></span>'


def _distribution(sheets: Sequence[Sheet]) -> str:
    """In tenths of the marks that there are."""
    found: dict[int, Counter[int]] = defaultdict(Counter)
    for sheet in sheets:
        share = sheet.points / sheet.of if sheet.of else 0.0
        found[sheet.stage][min(9, int(10 * share))] += 1
    rows = []
    for stage, counts in sorted(found.items()):
        most = max(counts.values())
        for tenth, count in sorted(counts.items()):
            where = f"{10 * tenth}–{10 * tenth + 10}%"
            rows.append((str(stage), where, f"{_bar(count / most)} {count}"))
    return _rows(("stage", "of the marks", "submissions"), rows)


def _ladder(sheets: Sequence[Sheet]) -> str:
    measured = [(sheet.gain, sheet) for sheet in sheets if sheet.gain is not None]
    measured.sort(key=lambda pair: -pair[0])
    most = max((gain for gain, _ in measured), default=1.0)
    rows = [
        (escape(plain(sheet.name)), str(sheet.stage), f"{_bar(gain / most)} ×{gain:.2f}")
        for gain, sheet in measured
    ]
    return _rows(("submission", "stage", "gain"), rows)


def _losses(sheets: Sequence[Sheet]) -> str:
    lost: Counter[str] = Counter()
    for sheet in sheets:
        for part in sheet.parts:
            bad = [one.sentence for one in part.outcomes if not one.holds]
            for one in bad or ([part.reason] if part.reason else []):
                lost[f"{part.name}: {one}"] += 1
    rows = [(escape(plain(what)), str(count)) for what, count in lost.most_common(30)]
    return _rows(("what", "submissions"), rows)


def _all(sheets: Sequence[Sheet]) -> str:
    rows = [
        (
            escape(plain(sheet.name)),
            str(sheet.stage),
            f"{sheet.points:g} of {sheet.of}",
            escape(plain(sheet.reason)),
        )
        for sheet in sheets
    ]
    return _rows(("submission", "stage", "marks", "reason"), rows)


def _rules(sheets: Sequence[Sheet]) -> str:
    rules = dict.fromkeys((part.name, part.rule) for sheet in sheets for part in sheet.parts)
    return "".join(f"<li>{escape(name)}: {escape(rule)}.</li>" for name, rule in rules)
