"""What all trials of a run of the lab share, and the servers of one cell that are up for trials."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..plan import catalog
from ..plan.catalog import Cell, Mode, Stage
from ..plan.plan import Plan
from ..plan.setting import Setting
from ..results import transfer_table
from ..results.environment import Environment, StackRecord
from ..results.records import Folder, Run
from ..rig import control_group
from ..rig.control_group import ControlGroup, Limits
from ..rig.errors import Failed
from ..rig.place import Place
from ..rig.servers import Programs
from ..systems import fresh_files
from ..systems.system import Prepared, Running
from . import checks, measure
from .progress import Progress


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
    roots: dict[str, Path] = field(default_factory=dict)  # row -> what the fileserver serves

    def note_problem(self, what: object, error: Failed) -> None:
        self.progress.say(f"  {what}: {error}")
        self.environment.problems[str(what)] = str(error)
        self.folder.write_environment(self.environment)

    @contextmanager
    def opened(self, cell: Cell, system: Prepared, place: Place, mode: Mode) -> Iterator[Trials]:
        """Fresh servers of this cell, until the block is left."""
        stage = self.plan.stages[cell.stage]
        pins = self.plan.placement.of(cell)
        conditions = measure.Conditions(
            mode=mode,
            size=catalog.sizes().get(cell.row),
            file_count=self.plan.file_counts.get(cell.row, 0),
            is_cold=stage.cold,
            loadgen_flags=stage.loadgen,
            crowd=stage.crowd,
            same_file=stage.same_file,
            is_held=self.plan.options.is_held,
            fresh=stage.fresh,
            pinning=pins,
            programs=self.programs,
            files_folder=self.work / "files",
            root=self.roots[cell.row],
            logs=self.folder.path / "logs",
            place=place,
        )
        with (
            self._served(stage, cell) as root,
            self._part_of_the_host(stage) as group,
            system.running(
                cell, pins, root, conditions.logs, place, tuple(group.prefix) if group else ()
            ) as servers,
        ):
            if group:
                group.limit_cache()
            self._record(cell, servers, pins.meaning, place)
            trials = Trials(self, servers, replace(conditions, root=root, group=group))
            yield trials
        trials.check_counts()

    def _served(self, stage: Stage, cell: Cell) -> AbstractContextManager[Path]:
        """The folder with the files of the cell, or one for files that trials make anew."""
        return fresh_files.folder(self.work) if stage.fresh else nullcontext(self.roots[cell.row])

    @contextmanager
    def _part_of_the_host(self, stage: Stage) -> Iterator[ControlGroup | None]:
        """For the program that serves files; None if it may use all of the host."""
        limits = stage.machine or (Limits() if self.plan.options.is_held else None)
        if limits is None:
            yield None
            return
        with control_group.limited(limits, self.work) as group:
            yield group

    def _record(self, cell: Cell, servers: Running, meaning: str, place: Place) -> None:
        self.environment.stacks[cell.slug] = StackRecord(
            commands=servers.commands(),
            pinning=meaning,
            store=servers.store,
            store_settings=servers.settings,
            durability=servers.durability,
            topology=place.title,
        )
        self.environment.problems.pop(str(cell), None)
        self.folder.write_environment(self.environment)


class Trials:
    """Makes trials on servers that are up. Every finished one is in the folder."""

    def __init__(self, bench: Bench, servers: Running, conditions: measure.Conditions):
        self._bench = bench
        self._servers = servers
        self._conditions = conditions
        self._made: set[int] = set()
        self._requests: int | None = 1  # the account's

    def make(self, setting: Setting, repeat: int, pair: str = "") -> Run:
        """pair is that of a comparison side by side; "" in a sweep."""
        bench, cell = self._bench, self._servers.cell
        if self._made:
            time.sleep(bench.plan.options.gap_s)
        bench.progress.begin(cell, setting, repeat)
        measured = measure.point(self._servers, self._conditions, setting, repeat)
        made = measured.made_in_all
        self._requests = None if self._requests is None or made is None else self._requests + made
        run = bench.folder.add(replace(measured.run, pair=pair), measured.evidence)
        if measured.transfers:
            transfer_table.add(bench.folder.path, run, measured.transfers)
        bench.runs.append(run)
        self._made.add(run.trial)
        return run

    def check_counts(self) -> None:
        """Every trial is invalid when the servers' counts differ from those of their clients.

        Requires: the servers have stopped.
        """
        failure = checks.served_matches(self._servers.counts(), self._requests)
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
