"""What a run will measure, and an estimate of how long it takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rig.cores import Cores

from ..kinds import CLIENT, CONNECTIONS, CROWD, FAILOVER, SCALE_OUT
from ..kinds.ramp import Ramp, Scale
from . import catalog, file_counts, machines
from .catalog import Cell, Experiment, Mode, Stage
from .machines import Machine
from .pinning import Placement, choose
from .planned import (
    INTERLEAVED,
    OVERHEAD_S,
    USUAL_CROWD,
    Pair,
    Planned,
    Sweep,
    pairs_of,
)

_TRIALS_OF_A_BLOCK = 4  # see procedures/side_by_side.py
_PAIR_START_S = 1.0  # of the servers of a block, whose store is up
NAMESPACE = "netns"  # the load generator runs on this machine, in a network namespace of its own
_PROFILE_S = 30.0
# Of a shared machine. Other programs change from second to second, so many short blocks tell most.
_SHARED_THREADS, _SHARED_BLOCKS, _SHARED_BLOCK_S = (8,), 8, 1.5
# Under valgrind, some fifty times slower.
_PROFILED_FILES, _PROFILED_S, _PROFILED_THREADS = 64, 10.0, 4


@dataclass(frozen=True, kw_only=True)
class Options:
    """The checked command line of `lab run`. A results folder has one, in environment.json."""

    experiments: tuple[str, ...]
    mode: str
    stages: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None
    threads: tuple[int, ...] | None = None
    channels: tuple[int, ...] | None = None  # of downloads; None: as the stage says
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
    keeps_series: bool = False  # of each run, what happened in each second
    machine: str = ""  # that of every stage; "": as the stage says
    memory_bytes: int | None = None  # for the program that serves files; None: as its machine says
    scale: float | None = None  # of ramps; None: as the mode says
    hosts: str = ""  # the file of the hosts that run testers; "": namespaces of this machine
    p99_ms: float | None = None  # under which an open loop keeps p99; None: the experiment's own
    client: str = ""  # where the load generator runs: here, in NAMESPACE, or on a host
    link: str = ""  # the rate of the link to it, if it runs in NAMESPACE
    is_shared: bool = False  # other programs use this machine meanwhile; CPU time alone is judged
    note: str = ""  # what the reader of the report must know of this run

    @property
    def has_remote_client(self) -> bool:
        """Whether the load comes from outside of this machine: from `client`, or from `hosts`."""
        return bool(self.hosts) or self.client not in ("", NAMESPACE)


@dataclass(frozen=True, kw_only=True)
class Plan:
    options: Options
    experiments: tuple[Experiment, ...]
    cells: tuple[Cell, ...]
    planned: Mapping[Cell, Planned]  # how each cell is measured, those of the pairs too
    stages: Mapping[str, Stage]
    mode: Mode
    file_counts: dict[str, int]  # size -> how many different files
    placement: Placement
    pairs: tuple[Pair, ...] = ()
    profiles: Mapping[str, Planned]  # experiment -> the load under which the fileserver is profiled
    making_s: float  # how long it takes to make the files that are missing

    @property
    def shared_threads(self) -> int | None:
        """The N of the blocks side by side, of a run that searches none."""
        options = self.options
        return max(options.threads or _SHARED_THREADS) if options.is_shared else None

    @property
    def most_threads(self) -> int:
        """The largest N that is sure to be tried. A search for users may go on beyond it."""
        return max((max(_tried(self.planned[cell])) for cell in self.cells), default=1)

    @property
    def machines(self) -> list[Machine]:
        """Those of the papers that cells are measured on."""
        used = (self.stages[cell.stage].machine for cell in self.cells)
        return list(dict.fromkeys(machine for machine in used if machine))

    @property
    def likely_points(self) -> int:
        return sum(self.planned[cell].likely_points for cell in self.cells)

    @property
    def seconds(self) -> float:
        """How long the run takes, as an estimate."""
        profiling_s = _PROFILE_S if self.profiles else 0.0
        cells_s = sum(self.planned[cell].seconds for cell in self.cells)
        trial_s = self.mode.block_seconds + OVERHEAD_S[False]
        pair_s = self.mode.blocks * (2 * _PAIR_START_S + _TRIALS_OF_A_BLOCK * trial_s)
        others_s = self.making_s + profiling_s + self._probing_s
        return others_s + cells_s + len(self.pairs) * pair_s

    @property
    def _probing_s(self) -> float:
        """Of the links of downloads, each once."""
        ways = dict.fromkeys(
            self.planned[cell].stage.link for cell in self.cells if cell.kind is CLIENT
        )
        known = [machines.link(way) for way in ways if way]
        return sum(sum(machines.probing_s(one, self.mode.seconds)) for one in known)


def _tried(planned: Planned) -> Sequence[int]:
    """N that are sure to be tried."""
    if planned.steps:
        return planned.steps
    return (USUAL_CROWD,) if planned.cell.kind is CROWD else planned.sweep.ladder


def experiments_of(options: Options) -> list[Experiment]:
    """Those of the command line, with the stages and rows that are to be measured.

    A load generator on another host keeps no series here, and reaches no namespace of this machine.
    """
    found = [
        one.narrowed(options.stages, options.rows, is_quick=options.mode == "quick")
        for one in catalog.choose_experiments(options.experiments)
    ]
    if not options.has_remote_client:
        return found
    return [replace(one, stages=()) if one.kind.is_here_only else one for one in found]


def make(
    options: Options, cores: Cores, files: Path, counts_before: Mapping[str, int] | None = None
) -> Plan:
    """counts_before are the numbers of files of a folder that this run resumes.

    It uses as many, although the disk has less room now. files is the folder of all files.
    """
    experiments = experiments_of(options)
    whole_mode = catalog.mode_of(experiments, options.mode)
    mode = _narrowed(whole_mode, options)
    cells = _cells(experiments, len(cores))
    is_paired = options.threads is None or options.is_shared
    pairs = pairs_of(experiments) if mode.blocks and is_paired else ()
    counts = file_counts.of_cells(experiments, cells, options.mode, files)
    if counts_before and counts_before.keys() == counts.keys():
        counts = dict(counts_before)
    parts = _Parts(
        options=options,
        mode=mode,
        stages=_stages(options),
        placement=Placement(options.pin, cores, not options.has_remote_client),
        file_counts=counts,
        p99_limit_ms=p99_limit_ms(options, experiments),
    )
    of_pairs = (cell for pair in pairs for cell in pair.cells)
    return Plan(
        options=options,
        experiments=tuple(experiments),
        cells=cells,
        planned={cell: parts.planned(cell) for cell in (*cells, *of_pairs)},
        stages=parts.stages,
        mode=mode,
        file_counts=counts,
        placement=parts.placement,
        pairs=pairs,
        profiles={
            one.name: parts.profiled(one) for one in experiments if _is_profile(one) and one.rows
        },
        making_s=file_counts.make_seconds(counts, files),
    )


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What the cells of a plan have in common."""

    options: Options
    mode: Mode
    stages: Mapping[str, Stage]
    placement: Placement
    file_counts: Mapping[str, int]
    p99_limit_ms: float

    def planned(self, cell: Cell) -> Planned:
        stage = self.stages[cell.stage]
        if self.options.link:
            stage = replace(stage, link=self.options.link)
        return Planned(
            cell=cell,
            stage=stage,
            size=catalog.sizes().get(cell.row),
            ramp=ramp_of(cell.row, self.options),
            file_count=file_counts.most_files(stage, self.file_counts.get(cell.row, 0)),
            mode=self._mode(cell, stage),
            sweep=self._sweep(cell),
            steps=self._steps(cell, stage),
            pinning=self.placement.of(cell),
            order=stage.order or self.options.order,
            gap_s=self.options.gap_s,
            is_held=self.options.is_held,
            keeps_series=self.options.keeps_series,
            p99_limit_ms=self.p99_limit_ms,
        )

    def profiled(self, experiment: Experiment) -> Planned:
        """A small load: under callgrind a server is slow, and may run on any core. What counts are
        instructions, so files are read again and again.
        """
        found = self.planned(Cell(experiment.stages[0], experiment.rows[0]))
        return replace(
            found,
            stage=replace(found.stage, cold=False),
            file_count=_PROFILED_FILES,
            mode=replace(self.mode, seconds=_PROFILED_S, warmup_s=0.0),
            steps=(_PROFILED_THREADS,),
            pinning=choose("none", self.placement.cores),
        )

    def _mode(self, cell: Cell, stage: Stage) -> Mode:
        """A failover takes longer than a point, and what is seen of it begins at once. Points of
        connections are many, and so they are short.
        """
        own = {
            FAILOVER.name: stage.failover,
            CONNECTIONS.name: stage.connections,
            SCALE_OUT.name: stage.cluster,
        }
        how = own.get(cell.workload)
        if how is None:
            return self.mode
        usual_s = how.quick_seconds if self.mode.name == "quick" else how.seconds
        return replace(self.mode, seconds=self.options.seconds or usual_s, warmup_s=how.warmup_s)

    def _sweep(self, cell: Cell) -> Sweep:
        stops = self.options.threads is None and not self.options.is_shared
        files = self.file_counts.get(cell.row)
        found = Sweep(self.mode.threads.get(cell.request, ()), self.mode.refinements, stops)
        return found.up_to(files) if files and found.stops else found

    def _steps(self, cell: Cell, stage: Stage) -> tuple[int, ...]:
        usual = (self.mode.name == "quick" and stage.quick_steps) or stage.steps
        if ramp := ramp_of(cell.row, self.options):
            return (ramp.clients,)
        if cell.kind is CLIENT and stage.download:
            most = stage.download.most_channels or max(self.options.channels or usual)
            return tuple(dict.fromkeys(min(k, most) for k in self.options.channels or usual))
        if cell.kind.takes_threads and self.options.threads:
            return self.options.threads
        return usual


def _is_profile(experiment: Experiment) -> bool:
    return "profile" in experiment.views


def _cells(experiments: Sequence[Experiment], core_count: int) -> tuple[Cell, ...]:
    """Each once, though several experiments show it."""
    measured = [experiment for experiment in experiments if not _is_profile(experiment)]
    found = [cell for one in measured for cell in catalog.cells_of(one, core_count)]
    return tuple(dict.fromkeys(found))


def p99_limit_ms(options: Options, experiments: Sequence[Experiment]) -> float:
    """Under which an open loop is to keep p99; 0 if no experiment has one."""
    limits = [one.p99_limit_ms for one in experiments if one.p99_limit_ms]
    return options.p99_ms or next(iter(limits), 0.0)


def ramp_of(row: str, options: Options) -> Ramp | None:
    """As it is measured with these options; None for a row that is no ramp."""
    ramp = catalog.ramps().get(row)
    if ramp is None:
        return None
    chosen = options.scale
    if options.threads:  # one number, see options.py
        ramp = replace(ramp, clients=options.threads[0])
    return ramp.scaled(Scale(time=chosen, file=chosen) if chosen else ramp.scales[options.mode])


def _stages(options: Options) -> Mapping[str, Stage]:
    """All of the papers, with what the command line says of each."""
    stages = _with_crowd(_with_store(catalog.stages(), options.store), options)
    return _with_machine(stages, options)


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
        chosen = machines.machines()[options.machine]
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
    if options.is_shared:
        mode = replace(
            mode,
            blocks=max(mode.blocks, _SHARED_BLOCKS),
            block_seconds=max(mode.block_seconds, _SHARED_BLOCK_S),
        )
    if options.threads is not None or options.is_shared:
        threads = dict.fromkeys(threads, options.threads or _SHARED_THREADS)
    return replace(
        mode,
        threads=threads,
        seconds=options.seconds or mode.seconds,
        repeat=options.repeat or mode.repeat,
    )
