"""The paper's findings with our verdicts: a checklist, and the evidence for each line of it."""

from ..analysis import findings, passes
from ..analysis.cells import Analysis
from ..analysis.findings import Judged
from ..analysis.gains import Gain
from ..plan import claims, papers
from ..plan.claims import Claim
from . import wording
from .document import Block, Check, Checklist, Heading, Table, without_empty_columns

_VERDICTS = (passes.SEEN, passes.NOT_SEEN, passes.CANNOT_TELL)
_MARKS = {passes.SEEN: "✓", passes.NOT_SEEN: "✗", passes.CANNOT_TELL: "?"}
_MIXED = "◐"  # the rows of a finding have different verdicts


def checklist(analysis: Analysis) -> list[Block]:
    """One line for each finding. [] when none can be judged with these measurements."""
    items = [
        Check(mark(judged), finding.text, _verdict(judged), anchor)
        for anchor, finding, judged in all_judged(analysis)
    ]
    how = ", by the CPU time of a request" if analysis.is_shared else ""
    return [Heading(2, f"What the paper found{how}"), Checklist(items)] if items else []


def section(analysis: Analysis) -> list[Block]:
    """The evidence. [] when no finding can be judged."""
    found = all_judged(analysis)
    if not found:
        return []
    lines = [
        (anchor, finding, one, one is judged[0])
        for anchor, finding, judged in found
        for one in judged
    ]
    table = Table(
        title="Findings and evidence",
        caption="Whether each finding is seen on this machine, not seen, or cannot be told. "
        "Gains are computed within each pass over the cells, so a drift of the machine from pass "
        "to pass cancels out." + (" They are gains in CPU time." if analysis.is_shared else ""),
        header=[
            *("finding", "request", "verdict", "our gain", "99% interval"),
            *("paper’s gain", "is", "bottleneck, remark"),
        ],
        rows=[
            [finding.text if is_first else "", *evidence(one)]
            for _, finding, one, is_first in lines
        ],
        anchors=[anchor if is_first else "" for anchor, _, _, is_first in lines],
    )
    return [
        Heading(2, "The paper’s findings, one by one"),
        without_empty_columns(table),
    ]


def all_judged(analysis: Analysis) -> list[tuple[str, Claim, list[Judged]]]:
    """(anchor, finding, judgment of each row), for all that can be judged."""
    found = []
    for paper in papers.names():
        for index, finding in enumerate(claims.claims(paper), start=1):
            if judged := findings.judge(finding, analysis):
                found.append((f"finding-{paper}-{index}", finding, judged))
    return found


def mark(judged: list[Judged]) -> str:
    verdicts = {one.verdict for one in judged}
    return _MARKS[verdicts.pop()] if len(verdicts) == 1 else _MIXED


def _verdict(judged: list[Judged]) -> str:
    verdicts = {one.verdict for one in judged}
    if len(verdicts) == 1:
        return verdicts.pop()
    return "; ".join(
        f"{named}: {', '.join(one.row for one in judged if one.verdict == named)}"
        for named in _VERDICTS
        if named in verdicts
    )


def evidence(judged: Judged) -> list[str]:
    """The figures that a judgment stands on: the cells of its row behind the finding."""
    gain = Gain(judged.gain, judged.is_lower_bound) if judged.gain else None
    ours, _, interval = wording.gain(gain).partition("\n")
    cores = ", {} → {} cores".format(*judged.cores) if judged.cores else ""
    unknown = "a maximum was not reached" if judged.is_lower_bound else ""
    return [
        judged.row + cores,
        f"{_MARKS[judged.verdict]} {judged.verdict}",
        ours,
        interval,
        wording.times(judged.paper),
        {True: "inside", False: "outside", None: ""}[judged.is_paper_inside],
        ", ".join(filter(None, (judged.bottleneck, judged.remark, unknown))),
    ]
