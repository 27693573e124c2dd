"""Sums up the trials over many kept connections, by how many there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...analysis import passes
from ...analysis.intervals import Spread
from ...analysis.passes import OfPasses
from ...plan.catalog import Cell
from ...plan.claims import ConnectionsRatio
from ...procedures import checks
from ...results.records import Run
from ..ramp.findings import Told
from . import KIND

RATE, P99, CPU, SWITCHES = "throughput_rps", "p99_ms", "cpu_s_each", "switches_each"
RESIDENT = "resident_bytes"
_SERVER = "fileserver"  # that of others is called so too

_COMPUTED: Mapping[str, Callable[[Run], float | None]] = {
    RATE: lambda run: run.throughput_rps,
    P99: lambda run: run.p99_ms,
    CPU: lambda run: run.for_each_request(run.used_cores(_SERVER)),
    SWITCHES: lambda run: run.for_each_request(run.figure("server_switches_per_s")),
    RESIDENT: lambda run: _resident_bytes(run),
}


def _resident_bytes(run: Run) -> float | None:
    used = run.usage.components.get(_SERVER)
    return used.resident_bytes if used else None


def value_of(run: Run, name: str) -> float | None:
    """Of a figure of the workload, or of one of the names above. None if it was not measured."""
    return _COMPUTED[name](run) if name in _COMPUTED else run.figure(name)


@dataclass(frozen=True)
class Step(OfPasses):
    """All trials of a cell with one number of connections; there is one at least."""

    cell: Cell
    connections: int
    runs: list[Run]

    @property
    def valid(self) -> list[Run]:
        return [run for run in self.runs if run.is_valid]

    @property
    def why_not(self) -> str:
        """Why none of its trials is valid, by the last reason that the last of them has, and by
        other programs only if there is no other; "" if one is valid.
        """
        if self.valid:
            return ""
        reasons = self.runs[-1].failures.split("; ")
        own = [one for one in reasons if not checks.may_pass_again(one)]
        return (own or reasons)[-1]

    def by_pass(self, name: str) -> dict[int, float]:
        found = ((run.repeat, value_of(run, name)) for run in self.valid)
        return {repeat: value for repeat, value in found if value is not None}


def of_cell(stage: str, row: str, runs: Sequence[Run]) -> list[Step]:
    """In rising order of connections. runs are all of the folder."""
    cell = Cell(stage, row, workload=KIND.name)
    own = [run for run in runs if run.cell == cell]
    return [
        Step(cell, connections, [run for run in own if run.threads == connections])
        for connections in sorted({run.threads for run in own})
    ]


def ratio(one: Step, other: Step, name: str) -> Spread | None:
    """one / other, within each pass. None where one has no value, or where one is not above 0."""
    return passes.ratio(one.by_pass(name), other.by_pass(name))


def judge(finding: ConnectionsRatio, row: str, runs: Sequence[Run]) -> Told | None:
    """None where something of it was not measured."""
    one = _with(of_cell(finding.stage, row, runs), finding.connections)
    other = _with(of_cell(finding.than, row, runs), finding.than_connections)
    found = ratio(one, other, finding.figure) if one and other else None
    return passes.judge(found, finding.above, finding.below)


def _with(steps: Sequence[Step], connections: int) -> Step | None:
    return next((one for one in steps if one.connections == connections), None)
