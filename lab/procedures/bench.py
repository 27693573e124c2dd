"""What all trials of a run of the lab share, and the servers of one cell that are up for trials."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from rig import clocks, control_group, files, hosts, nodes, remote, wire
from rig.control_group import ControlGroup, Limits
from rig.errors import Failed, NotValid
from rig.nodes import Nodes
from rig.place import HERE, Place
from rig.servers import Programs

from ..observe import host
from ..plan import machines
from ..plan.catalog import NEW, Stage
from ..plan.plan import Plan
from ..plan.planned import Planned, Setting
from ..results import records
from ..results.environment import Environment, StackRecord
from ..results.records import Folder, Run
from ..systems import fresh_files, known
from ..systems.clients import known as clients
from ..systems.clients.client import Client
from ..systems.system import Prepared, Site
from . import checks, measure
from .progress import Progress
from .stand import Stand

_DELAY_LINE = "lab/delay_line"  # in the folder of the programs
_MOST_LOST = 3  # points in a row; then the machine is no place to measure on now
_NO_GROUP = "memory and CPU time of the control group of servers"  # a problem of this name


@dataclass(frozen=True)
class Ready:
    """What all cells of a stage share."""

    system: Prepared
    place: Place  # where the load generator runs
    client: Client | None = None  # the program that fetches a file


@dataclass(kw_only=True)
class Bench:
    """One run of the lab. environment is shared with the caller; it is written after every change.

    Threads: one.
    """

    plan: Plan
    folder: Folder
    environment: Environment
    programs: Programs
    work: Path
    progress: Progress
    runs: list[Run]  # all of the folder
    is_anyway: bool = False  # goes on however many points are lost
    watch: Callable[[Folder], None] | None = None  # is told of each point that is in the folder
    lost: int = 0  # points in a row that other programs disturbed, at each try
    roots: dict[str, Path] = field(default_factory=dict)  # row -> what the fileserver serves

    def note_problem(self, what: object, error: Failed) -> None:
        self.progress.say(f"  {what}: {error}")
        self.environment.problems[str(what)] = str(error)
        self.folder.write_environment(self.environment)

    def note_tried(self, failures: str, *, is_last_try: bool) -> None:
        """After each try of a point, or of a block. NotValid once too many in a row are lost."""
        if self.watch:
            self.watch(self.folder)
        if not checks.may_pass_again(failures):
            self.lost = 0
            return
        self.lost += is_last_try
        if self.lost >= _MOST_LOST and not self.is_anyway:
            raise NotValid(
                f"other programs disturbed {self.lost} points in a row, and the run has stopped: "
                f"close them and repeat the command with --out {self.folder.path}, or add --anyway "
                "to go on; --shared, in another folder, judges by CPU time beside them"
            )

    @contextmanager
    def ready(self, stage: Stage) -> Iterator[Ready]:
        """What its cells share, until the block is left."""
        cores = self.plan.placement.of_run().cores["store"]
        with (
            known.of(stage).prepared(stage, self.programs, self.work, cores) as system,
            self._reached(stage) as place,
        ):
            how = stage.download
            yield Ready(
                system, place, clients.of(how.client, self.work, self.programs) if how else None
            )

    @contextmanager
    def _reached(self, stage: Stage) -> Iterator[Place]:
        """Where the load generator runs: here, in a second namespace, or on another host.

        A ramp comes from many hosts; see _nodes().
        """
        options = self.plan.options
        link = machines.link(options.link or stage.link)
        if options.hosts:
            yield HERE
        elif options.has_remote_client:
            with remote.logged_in(options.client) as client:
                yield client
        elif options.client or link.rate:
            delay_line = self.programs.path(_DELAY_LINE)
            with wire.laid(link, self.folder.path / "logs", delay_line, stage.tcp) as end:
                yield end
        else:
            yield HERE

    @contextmanager
    def opened(self, planned: Planned, ready: Ready) -> Iterator[Trials]:
        """Fresh servers of this cell, until the block is left."""
        with (
            self._served(planned) as root,
            self._part_of_the_host(planned) as group,
            self._nodes(planned) as nodes,
            self._running(planned, ready, nodes, root, group) as stand,
        ):
            if group:
                group.limit_cache()
            self._record(stand)
            trials = Trials(self, stand)
            yield trials
        trials.check_counts()

    @contextmanager
    def _running(
        self,
        planned: Planned,
        ready: Ready,
        nodes: Nodes | None,
        root: Path,
        group: ControlGroup | None,
    ) -> Iterator[Stand]:
        prefix = tuple(group.prefix) if group else ()
        logs = self.folder.path / "logs"
        place = nodes.seen_from_here() if nodes else ready.place
        site = Site(root=root, logs=logs, place=place, wrapper=prefix)
        with ready.system.running(planned.cell, planned.pinning, site) as servers:
            yield Stand(
                planned=planned,
                servers=servers,
                site=site,
                group=group,
                nodes=nodes,
                client=ready.client,
                carries_bytes_s=self.environment.carries_bytes_per_s(place.name),
                programs=self.programs,
                files_folder=self.work / "files",
            )

    def _nodes(self, planned: Planned) -> AbstractContextManager[Nodes | None]:
        """The hosts that a ramp comes from; None for another load."""
        ramp, logs = planned.ramp, self.folder.path / "logs"
        if ramp is None:
            return nullcontext(None)
        if self.plan.options.hosts:
            return hosts.logged_in_all(Path(self.plan.options.hosts))
        return nodes.laid(ramp.hosts, ramp.server_link, logs)

    def _served(self, planned: Planned) -> AbstractContextManager[Path]:
        """The folder with the files of the cell, or one for files that trials make or write."""
        if planned.stage.fresh:
            return fresh_files.folder(self.work)
        if planned.ramp:
            return nullcontext(self.roots[NEW])
        root, row, stage = self.roots[planned.cell.row], planned.cell.row, planned.stage
        if stage.mix or stage.connections or stage.cluster or stage.encryption:
            names = [f"{row}{number}.txt" for number in range(1, planned.file_count + 1)]
            return files.linked_folder(self.work, root, names)
        return nullcontext(root)

    @contextmanager
    def _part_of_the_host(self, planned: Planned) -> Iterator[ControlGroup | None]:
        """For the program that serves files; None where it has no group.

        That of a ramp or of connections has one without limits too, as far as this host can have
        any: the memory and the CPU time of all its processes are those of the group.
        """
        with ExitStack() as stack:
            if planned.limits:
                group = stack.enter_context(control_group.limited(planned.limits, self.work))
                try:
                    yield group
                except Failed as error:
                    raise Failed(group.why_killed() or str(error)) from error
            elif planned.ramp or planned.stage.connections:
                yield self._group_if_possible(stack)
            else:
                yield None

    def _group_if_possible(self, stack: ExitStack) -> ControlGroup | None:
        problems = self.environment.problems
        try:
            group = stack.enter_context(control_group.limited(Limits(), self.work))
        except Failed as error:
            if _NO_GROUP not in problems:
                self.note_problem(_NO_GROUP, error)
            return None
        problems.pop(_NO_GROUP, None)
        return group

    def _record(self, stand: Stand) -> None:
        cell, servers = stand.planned.cell, stand.servers
        self.environment.stacks[cell.slug] = StackRecord(
            commands=servers.commands(),
            pinning=stand.planned.pinning.meaning,
            store=servers.store,
            store_settings=servers.settings,
            durability=servers.durability,
            topology=stand.site.place.title,
            link=self._link(stand),
            mtu=host.mtu(stand.site.place.interface),
            client=f"{stand.client.package} {stand.client.version}" if stand.client else "",
        )
        self.environment.problems.pop(str(cell), None)
        self.folder.write_environment(self.environment)

    def _link(self, stand: Stand) -> str:
        """Of namespaces it is the one that they share; on other hosts, that of our interface."""
        ramp, options = stand.planned.ramp, self.plan.options
        if ramp and not options.hosts:
            return ramp.server_link
        return host.speed(stand.site.place.interface)


class Trials:
    """Makes trials on servers that are up. Every finished one is in the folder."""

    def __init__(self, bench: Bench, stand: Stand):
        self._bench = bench
        self._stand = stand
        self._made: set[int] = set()
        self._requests: int | None = 1  # the account's

    def make(self, setting: Setting, repeat: int, pair: str = "") -> Run:
        """pair is that of a comparison side by side; "" in a sweep."""
        bench, planned = self._bench, self._stand.planned
        if self._made:
            time.sleep(planned.gap_s)
        bench.progress.begin(planned.cell, setting, repeat)
        measured = measure.point(self._stand, setting, repeat)
        made = measured.made_in_all
        self._requests = None if self._requests is None or made is None else self._requests + made
        run = bench.folder.add(
            replace(self._as_it_counts(measured.run), pair=pair), measured.evidence
        )
        if measured.transfers:
            records.add_transfers(bench.folder.path, run, measured.transfers)
        if measured.clocks:
            clocks.write(bench.folder.path / "clocks" / f"{run.name}.csv", measured.clocks)
        bench.runs.append(run)
        self._made.add(run.trial)
        return run

    def _as_it_counts(self, run: Run) -> Run:
        if not self._bench.plan.options.is_shared:
            return run
        failures, remarks = checks.on_a_shared_machine(run.failures)
        return replace(run, failures=failures, notes="; ".join(filter(None, (run.notes, remarks))))

    def check_counts(self) -> None:
        """Every trial is invalid when the servers' counts differ from those of their clients.

        Requires: the servers have stopped.
        """
        failure = checks.served_matches(self._stand.servers.counts(), self._requests)
        if not failure:
            return
        bench = self._bench
        bench.runs[:] = [
            _failed(run, failure) if run.trial in self._made else run for run in bench.runs
        ]
        bench.folder.replace(bench.runs)
        bench.progress.say(f"  INVALID: {failure}")


def _failed(run: Run, failure: str) -> Run:
    return replace(run, failures="; ".join(filter(None, (run.failures, failure))))
