"""Holds each of the paper's findings against our measurements: seen here, not seen, cannot tell.

A measurement on this machine neither confirms nor refutes a sentence about another one. A verdict
needs the whole 99% interval on one side, or a bottleneck that leads in every pass. A maximum that
was not reached tells nothing. A stage that ran with another store than its own is not compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from ..kinds import BURST, CLIENT, CROWD, KINDS, RAMP
from ..kinds.client import findings as download_findings
from ..kinds.crowd.analysis import CrowdResult, Step
from ..kinds.kind import Kind
from ..kinds.ramp import findings as ramp_findings
from ..plan import catalog, papers
from ..plan.catalog import Cell
from ..plan.claims import (
    Bears,
    Cheaper,
    Claim,
    Gain,
    Limit,
    OfDownload,
    OfRamp,
    Ratio,
    Scaling,
)
from . import gains, passes
from .cells import Analysis, CellResult
from .intervals import Spread
from .passes import CANNOT_TELL, NOT_SEEN, SEEN, Told, inside
from .verdict import Resource

_LEAST_GAIN = 1.03  # a smaller one is none
_LEAST_GAIN_OF_FEW = 1.40  # in each of two passes; two runs differ by as much, seldom four of them
_FEW = 2  # passes; with one pass, nothing is told
_OF_SHARED = "other programs used the machine"
_COMPARABLE = 0.15  # the largest difference that is called comparable


@dataclass(frozen=True)
class Judged:
    """The judgment of one row, with the figures that it stands on."""

    row: str
    verdict: str
    gain: Spread | None = None  # None for a finding about a bottleneck
    cores: tuple[int, int] | None = None  # of the fileserver, before and after, if they differ
    is_lower_bound: bool = False  # one of the maxima was not reached
    bottleneck: str = ""
    remark: str = ""  # the figures of a ramp, or of downloads
    paper: float | None = None  # the paper's own gain, from its numbers

    @property
    def is_paper_inside(self) -> bool | None:
        """Whether the paper's gain lies in our interval; None without an interval or its gain."""
        if self.gain is None or not self.gain.is_interval or self.paper is None:
            return None
        return None if self.is_lower_bound else self.gain.low <= self.paper <= self.gain.high


def judge(finding: Claim, analysis: Analysis) -> list[Judged]:
    """A judgment for each row of the finding that was measured."""
    return [one for row in finding.rows if (one := _judge_row(finding, row, analysis))]


def _judge_row(finding: Claim, row: str, analysis: Analysis) -> Judged | None:
    if isinstance(finding, Gain):
        return _judge_gain(finding, row, analysis)
    if isinstance(finding, Limit):
        return _judge_limit(finding, row, analysis)
    if isinstance(finding, Scaling):
        return _judge_scaling(finding, row, analysis)
    if isinstance(finding, OfRamp) or _is_ratio_of(finding, RAMP):
        return _as_told(row, ramp_findings.judge(finding, row, analysis.ramp))
    if isinstance(finding, OfDownload) or _is_ratio_of(finding, CLIENT):
        if analysis.link:  # the finding is about that of the stage
            return None
        return _as_told(row, download_findings.judge(finding, row, analysis.attempts))
    if isinstance(finding, Ratio):
        return _judge_ratio(finding, row, analysis)
    return _judge_crowds(finding, row, analysis)


def _is_ratio_of(finding: Claim, kind: Kind) -> TypeGuard[Ratio]:
    return isinstance(finding, Ratio) and finding.kind == kind.name


def _as_told(row: str, told: Told | None) -> Judged | None:
    return Judged(row, told.verdict, remark=told.figures) if told else None


def _judge_ratio(finding: Ratio, row: str, analysis: Analysis) -> Judged | None:
    kind = KINDS[finding.kind]
    of_kind, figure = kind.part("analysis"), finding.figure or kind.rate
    one, other = (
        of_kind.measured(side, side.row or row, analysis.runs, analysis.discard)
        for side in (finding.here, finding.there)
    )
    found = passes.ratio(one, other, figure, finding.there.figure) if one and other else None
    if found is None:
        return None
    told = passes.judge(found, finding.above, finding.below)
    is_gain = kind is BURST  # and has the columns of one
    return Judged(row, told.verdict, found) if is_gain else _as_told(row, told)


def _judge_crowds(finding: Bears | Cheaper, row: str, analysis: Analysis) -> Judged | None:
    names = (
        (finding.more, finding.fewer)
        if isinstance(finding, Bears)
        else (finding.stage, finding.than)
    )
    first, second = (analysis.crowd(Cell(name, row, workload=CROWD.name)) for name in names)
    if first is None or second is None:
        return None
    rule = _bears if isinstance(finding, Bears) else _is_cheaper
    return Judged(row, rule(first, second))


def _bears(more: CrowdResult, fewer: CrowdResult) -> str:
    """The two searches end between two numbers each; a verdict needs a gap between them."""
    if more.answer is None or fewer.answer is None:
        return CANNOT_TELL
    if fewer.answer.fails is not None and more.answer.holds >= fewer.answer.fails:
        return SEEN
    is_reverse = more.answer.fails is not None and fewer.answer.holds >= more.answer.fails
    return NOT_SEEN if is_reverse else CANNOT_TELL


def _is_cheaper(one: CrowdResult, other: CrowdResult) -> str:
    """At every number of users at which all hold, all trials of one need less than all of the
    other. One trial each tells nothing.
    """
    pairs = [
        (step, same)
        for step in one.steps
        for same in other.steps
        if step.users == same.users and step.do_hold and same.do_hold
    ]
    if not pairs or any(min(len(a.runs), len(b.runs)) < _FEW for a, b in pairs):
        return CANNOT_TELL
    if all(_most(a) < _least(b) for a, b in pairs):
        return SEEN
    return NOT_SEEN if all(_most(b) < _least(a) for a, b in pairs) else CANNOT_TELL


def _least(step: Step) -> float:
    return min(run.usage.components["loadgen"].cpu_cores for run in step.runs)


def _most(step: Step) -> float:
    return max(run.usage.components["loadgen"].cpu_cores for run in step.runs)


def _judge_gain(finding: Gain, row: str, analysis: Analysis) -> Judged | None:
    stages = (finding.before, finding.after)
    is_own = all(_in_own_store(analysis, stage, row) for stage in stages)
    found = gains.gain(analysis, *stages, row) if is_own else None
    if not found:
        return None
    is_same = finding.paper and not analysis.is_shared  # the paper's gain is one in throughput
    numbers = papers.numbers(finding.paper) if is_same else None
    return Judged(
        row,
        _verdict(found, _likeness if finding.is_equal else _direction),
        found.spread,
        is_lower_bound=found.is_lower_bound,
        paper=numbers.gain(finding.before, finding.after, row) if numbers else None,
    )


def _judge_scaling(finding: Scaling, row: str, analysis: Analysis) -> Judged | None:
    results = sorted(
        (
            result
            for result in analysis.results()
            if result.cell.fileserver_cores
            and (result.cell.stage, result.cell.row) == (finding.stage, row)
        ),
        key=lambda result: result.cell,
    )
    if len(results) < 2:
        return None
    fewest, most = results[0], results[-1]
    if analysis.is_shared:
        return Judged(row, CANNOT_TELL, remark=_OF_SHARED)
    found = gains.between(fewest, most)
    cores = fewest.cell.fileserver_cores, most.cell.fileserver_cores
    return Judged(
        row, _verdict(found, _direction), found.spread, cores, is_lower_bound=found.is_lower_bound
    )


def _verdict(found: gains.Gain, rule: Callable[[Spread], str]) -> str:
    return CANNOT_TELL if found.is_lower_bound else rule(found.spread)


def _direction(gain: Spread) -> str:
    """A gain is seen if the whole interval is above 1, and not seen if it is below any gain."""
    if not gain.is_interval:
        return _direction_of_few(gain)
    if gain.low > 1 and gain.median > _LEAST_GAIN:
        return SEEN
    return NOT_SEEN if gain.high < _LEAST_GAIN else CANNOT_TELL


def _direction_of_few(gain: Spread) -> str:
    if gain.count < _FEW:
        return CANNOT_TELL
    if gain.low > _LEAST_GAIN_OF_FEW:
        return SEEN
    return NOT_SEEN if gain.high < 1 / _LEAST_GAIN_OF_FEW else CANNOT_TELL


def _likeness(gain: Spread) -> str:
    """Likeness is shown by a narrow interval, not by a wide one that contains 1."""
    if not gain.is_interval:
        return CANNOT_TELL
    return inside(gain, 1 - _COMPARABLE, 1 + _COMPARABLE)


def _judge_limit(finding: Limit, row: str, analysis: Analysis) -> Judged | None:
    result = _in_own_store(analysis, finding.stage, row)
    if not result:
        return None
    verdicts = {_fits(finding, one) for one in result.verdict.alike}
    is_told = len(verdicts) == 1 and not result.is_lower_bound
    return Judged(
        row,
        verdicts.pop() if is_told else CANNOT_TELL,
        is_lower_bound=result.is_lower_bound,
        bottleneck=result.verdict.label,
    )


def _fits(finding: Limit, named: Resource) -> str:
    """Whether the finding holds if this resource is the limit."""
    is_kind = not finding.kind or named.kind == finding.kind
    if is_kind and finding.owner and finding.owner not in (*named.owners, *named.others):
        return CANNOT_TELL
    is_owner = not finding.owner or finding.owner in named.owners
    return SEEN if (is_kind and is_owner) != finding.is_absent else NOT_SEEN


def _in_own_store(analysis: Analysis, stage: str, row: str) -> CellResult | None:
    result = analysis.result(Cell(stage, row))
    is_own = result is not None and result.best.typical().store == catalog.stages()[stage].store
    return result if is_own else None
