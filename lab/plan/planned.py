"""A planned cell: all that a run has to know of it. It travels whole, from the plan to the load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rig.control_group import Limits

from ..kinds import BURST, CLIENT, CROWD, FAILOVER
from ..kinds.ramp import Ramp
from . import catalog, machines
from .catalog import Cell, Experiment, Mode, Size, Stage
from .pinning import Pinning

INTERLEAVED, CYCLED, BLOCKED = "interleaved", "cycled", "blocked"
# In addition to the measured seconds and the warm-up: start and result of the load generator, and
# dropping caches at a cold stage (True).
OVERHEAD_S = {False: 0.4, True: 1.2}
STACK_START_S = 3.0
_PLACE_START_S = 2.0  # of a server and the link to a client
_HOSTS_START_S = 4.0  # of namespaces and testers, and of collecting what they measured
USUAL_CROWD = 1000
_SMALL_CROWD = 250  # of a server with little memory
_LIKELY_POINTS = 7  # of a sweep until it is flat, with the far point, refinements apart
_LIKELY_REPEATED_POINTS = 4  # see sweep.worth_repeating
_OFFERED_POINTS = 10  # of an open loop, in each pass; see offered_load.SHARES
_LIKELY_TRIALS = 9  # of the search for the most users
_USUAL_BYTES_S = 100e6  # over loopback, from a disk


@dataclass(frozen=True)
class Sweep:
    """How a cell is swept. If it does not stop, exactly the N of the ladder are measured."""

    ladder: tuple[int, ...]
    refinements: int
    stops: bool = True

    def up_to(self, most: int) -> Sweep:
        """With this N in place of all that are larger."""
        ladder = dict.fromkeys(min(threads, most) for threads in self.ladder)
        return replace(self, ladder=tuple(ladder))


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A cell, and how it is measured."""

    cell: Cell
    stage: Stage
    size: Size | None  # None for `new`, and for a ramp
    ramp: Ramp | None = None  # scaled as it is measured
    file_count: int  # different files of this size
    mode: Mode
    sweep: Sweep  # with no more threads than there are files: each asks for files of its own
    steps: tuple[int, ...] = ()  # exactly these N, in this order; (): its procedure chooses
    pinning: Pinning
    order: str = INTERLEAVED  # of the repetitions
    gap_s: float = 0.0  # between two trials of the same servers
    is_held: bool = False  # the program that serves files does not run while all of a burst ask
    keeps_series: bool = False  # what happened in each second, whatever the workload needs
    p99_limit_ms: float = 0.0  # under which an open loop keeps p99; 0: it has none

    @property
    def is_blocked(self) -> bool:
        """Whether all repetitions of one of its points are made in a row."""
        return self.order == BLOCKED and bool(self.steps)

    @property
    def has_fresh_servers(self) -> bool:
        """Whether each of its points has servers of its own. Crowds and ramps may take all memory,
        and some do not survive it. What idle connections take is seen only where none were before.
        """
        how = self.stage.connections
        return self.cell.kind is CROWD or bool(self.ramp or (how and how.busy))

    @property
    def limits(self) -> Limits | None:
        """Of the program that serves files; None where it may use all of the host."""
        return self.stage.machine or (Limits() if self.is_held else None)

    @property
    def likely_points(self) -> int:
        """Of all passes."""
        if self.steps:
            return len(self.steps) * self.mode.repeat
        if self.cell.kind is CROWD:
            return _LIKELY_TRIALS
        if self.cell.kind is FAILOVER:
            return self.mode.repeat
        if self.cell.is_open:
            return _LIKELY_POINTS + _OFFERED_POINTS * self.mode.repeat + _LIKELY_POINTS
        first = len(self.sweep.ladder)
        if self.sweep.stops:
            first = min(first, _LIKELY_POINTS) + self.sweep.refinements
        return first + (self.mode.repeat - 1) * min(first, _LIKELY_REPEATED_POINTS)

    @property
    def seconds(self) -> float:
        """How long all its passes take, as an estimate."""
        if self.cell.kind is CROWD:
            return self.likely_points * self._crowd_seconds()
        if self.cell.kind is BURST:
            return self.mode.repeat * self._bursts_seconds()
        if self.cell.kind is CLIENT:
            return self.mode.repeat * self._fetches_seconds()
        if self.ramp:
            return self.likely_points * (self.ramp.length_s + _HOSTS_START_S + STACK_START_S)
        point_s = self.mode.seconds + self.mode.warmup_s + OVERHEAD_S[self.stage.cold]
        starts = len(self.steps) if self.has_fresh_servers else 1
        pass_s = starts * STACK_START_S + self._connecting_s()
        return self.likely_points * point_s + self.mode.repeat * pass_s

    def _connecting_s(self) -> float:
        how = self.stage.connections
        return sum(map(how.connecting_s, self.steps)) if how else 0.0

    def _bursts_seconds(self) -> float:
        """Of all steps of a pass, by what their link or their disk carries at most."""
        assert self.size  # a burst is of files
        machine = self.stage.machine
        rates = (
            [machines.link(self.stage.link).bits_per_s / 8] if self.stage.link else [_USUAL_BYTES_S]
        )
        if machine and machine.read_bytes_per_s:
            rates.append(machine.read_bytes_per_s)
        transfer_s = self.size.size_bytes / min(rates)
        once_s = sum(n * transfer_s + OVERHEAD_S[self.stage.cold] for n in self.steps)
        return once_s + self.gap_s * (len(self.steps) - 1) + STACK_START_S

    def _fetches_seconds(self) -> float:
        """Of all steps of a pass, by what the link carries, or the window of each channel."""
        assert self.size  # see options.py
        link, window_bytes = machines.link(self.stage.link), self.stage.tcp.window_bytes
        most = link.bits_per_s / 8 if link.rate else _USUAL_BYTES_S
        each = 1000 * window_bytes / link.delay_ms if window_bytes and link.delay_ms else most
        fetches_s = sum(self.size.size_bytes / min(most, k * each) for k in self.steps)
        how = self.stage.download
        begun_again_s = how.kills * OVERHEAD_S[True] + how.stuck_s if how else 0.0
        each_s = OVERHEAD_S[True] + begun_again_s
        return fetches_s + len(self.steps) * each_s + _PLACE_START_S

    def _crowd_seconds(self) -> float:
        """Of one trial: start, first fetch, and until it is stable."""
        trial, crowd, machine = self.mode.crowd, self.stage.crowd, self.stage.machine
        assert trial and crowd and self.size  # see options.py
        usual = _SMALL_CROWD if machine and machine.memory_bytes else USUAL_CROWD
        steps = self.steps or (usual,)
        starting_s = sum(steps) / len(steps) / trial.starts_per_s
        return (
            starting_s + self.size.size_bytes / crowd.rate_bytes_s + trial.stable_s + STACK_START_S
        )


@dataclass(frozen=True)
class Setting:
    """What differs between the points of a cell.

    threads is N of a closed loop. In an open one it is the most requests under way.
    """

    threads: int
    offered_rps: float | None = None  # of an open loop; None in a closed one

    def __str__(self) -> str:
        return f"N={self.threads}" if self.offered_rps is None else f"{self.offered_rps:g}/s"


_VIEWS_OF_GAINS = {"maxima", "before_after", "bars"}


@dataclass(frozen=True)
class Pair:
    """Two stages whose gain is measured side by side at a row."""

    before: str
    after: str
    row: str

    @property
    def name(self) -> str:
        """Without the row, which every run has."""
        return f"{self.before}:{self.after}"

    @property
    def cells(self) -> tuple[Cell, Cell]:
        return Cell(self.before, self.row), Cell(self.after, self.row)

    def __str__(self) -> str:
        return f"{self.after} beside {self.before}, {catalog.row_title(self.row)}"


def pairs_of(experiments: Sequence[Experiment]) -> tuple[Pair, ...]:
    """Each stage with the one before it, in experiments that show gains."""
    chosen = [experiment for experiment in experiments if _VIEWS_OF_GAINS & set(experiment.views)]
    return tuple(
        dict.fromkeys(
            Pair(before, after, row)
            for experiment in chosen
            for before, after in zip(experiment.stages, experiment.stages[1:])
            for row in experiment.rows
        )
    )
