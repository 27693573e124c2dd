"""Compares each of the paper's findings with our measurements: confirmed, refuted or undecided.

A finding about a gain is confirmed if our gain has the paper's direction and exceeds the noise of
both measurements. It is refuted if our gain has the opposite direction, and undecided in between. A
stage that ran with another store than its own is not compared.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..plan import catalog
from ..plan.catalog import Cell
from ..plan.claims import Claim, Gain, Limit, Scaling
from . import intervals
from .cells import Analysis, CellResult
from .intervals import Spread
from .verdict import Resource

CONFIRMED, REFUTED, UNDECIDED = "confirmed", "refuted", "undecided"
_NOISE = 0.03  # two medians of short runs may differ by this much by chance
_NOISE_OF_FEW = 0.10  # the same with too few runs for an interval
_COMPARABLE = 0.15  # the largest difference that is called comparable


@dataclass(frozen=True)
class Judged:
    """The judgment of one row, with the figures that it stands on."""

    row: str
    verdict: str
    gain: Spread | None = None  # None for a finding about a bottleneck
    cores: tuple[int, int] | None = None  # of the fileserver, before and after, if they differ
    is_lower_bound: bool = False  # one of the two maxima was not reached
    bottleneck: str = ""


def judge(finding: Claim, analysis: Analysis) -> list[Judged]:
    """A judgment for each row of the finding that was measured."""
    return [one for row in finding.rows if (one := _judge_row(finding, row, analysis))]


def _judge_row(finding: Claim, row: str, analysis: Analysis) -> Judged | None:
    if isinstance(finding, Gain):
        return _judge_gain(finding, row, analysis)
    if isinstance(finding, Limit):
        return _judge_limit(finding, row, analysis)
    return _judge_scaling(finding, row, analysis)


def _judge_gain(finding: Gain, row: str, analysis: Analysis) -> Judged | None:
    before, after = (
        _in_own_store(analysis, finding.before, row),
        _in_own_store(analysis, finding.after, row),
    )
    if not before or not after:
        return None
    gain = intervals.paired_ratio(_throughputs(after), _throughputs(before))
    if before.is_lower_bound or after.is_lower_bound:
        return Judged(row, UNDECIDED, gain, is_lower_bound=True)
    return Judged(row, _likeness(gain) if finding.is_equal else _direction(gain), gain)


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
    gain = intervals.paired_ratio(_throughputs(most), _throughputs(fewest))
    cores = fewest.cell.fileserver_cores, most.cell.fileserver_cores
    return Judged(row, _direction(gain), gain, cores)


def _direction(gain: Spread) -> str:
    noise = _NOISE if gain.is_interval else _NOISE_OF_FEW
    if gain.median > 1 + noise and gain.low > 1:
        return CONFIRMED
    return REFUTED if gain.median < 1 - noise and gain.high < 1 else UNDECIDED


def _likeness(gain: Spread) -> str:
    if gain.high < 1 - _COMPARABLE or gain.low > 1 + _COMPARABLE:
        return REFUTED
    return CONFIRMED if 1 - _COMPARABLE <= gain.median <= 1 + _COMPARABLE else UNDECIDED


def _judge_limit(finding: Limit, row: str, analysis: Analysis) -> Judged | None:
    result = _in_own_store(analysis, finding.stage, row)
    if not result:
        return None
    named = result.verdict.named
    verdict = _fits(finding, named) if named else UNDECIDED
    return Judged(row, verdict, bottleneck=result.verdict.label)


def _fits(finding: Limit, named: Resource) -> str:
    is_kind = not finding.kind or named.kind == finding.kind
    is_owner = not finding.owner or finding.owner in named.owners
    if is_kind and is_owner and finding.owner and len(named.owners) > 1:
        return UNDECIDED
    return CONFIRMED if (is_kind and is_owner) != finding.is_absent else REFUTED


def _in_own_store(analysis: Analysis, stage: str, row: str) -> CellResult | None:
    result = analysis.result(Cell(stage, row))
    is_own = result is not None and result.best.typical().store == catalog.stages()[stage].store
    return result if is_own else None


def _throughputs(result: CellResult) -> dict[int, float]:
    return {run.repeat: run.throughput_rps for run in result.best.runs}
