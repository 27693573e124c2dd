"""Sums up the trials over many kept connections, by how many there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...analysis.passes import RATE, OfPasses
from ...plan.catalog import Cell
from ...plan.claims import Side
from ...procedures import checks
from ...results.records import Run
from . import KIND

P99, CPU, SWITCHES = "p99_ms", "cpu_s_each", "switches_each"
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
    def why_not(self) -> str:
        """Why none of its trials is valid, by the last reason that the last of them has, and by
        other programs only if there is no other; "" if one is valid.
        """
        if self.valid:
            return ""
        reasons = self.runs[-1].failures.split("; ")
        own = [one for one in reasons if not checks.may_pass_again(one)]
        return (own or reasons)[-1]

    def of_run(self, run: Run, name: str) -> float | None:
        return value_of(run, name)


def of_cell(stage: str, row: str, runs: Sequence[Run]) -> list[Step]:
    """In rising order of connections. runs are all of the folder."""
    cell = Cell(stage, row, workload=KIND.name)
    own = [run for run in runs if run.cell == cell]
    return [
        Step(cell, connections, [run for run in own if run.threads == connections])
        for connections in sorted({run.threads for run in own})
    ]


def measured(of: Side, row: str, runs: Sequence[Run], _discard: int) -> Step | None:
    """None where it was not."""
    steps = of_cell(of.stage, row, runs)
    return next((one for one in steps if one.connections == of.at), None)
