"""The section of the report that lists the paper's findings with our verdicts."""

from __future__ import annotations

from ..analysis import findings
from ..analysis.cells import Analysis
from ..analysis.findings import Judged
from ..analysis.intervals import Spread
from ..plan import claims, papers
from ..plan.claims import Claim
from . import wording
from .document import Block, Heading, Table


def section(analysis: Analysis) -> list[Block]:
    """[] when no finding can be judged with these measurements."""
    rows = [
        _line(finding, judged)
        for paper in papers.names()
        for finding in claims.claims(paper)
        if (judged := findings.judge(finding, analysis))
    ]
    if not rows:
        return []
    return [
        Heading(2, "The paper's findings, one by one"),
        Table(
            "Each finding and our measurements: whether it is seen on this machine, not seen, or "
            "cannot be told. Gains are computed within each pass over the cells, so a drift of the "
            "machine cancels out. The 99% interval is in brackets. A gain is seen if its interval "
            "is above 1 and it is over 3%, and not seen if the interval is below 1.03. With too "
            "few passes for an interval it must be over ×1.3 in both. “Comparable” is seen if the "
            "whole interval is within 15%. A finding about a bottleneck is held against the "
            "resource that our rule names; it cannot be told if the rule names none or several. A "
            "maximum that was not reached tells nothing.",
            ["finding", "verdict", "evidence"],
            rows,
        ),
    ]


def evidence(judged: Judged) -> str:
    """The figures that a judgment stands on, in a few words."""
    bound = ", a maximum was not reached" if judged.is_lower_bound else ""
    if judged.gain is None:
        return judged.bottleneck + bound
    cores = "{} → {} cores ".format(*judged.cores) if judged.cores else ""
    return cores + _format_gain(judged.gain) + bound + _paper(judged)


def _line(finding: Claim, judged: list[Judged]) -> list[str]:
    verdicts = {one.verdict for one in judged}
    parts = [
        f"{named}: {', '.join(one.row for one in judged if one.verdict == named)}"
        for named in (findings.SEEN, findings.NOT_SEEN, findings.CANNOT_TELL)
        if named in verdicts
    ]
    return [
        finding.text,
        verdicts.pop() if len(verdicts) == 1 else "; ".join(parts),
        "; ".join(f"{one.row}: {evidence(one)}" for one in judged),
    ]


def _format_gain(gain: Spread) -> str:
    return wording.times(gain.median) + (
        f" ({gain.low:.2f}–{gain.high:.2f})" if gain.is_interval else ""
    )


def _paper(judged: Judged) -> str:
    if judged.paper is None:
        return ""
    place = {True: ", inside", False: ", outside", None: ""}[judged.is_paper_inside]
    return f", the paper {wording.times(judged.paper)}{place}"
