"""Whether two results folders say the same: verdict by verdict, and gain by gain."""

from __future__ import annotations

from ..analysis import findings, gains, passes
from ..analysis.cells import Analysis
from ..analysis.findings import Judged
from ..analysis.gains import Gain
from ..plan import claims, papers
from ..plan.pairs import Pair
from ..results.records import Run
from . import wording
from .document import Block, Heading, Paragraph, Table

_SAME, _FLIPS = "the same", "flips"
_OVERLAP, _APART = "yes", "no"


def blocks(first: Analysis, second: Analysis) -> list[Block]:
    """[] when they have neither a finding nor a gain side by side in common."""
    return [*_of_verdicts(first, second), *_of_gains(first, second)]


def _of_verdicts(first: Analysis, second: Analysis) -> list[Block]:
    found = [
        (finding.text, one, other)
        for paper in papers.names()
        for finding in claims.claims(paper)
        for one, other in _in_both(findings.judge(finding, first), findings.judge(finding, second))
    ]
    if not found:
        return []
    relations = [_relation(one.verdict, other.verdict) for _, one, other in found]
    same, flips = relations.count(_SAME), relations.count(_FLIPS)
    table = Table(
        title="Findings",
        header=["finding", "request", "A", "B", ""],
        rows=[
            [text, one.row, one.verdict, other.verdict, relation]
            for (text, one, other), relation in zip(found, relations)
        ],
    )
    sentence = (
        f"Of {wording.plural(len(found), 'verdict')}, {same} are the same, {flips} flip between "
        f"“{passes.SEEN}” and “{passes.NOT_SEEN}”, and {len(found) - same - flips} can be told "
        "from one of the two only."
    )
    return [Heading(2, "The verdicts of both"), Paragraph(sentence), table]


def _in_both(first: list[Judged], second: list[Judged]) -> list[tuple[Judged, Judged]]:
    return [(one, other) for one in first for other in second if one.row == other.row]


def _relation(first: str, second: str) -> str:
    if first == second:
        return _SAME
    if passes.CANNOT_TELL not in (first, second):
        return _FLIPS
    return f"told from {'B' if first == passes.CANNOT_TELL else 'A'} only"


def _of_gains(first: Analysis, second: Analysis) -> list[Block]:
    """Of the stages that were measured side by side in both."""
    found = [
        (pair, one, other)
        for pair in _pairs(first)
        if pair in _pairs(second)
        for one, other in [(_gain(first, pair), _gain(second, pair))]
        if one and other
    ]
    if not found:
        return []
    relations = [_overlap(one, other) for _, one, other in found]
    overlapping, apart = relations.count(_OVERLAP), relations.count(_APART)
    table = Table(
        title="Gains",
        caption="Of the second stage over the first, side by side, with its 99% interval (* = "
        "minimum–maximum), at the N that the sweeps of the folder led to.",
        header=["stages", "request", "N A", "N B", "A", "B", "overlap"],
        rows=[
            [*_of_pair(pair, one, other), relation]
            for (pair, one, other), relation in zip(found, relations)
        ],
    )
    sentence = (
        f"Of {wording.plural(overlapping + apart, 'gain')} with an interval in both, "
        f"{overlapping} have intervals that overlap."
    )
    return [Heading(2, "The gains of both"), Paragraph(sentence), table]


def _of_pair(pair: Pair, one: Gain, other: Gain) -> list[str]:
    users = [wording.count(gain.threads) for gain in (one, other)]
    return [f"{pair.before} → {pair.after}", pair.row, *users, _text(one), _text(other)]


def _pairs(analysis: Analysis) -> list[Pair]:
    """In the order in which they were measured, the rows of two stages together."""
    pairs = list(dict.fromkeys(_pair(run) for run in analysis.runs if run.pair))
    stages = list(dict.fromkeys((pair.before, pair.after) for pair in pairs))
    return sorted(pairs, key=lambda pair: stages.index((pair.before, pair.after)))


def _pair(run: Run) -> Pair:
    before, after = run.pair.split(":")
    return Pair(before, after, run.cell.row)


def _gain(analysis: Analysis, pair: Pair) -> Gain | None:
    return gains.gain(analysis, pair.before, pair.after, pair.row)


def _overlap(one: Gain, other: Gain) -> str:
    """Nothing without an interval of each."""
    if any(gain.is_lower_bound or not gain.spread.is_interval for gain in (one, other)):
        return ""
    a, b = one.spread, other.spread
    return _OVERLAP if a.low <= b.high and b.low <= a.high else _APART


def _text(gain: Gain) -> str:
    return wording.gain(gain).replace("\n", " ")
