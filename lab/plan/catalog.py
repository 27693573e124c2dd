"""What can be measured: the stages, sizes, modes and experiments of all papers."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rig.errors import WrongUsage
from rig.link import AS_IT_IS, Tcp

from ..kinds import CLOSED_LOOP, CROWD, KINDS, OPEN_LOOP, RAMP
from ..kinds.client import Download
from ..kinds.connections import Connections
from ..kinds.crowd import Crowd
from ..kinds.failover import Failover
from ..kinds.kind import Kind
from ..kinds.mix import Mix
from ..kinds.ramp import Ramp
from ..kinds.scale_out import Cluster
from ..kinds.tls import Encryption
from . import papers
from .from_json import from_json
from .machines import Machine, machine

COMPONENTS = ("fileserver", "authserver", "store", "loadgen")
MAIN_PAPER = "002"  # what "all" means
NEW = "new"  # the row that makes accounts; others are the size of a get, or the name of a ramp


@dataclass(frozen=True)
class Stage:
    """A named set of flags. Its files must come from the disk if it is cold."""

    name: str
    title: str
    store: str  # "" for a system that does not ask our authserver
    cold: bool
    authserver: tuple[str, ...]
    fileserver: tuple[str, ...]
    loadgen: tuple[str, ...]
    link: str = ""  # the rate of the link to the load generator; "" is loopback
    system: str = "turnstile"  # whom it runs against, see systems/known.py
    crowd: Crowd | None = None  # how the users of a crowd behave
    same_file: bool = False  # all transfers of a burst are of one file; else each has its own
    machine: Machine | None = None  # what serves the files; None: this host
    steps: tuple[int, ...] = ()  # exactly these N, in this order; (): the procedure chooses
    quick_steps: tuple[int, ...] = ()  # of --quick; (): as above
    fresh: str = ""  # how the files of each burst are made anew: see systems/fresh_files.py
    order: str = ""  # of its repetitions: "interleaved" or "blocked"; "": as --order says
    failover: Failover | None = None  # how a server is killed under it
    mix: Mix | None = None  # what its users do
    download: Download | None = None  # by which program a file is fetched
    connections: Connections | None = None  # how many of them ask
    cluster: Cluster | None = None  # the hosts behind a proxy
    encryption: Encryption | None = None  # who encrypts, with which key, and how often
    rows: tuple[str, ...] = ()  # only these of its experiment; (): all
    tcp: Tcp = AS_IT_IS  # of the link to the load generator

    @property
    def passwords(self) -> str:
        """How passwords are kept. Rates of `new` are only comparable with the same scheme."""
        flags = self.authserver
        return (
            flags[flags.index("--password-scheme") + 1]
            if "--password-scheme" in flags
            else "argon2id"
        )


@dataclass(frozen=True)
class Size:
    name: str
    size_bytes: int
    files: dict[str, int]  # mode -> the most different files that a run asks for


@dataclass(frozen=True, kw_only=True)
class CrowdTrial:
    """How a crowd is tried, and how the most users that hold are searched."""

    stable_s: float  # the number of users must not change for so long
    starts_per_s: float  # users that begin, in a second
    first_users: int
    close_enough: float  # the search ends when more users by this factor do not hold
    confirmations: int  # trials of the most users that must agree


@dataclass(frozen=True)
class Mode:
    """How long and how often points are measured."""

    name: str
    seconds: float
    warmup_s: float
    repeat: int
    refinements: int
    threads: dict[str, tuple[int, ...]]  # request -> the N of a sweep
    blocks: int = 0  # of each gain that is measured side by side
    block_seconds: float = 0.0  # of a trial in it
    crowd: CrowdTrial | None = None  # None: this paper has no crowds


@dataclass(frozen=True, kw_only=True)
class Experiment:
    name: str
    paper: str  # its number
    title: str
    stages: tuple[str, ...]
    rows: tuple[str, ...]
    views: tuple[str, ...]
    numbers: str = ""  # the paper's table that has its numbers
    fileserver_cores: str = ""  # "each": the fileserver gets 1 … n cores in turn
    workload: str = CLOSED_LOOP.name
    p99_limit_ms: float = 0.0  # of an open loop: the rate is searched that keeps p99 under it
    quick_stages: tuple[str, ...] = ()  # of --quick; (): all
    quick_rows: tuple[str, ...] = ()  # of --quick; (): all

    @property
    def kind(self) -> Kind:
        return KINDS[self.workload]

    @property
    def each_core_count(self) -> bool:
        return self.fileserver_cores == "each"

    def narrowed(
        self,
        chosen_stages: tuple[str, ...] | None,
        chosen_rows: tuple[str, ...] | None,
        *,
        is_quick: bool = False,
    ) -> Experiment:
        """With the chosen rows only. Chosen stages replace its own, if it has any.

        Of a crowd, chosen rows replace its own too: the users can ask for any file. Of a failover,
        a mix, a ramp, a download, connections, hosts and TLS only its own stages can be chosen:
        others do not say what is killed, or written, by which program a file is fetched, who is
        idle, or who encrypts.
        Where nothing is chosen, a quick run may have fewer.
        """
        own, rows = self.stages, self.rows
        if is_quick and chosen_stages is None and self.quick_stages:
            own = self.quick_stages
        if is_quick and chosen_rows is None and self.quick_rows:
            rows = self.quick_rows
        if self.kind is CROWD and chosen_rows is not None:
            rows = tuple(row for row in chosen_rows if row != NEW)
        if self.kind.has_own_stages and chosen_stages is not None:
            chosen_stages = tuple(name for name in own if name in chosen_stages)
        return replace(
            self,
            stages=chosen_stages if chosen_stages is not None and own else own,
            rows=tuple(row for row in rows if chosen_rows is None or row in chosen_rows),
        )


@dataclass(frozen=True, order=True)
class Cell:
    """What is swept: a stage and a row. fileserver_cores is 0 where it is not limited.

    A closed loop is swept over N, an open one over the offered load.
    """

    stage: str
    row: str
    fileserver_cores: int = 0
    workload: str = CLOSED_LOOP.name

    @property
    def kind(self) -> Kind:
        return KINDS[self.workload]

    @property
    def is_open(self) -> bool:
        return self.kind is OPEN_LOOP

    @property
    def request(self) -> str:
        if self.kind is RAMP:
            return "put"
        return NEW if self.row == NEW else "get"

    @property
    def slug(self) -> str:
        cores = f"-{self.fileserver_cores}cores" if self.fileserver_cores else ""
        return f"{self.stage}-{self.row}{cores}{self.kind.suffix}"

    def __str__(self) -> str:
        cores = f", fileserver cores: {self.fileserver_cores}" if self.fileserver_cores else ""
        return f"{self.stage}, {row_title(self.row)}{cores}{self.kind.title}"


def row_title(row: str) -> str:
    return row if row == NEW or row in ramps() else f"get {row}"


@cache
def stages() -> Mapping[str, Stage]:
    return {name: _stage(name, entry) for _, name, entry in papers.entries("stages.json")}


def _stage(name: str, entry: Mapping[str, Any]) -> Stage:
    """An entry has the name of its machine only."""
    found = machine(entry["machine"]) if "machine" in entry else None
    return replace(from_json(Stage, {**entry, "name": name, "machine": None}), machine=found)


@cache
def sizes() -> Mapping[str, Size]:
    """Those of all papers. A size of two papers is the same size."""
    return {
        name: Size(name, entry["bytes"], entry["files"])
        for paper in papers.names()
        for name, entry in papers.read(paper, "method.json")["sizes"].items()
    }


@cache
def ramps() -> Mapping[str, Ramp]:
    """Those of all papers, unscaled."""
    return {
        name: from_json(Ramp, {**entry, "name": name})
        for paper in papers.names()
        for name, entry in papers.read(paper, "method.json").get("ramps", {}).items()
    }


@cache
def modes() -> Mapping[tuple[str, str], Mode]:
    """By the number of the paper and the name of the mode."""
    return {
        (paper, name): from_json(Mode, {**entry, "name": name})
        for paper in papers.names()
        for name, entry in papers.read(paper, "method.json")["modes"].items()
    }


def mode_of(chosen: Sequence[Experiment], name: str) -> Mode:
    """That of their paper. WrongUsage when papers with different modes are mixed in one run."""
    found = {one.paper: modes()[one.paper, name] for one in chosen}
    first, *others = found.values()
    if any(other != first for other in others):
        raise WrongUsage(
            f"the papers {', '.join(found)} measure in different ways; run them one after the other"
        )
    return first


@cache
def experiments() -> Mapping[str, Experiment]:
    return {
        name: from_json(Experiment, {**entry, "name": name, "paper": paper})
        for paper, name, entry in papers.entries("experiments.json")
    }


def choose_experiments(names: Sequence[str]) -> list[Experiment]:
    """In the order of the data. A paper's number is all of its experiments, and "all" is the main
    paper: others measure in other ways. WrongUsage for an unknown name.
    """
    known = experiments()
    names = [MAIN_PAPER if name == "all" else name for name in names]
    for name in names:
        if name not in (*known, *papers.names()):
            there = instead(name, (*known, *papers.names(), "all"))
            raise WrongUsage(f"no experiment '{name}'{there}")
    return [one for one in known.values() if {one.name, one.paper} & set(names)]


def in_order(stage_names: Sequence[str]) -> list[str]:
    """In the order of the data file; a stage that it no longer has comes last."""
    known = list(stages())
    return sorted(stage_names, key=lambda name: known.index(name) if name in known else len(known))


def cells_of(experiment: Experiment, core_count: int) -> list[Cell]:
    core_counts = (
        range(1, core_count - kept_from_fileserver(core_count) + 1)
        if experiment.each_core_count
        else (0,)
    )
    return [
        Cell(stage, row, cores, experiment.workload)
        for stage in experiment.stages
        for row in experiment.rows
        if row in (stages()[stage].rows or experiment.rows)
        for cores in core_counts
    ]


def kept_from_fileserver(core_count: int) -> int:
    """How many cores the other components keep while the number of the fileserver's cores varies.

    One for each of them if as many are left for the fileserver; else 0, and all share all cores.
    """
    others = len(COMPONENTS) - 1
    return others if core_count >= 2 * others else 0


_FEW = 12  # names that are listed rather than guessed


def instead(name: str, known: Collection[str]) -> str:
    """Follows "no thing 'name'" in a message: the names, or those that are like it."""
    if len(known) <= _FEW:
        return f"; there are: {', '.join(known)}"
    close = difflib.get_close_matches(name, known)
    guess = f": did you mean {' or '.join(close)}?" if close else ";"
    return f"{guess} `lab list --all` has all names"
