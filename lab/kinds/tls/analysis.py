"""Sums up the trials in TLS and in clear, and finds what each is held against."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...analysis import intervals
from ...analysis.intervals import Spread
from ...analysis.passes import OfPasses
from ...plan import catalog
from ...plan.catalog import Cell, Stage
from ...plan.claims import Side
from ...results.records import Run
from . import KIND, SERVER, Encryption, carried

CPU, OF_ALL = "cpu_s_each", "cpu_s_of_all_each"  # of what a file passes; of all servers
RATE_OF_A_CORE = "rate_of_a_core"  # of what a file passes


@dataclass(frozen=True)
class TlsResult(OfPasses):
    """All valid trials of a stage at a row, with its largest number of users; there is one."""

    stage: Stage
    how: Encryption
    runs: list[Run]

    def of_run(self, run: Run, name: str) -> float | None:
        if name == OF_ALL:
            return run.for_each_request(run.servers_cores)
        if name not in (CPU, RATE_OF_A_CORE):
            return super().of_run(run, name)
        used = {each: one.cpu_cores for each, one in run.usage.components.items()}
        each = run.for_each_request(carried(used)) or None
        return 1 / each if each and name == RATE_OF_A_CORE else each


def of_stages(runs: Sequence[Run], stages: Sequence[Stage], row: str) -> list[TlsResult]:
    """In the order of the stages; of those that were measured."""
    found = (_of_stage(runs, stage, row) for stage in stages)
    return [one for one in found if one]


def _of_stage(runs: Sequence[Run], stage: Stage, row: str) -> TlsResult | None:
    cell = Cell(stage.name, row, workload=KIND.name)
    own = [run for run in runs if run.cell == cell and run.is_valid]
    most = max((run.threads for run in own), default=0)
    at = [run for run in own if run.threads == most]
    return TlsResult(stage, stage.encryption, at) if at and stage.encryption else None


def measured(of: Side, row: str, runs: Sequence[Run], _discard: int) -> TlsResult | None:
    """None where it was not."""
    return _of_stage(runs, catalog.stages()[of.stage], row)


Others = Sequence[TlsResult]


def _first(others: Others, fits: Callable[[TlsResult], bool]) -> TlsResult | None:
    return next((one for one in others if fits(one)), None)


def in_clear(one: TlsResult, others: Others) -> TlsResult | None:
    """The same server without encryption, with connections that are kept, or new ones, alike."""
    is_kept = one.how.connections == Encryption.connections
    return _first(
        others,
        lambda other: (
            _server(other) == _server(one)
            and not other.how.by
            and (other.how.connections == Encryption.connections) == is_kept
        ),
    )


def its_own(one: TlsResult, others: Others) -> TlsResult | None:
    """The same server, which encrypts by itself and in the same way."""
    wanted = replace(one.how, by=SERVER)
    return _first(others, lambda other: _server(other) == _server(one) and other.how == wanted)


def other_servers(one: TlsResult, others: Others) -> TlsResult | None:
    """The server of others that does the same: it has no store that it asks. None for itself."""
    if not one.stage.store:
        return None
    return _first(others, lambda other: not other.stage.store and other.how == one.how)


def _server(one: TlsResult) -> tuple[str, tuple[str, ...]]:
    return one.stage.system, one.stage.fileserver


def added(one: TlsResult, clear: TlsResult) -> Spread | None:
    """CPU seconds of what a file passes, beyond those in clear, within each pass."""
    ours, theirs = one.by_pass(CPU), clear.by_pass(CPU)
    found = [ours[repeat] - theirs[repeat] for repeat in ours.keys() & theirs.keys()]
    return intervals.spread(found) if found else None
