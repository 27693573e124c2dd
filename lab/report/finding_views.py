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
            "Each finding and our measurements. Gains are computed within each pass over the "
            "cells, so a drift of the machine cancels out; the 95% interval is in brackets. A "
            "gain counts if its interval does not contain 1 and it is over 3%, or over 10% with "
            "too few runs for an interval. “Comparable” is within 15%. A finding about a "
            "bottleneck is compared with the resource that our rule names. It is undecided if the "
            "rule names none, or two components that use about as much.",
            ["finding", "verdict", "evidence"],
            rows,
        ),
    ]


def evidence(judged: Judged) -> str:
    """The figures that a judgment stands on, in a few words."""
    if judged.gain is None:
        return judged.bottleneck
    cores = "{} → {} cores ".format(*judged.cores) if judged.cores else ""
    bound = ", a maximum is only a lower bound" if judged.is_lower_bound else ""
    return cores + _format_gain(judged.gain) + bound


def _line(finding: Claim, judged: list[Judged]) -> list[str]:
    verdicts = {one.verdict for one in judged}
    parts = [
        f"{named}: {', '.join(one.row for one in judged if one.verdict == named)}"
        for named in (findings.CONFIRMED, findings.REFUTED, findings.UNDECIDED)
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
