"""What a run will measure, and an estimate of how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..rig import wire
from ..rig.cores import Cores
from . import catalog, file_counts
from .catalog import BURST, CROWD, NEW, Cell, Experiment, Mode, Stage
from .machines import Machine, machine
from .pinning import Placement

# In addition to the measured seconds and the warm-up: start and result of the load generator, and
# dropping caches at a cold stage (True).
_OVERHEAD_S = {False: 0.4, True: 1.2}
_STACK_START_S = 3.0
_TRIALS_OF_A_BLOCK = 4  # see procedures/side_by_side.py
_VIEWS_OF_GAINS = {"maxima", "before_after", "bars"}
_PROFILE_S = 30.0
NAMESPACE = "netns"  # the load generator runs on this machine, in a network namespace of its own
_LIKELY_POINTS = 7  # of a sweep until it is flat, with the far point, refinements apart
_OFFERED_POINTS = 10  # of an open loop, in each pass; see offered_load.SHARES
_LIKELY_TRIALS = 9  # of the search for the most users
_USUAL_CROWD = 1000
_SMALL_CROWD = 250  # of a server with little memory
INTERLEAVED, CYCLED, BLOCKED = "interleaved", "cycled", "blocked"
_USUAL_BYTES_S = 100e6  # over loopback, from a disk
_LIKELY_REPEATED_POINTS = 4  # see sweep.worth_repeating


@dataclass(frozen=True, kw_only=True)
class Options:
    """The checked command line of `lab run`. A results folder has one, in environment.json."""

    experiments: tuple[str, ...]
    mode: str
    stages: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None
    threads: tuple[int, ...] | None = None
    seconds: float | None = None
    repeat: int | None = None
    store: str | None = None
    pin: str
    rate_bytes_s: float | None = None  # of each user of a crowd; None: as the stage says
    engine: str | None = None  # of a crowd; None: as the stage says
    order: str = INTERLEAVED  # of the repetitions
    gap_s: float = 0.0  # between two trials of the same servers
    discard: int = 0  # of the first repetitions of bursts, that are in no table
    is_held: bool = False  # the program that serves files does not run while all of a burst ask
    machine: str = ""  # that of every stage; "": as the stage says
    memory_bytes: int | None = None  # for the program that serves files; None: as its machine says
    p99_ms: float | None = None  # under which an open loop keeps p99; None: the experiment's own
    client: str = ""  # where the load generator runs: here, in NAMESPACE, or on a host
    link: str = ""  # the rate of the link to it, if it runs in NAMESPACE
    note: str = ""  # what the reader of the report must know of this run

    @property
    def has_remote_client(self) -> bool:
        return self.client not in ("", NAMESPACE)


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


@dataclass(frozen=True, kw_only=True)
class Plan:
    options: Options
    experiments: tuple[Experiment, ...]
    cells: tuple[Cell, ...]
    stages: Mapping[str, Stage]
    mode: Mode
    sweeps: dict[str, Sweep]  # request -> how it is swept
    file_counts: dict[str, int]  # size -> how many different files
    placement: Placement
    pairs: tuple[Pair, ...] = ()
    p99_limit_ms: float = 0.0

    @property
    def most_threads(self) -> int:
        """The largest N that is sure to be tried. A search for users may go on beyond it."""
        ladders = [sweep.ladder for sweep in self.sweeps.values()]
        named = [steps for cell in self.cells if (steps := self.steps(cell))]
        searched = [(_USUAL_CROWD,)] if any(cell.workload == CROWD for cell in self.cells) else []
        return max((max(numbers) for numbers in (*ladders, *named, *searched)), default=1)

    def seconds_estimate(self, files_folder: Path) -> float:
        sizes = catalog.sizes()
        making_s = sum(
            file_counts.make_seconds(sizes[name], count, files_folder)
            for name, count in self.file_counts.items()
        )
        profiling_s = (
            _PROFILE_S
            if any("profile" in experiment.views for experiment in self.experiments)
            else 0.0
        )
        cells_s = sum(self.cell_seconds(cell) for cell in self.cells)
        return making_s + profiling_s + cells_s + len(self.pairs) * self._pair_seconds()

    def _pair_seconds(self) -> float:
        trial_s = self.mode.block_seconds + _OVERHEAD_S[False]
        return 2 * _STACK_START_S + _TRIALS_OF_A_BLOCK * self.mode.blocks * trial_s

    def cell_seconds(self, cell: Cell) -> float:
        if cell.workload == CROWD:
            return self.likely_points(cell) * self._crowd_seconds(cell)
        if cell.workload == BURST:
            return self._bursts_seconds(cell)
        points = self.likely_points(cell)
        point_s = self.mode.seconds + self.mode.warmup_s + _OVERHEAD_S[self.stages[cell.stage].cold]
        return points * point_s + self.mode.repeat * _STACK_START_S

    def _bursts_seconds(self, cell: Cell) -> float:
        """Of all steps of all passes, by what their link or their disk carries at most."""
        stage = self.stages[cell.stage]
        rates = [wire.bits_per_s(stage.link) / 8] if stage.link else [_USUAL_BYTES_S]
        if stage.machine and stage.machine.read_bytes_per_s:
            rates.append(stage.machine.read_bytes_per_s)
        transfer_s = catalog.sizes()[cell.row].size_bytes / min(rates)
        once_s = sum(n * transfer_s + _OVERHEAD_S[stage.cold] for n in self.steps(cell))
        gaps_s = self.options.gap_s * (len(self.steps(cell)) - 1)
        return self.mode.repeat * (once_s + gaps_s + _STACK_START_S)

    def _crowd_seconds(self, cell: Cell) -> float:
        """Of one trial: start, first fetch, and until it is stable."""
        stage, trial = self.stages[cell.stage], self.mode.crowd
        crowd, machine = stage.crowd, stage.machine
        assert trial and crowd  # see make()
        fetch_s = catalog.sizes()[cell.row].size_bytes / crowd.rate_bytes_s
        usual = _SMALL_CROWD if machine and machine.memory_bytes else _USUAL_CROWD
        steps = self.steps(cell) or (usual,)
        return (
            sum(steps) / len(steps) / trial.starts_per_s + fetch_s + trial.stable_s + _STACK_START_S
        )

    def steps(self, cell: Cell) -> tuple[int, ...]:
        """Exactly these N of a cell, in this order; () if its procedure chooses."""
        if cell.workload in (CROWD, BURST) and self.options.threads:
            return self.options.threads
        stage = self.stages[cell.stage]
        return (self.mode.name == "quick" and stage.quick_steps) or stage.steps

    def sweep(self, cell: Cell) -> Sweep:
        """With no more threads than there are files: each thread asks for files of its own."""
        found, files = self.sweeps[cell.request], self.file_counts.get(cell.row)
        return found.up_to(files) if files and found.stops else found

    def likely_points(self, cell: Cell) -> int:
        if steps := self.steps(cell):
            return len(steps) * self.mode.repeat
        if cell.workload == CROWD:
            return _LIKELY_TRIALS
        if cell.is_open:
            return _LIKELY_POINTS + _OFFERED_POINTS * self.mode.repeat + _LIKELY_POINTS
        sweep = self.sweep(cell)
        first = len(sweep.ladder)
        if sweep.stops:
            first = min(first, _LIKELY_POINTS) + sweep.refinements
        return first + (self.mode.repeat - 1) * min(first, _LIKELY_REPEATED_POINTS)


def experiments_of(options: Options) -> list[Experiment]:
    """Those of the command line, with the stages and rows that are to be measured."""
    return [
        one.narrowed(options.stages, options.rows, is_quick=options.mode == "quick")
        for one in catalog.choose_experiments(options.experiments)
    ]


def make(options: Options, cores: Cores, files_folder: Path) -> Plan:
    experiments = experiments_of(options)
    stages = _with_crowd(_with_store(catalog.stages(), options.store), options)
    stages = _with_machine(stages, options)
    cells = list(
        dict.fromkeys(
            cell
            for experiment in experiments
            for cell in catalog.cells_of(experiment, len(cores))
            if "profile" not in experiment.views
        )
    )
    mode = _narrowed(catalog.mode_of(experiments, options.mode), options)
    sweeps = {
        request: Sweep(ladder, mode.refinements, stops=options.threads is None)
        for request, ladder in mode.threads.items()
    }
    sizes = catalog.sizes()
    rows = {row for experiment in experiments for row in experiment.rows if row != NEW}
    many = {cell.row for cell in cells if cell.workload != CROWD}  # a crowd shares one file
    counts = {
        row: file_counts.wanted_count(sizes[row], options.mode, files_folder) if row in many else 1
        for row in sizes
        if row in rows
    }
    return Plan(
        options=options,
        experiments=tuple(experiments),
        cells=tuple(cells),
        stages=stages,
        mode=mode,
        sweeps=sweeps,
        file_counts=counts,
        placement=Placement(options.pin, cores, not options.has_remote_client),
        pairs=_pairs(experiments, options) if mode.blocks and options.threads is None else (),
        p99_limit_ms=p99_limit_ms(options, experiments),
    )


def _pairs(experiments: Sequence[Experiment], options: Options) -> tuple[Pair, ...]:
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


def p99_limit_ms(options: Options, experiments: Sequence[Experiment]) -> float:
    """Under which an open loop is to keep p99; 0 if no experiment has one."""
    limits = [one.p99_limit_ms for one in experiments if one.p99_limit_ms]
    return options.p99_ms or next(iter(limits), 0.0)


def measured_in_order(plan: Plan, repeat: int) -> list[Cell]:
    """The cells of one pass, in the order in which they are measured.

    The cells of a stage are together, because they share a store. Every second pass goes backwards,
    so that a drift of the machine does not affect one stage more than others. A cycle does not.
    """
    order = {stage: index for index, stage in enumerate(plan.stages)}
    cells = sorted(plan.cells, key=lambda cell: order[cell.stage])
    is_forward = repeat % 2 or plan.options.order == CYCLED
    return cells if is_forward else cells[::-1]


def _with_store(stages: Mapping[str, Stage], store: str | None) -> Mapping[str, Stage]:
    if store is None:
        return stages
    return {
        name: replace(stage, store=store) if stage.store else stage
        for name, stage in stages.items()
    }


def _with_crowd(stages: Mapping[str, Stage], options: Options) -> Mapping[str, Stage]:
    """With the chosen rate and engine, where a stage has a crowd."""
    chosen: dict[str, Any] = {}
    if options.rate_bytes_s is not None:
        chosen["rate_bytes_s"] = options.rate_bytes_s
    if options.engine is not None:
        chosen["engine"] = options.engine
    return {
        name: replace(stage, crowd=replace(stage.crowd, **chosen)) if stage.crowd else stage
        for name, stage in stages.items()
    }


def _with_machine(stages: Mapping[str, Stage], options: Options) -> Mapping[str, Stage]:
    """With the chosen machine, and on it the chosen memory."""
    if options.machine:
        chosen = machine(options.machine)
        limited = chosen if chosen.has_limits else None
        stages = {name: replace(stage, machine=limited) for name, stage in stages.items()}
    if options.memory_bytes is None:
        return stages
    return {
        name: replace(stage, machine=_with_memory(stage.machine, options.memory_bytes))
        for name, stage in stages.items()
    }


def _with_memory(chosen: Machine | None, memory_bytes: int) -> Machine:
    """All memory that the programs may use, in place of a page cache beside them."""
    chosen = chosen or Machine()
    name = f"{chosen.name} with {memory_bytes >> 10:,} KiB".removeprefix(" with ")
    return replace(chosen, name=name, memory_bytes=memory_bytes, cache_bytes=None)


def _narrowed(mode: Mode, options: Options) -> Mode:
    threads = mode.threads
    if options.threads is not None:
        threads = dict.fromkeys(threads, options.threads)
    return replace(
        mode,
        threads=threads,
        seconds=options.seconds or mode.seconds,
        repeat=options.repeat or mode.repeat,
    )
