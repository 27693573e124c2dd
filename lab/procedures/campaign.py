"""Measures the cells of a plan, pass by pass. Points that the folder already has are skipped."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ..plan import catalog, file_counts
from ..plan.catalog import NEW, Cell
from ..plan.plan import Plan, measured_in_order
from ..plan.setting import Setting
from ..results.environment import Environment, StackRecord
from ..results.records import Folder, Run
from ..rig import iperf3, stores
from ..rig.errors import Failed
from ..rig.place import LOOPBACK, Place
from ..rig.servers import Programs
from ..rig.stores import Store
from ..systems import files, places, stack
from . import checks, measure
from .knee_sweep import KneeSweep
from .offered_load import OfferedLoad
from .progress import Progress

_TRIES = 2  # of one command at a point that other programs disturb


class Campaign:
    """One run of the lab. KeyboardInterrupt ends it early; every finished point is in the folder.

    Threads: one.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Folder,
        environment: Environment,
        programs: Programs,
        work: Path,
        progress: Progress,
    ):
        self._plan = plan
        self._folder = folder
        self._programs = programs
        self._work = work
        self._progress = progress
        self._runs = folder.runs()
        self._started_s = time.time()
        self._environment = environment  # shared with the caller; written after every change
        self._roots: dict[str, Path] = {}

    def run(self) -> None:
        self._make_files()
        for repeat in range(1, self._plan.mode.repeat + 1):
            cells = [
                cell
                for cell in measured_in_order(self._plan, repeat)
                if self._next(cell, repeat) is not None
            ]
            for stage_name, group in groupby(cells, key=lambda cell: cell.stage):
                self._measure_stage(stage_name, list(group), repeat)

    def _make_files(self) -> None:
        sizes = catalog.sizes()
        for name, count in self._plan.file_counts.items():
            missing = count - file_counts.present_count(sizes[name], self._work / "files")
            if missing > 0:
                self._progress.say(f"making {missing} files of {name}")
            self._roots[name] = files.make(sizes[name], count, self._work / "files")
        empty = self._work / "files" / "none"
        empty.mkdir(parents=True, exist_ok=True)
        self._roots[NEW] = empty

    def _measure_stage(self, stage_name: str, cells: list[Cell], repeat: int) -> None:
        """A fresh store for the whole stage, fresh servers for each of its cells."""
        stage = self._plan.stages[stage_name]
        try:
            cores = self._plan.placement.of_run().cores["store"]
            store = stores.start(stage.store, self._work / "stores", cores)
        except Failed as error:
            for cell in cells:
                self._note_problem(cell, error)
            return
        try:
            with places.reached(self._plan.options, stage, self._folder.path / "logs") as place:
                self._probe(place)
                for cell in cells:
                    try:
                        self._measure_cell(cell, store, place, repeat)
                    except Failed as error:
                        self._note_problem(cell, error)
        except Failed as error:
            for cell in cells:
                self._note_problem(cell, error)
        finally:
            store.stop()

    def _measure_cell(self, cell: Cell, store: Store, place: Place, repeat: int) -> None:
        stage = self._plan.stages[cell.stage]
        pins = self._plan.placement.of(cell)
        conditions = measure.Conditions(
            mode=self._plan.mode,
            size=catalog.sizes().get(cell.row),
            file_count=self._plan.file_counts.get(cell.row, 0),
            is_cold=stage.cold,
            loadgen_flags=stage.loadgen,
            pinning=pins,
            programs=self._programs,
            files_folder=self._work / "files",
            logs=self._folder.path / "logs",
            place=place,
        )
        if store.program:
            store.program.move_to(pins.cores["store"])
        made_here: list[Run] = []
        requests: int | None = 1  # the account's
        with stack.running(
            cell,
            stage,
            store,
            pins,
            self._programs,
            self._roots[cell.row],
            conditions.logs,
            place=place,
        ) as servers:
            self._record_stack(cell, servers, pins.meaning, place)
            while (setting := self._next(cell, repeat)) is not None:
                self._progress.begin(cell, setting, repeat)
                run, evidence, made = measure.point(servers, conditions, setting, repeat)
                requests = None if requests is None or made is None else requests + made
                run = self._folder.add(run, evidence)
                self._runs.append(run)
                made_here.append(run)
                self._progress.expect(self._points_in_all())
                self._progress.end(cell, setting, run.throughput_rps, run.failures)
        self._check_counts(made_here, checks.served_matches(servers.counts(), requests))

    def _probe(self, place: Place) -> None:
        """Measures once what the link carries: every verdict on a run over it uses the result."""
        if place.name == LOOPBACK or place.name in self._environment.link_probes:
            return
        self._progress.say(f"measuring the link with iperf3: {place.title}")
        try:
            carried = iperf3.measure(
                self._plan.mode.seconds, self._folder.path / "logs", place=place
            )
        except Failed as error:
            self._environment.problems[f"link: {place.name}"] = str(error)
        else:
            self._environment.problems.pop(f"link: {place.name}", None)
            self._environment.link_probes[place.name] = carried
        self._folder.write_environment(self._environment)

    def _next(self, cell: Cell, repeat: int) -> Setting | None:
        disturbed = self._disturbed(cell, repeat)
        if disturbed is not None:
            return disturbed
        return self._procedure(cell).next_setting(self._runs_of(cell), repeat)

    def _procedure(self, cell: Cell) -> KneeSweep | OfferedLoad:
        sweep = KneeSweep(self._plan.sweeps[cell.request], self._plan.mode.repeat)
        if not cell.is_open:
            return sweep
        return OfferedLoad(sweep, self._plan.p99_limit_ms)

    def _runs_of(self, cell: Cell) -> list[Run]:
        return [run for run in self._runs if run.cell == cell]

    def _disturbed(self, cell: Cell, repeat: int) -> Setting | None:
        """That of a disturbed point that this command may try once more; None if there is none."""
        runs = [run for run in self._runs_of(cell) if run.repeat == repeat]
        for run in runs:
            tries = [other for other in runs if other.setting == run.setting]
            is_spoiled = all(checks.may_pass_again(one.failures) for one in tries)
            if is_spoiled and sum(one.started_unix_s >= self._started_s for one in tries) < _TRIES:
                return run.setting
        return None

    def _points_in_all(self) -> int:
        """An estimate for the cells whose procedure cannot tell yet."""
        total = 0
        for cell in self._plan.cells:
            runs = self._runs_of(cell)
            known = self._procedure(cell).points_in_all(runs)
            total += max(self._plan.likely_points(cell), len(runs) + 1) if known is None else known
        return total

    def _check_counts(self, made_here: list[Run], failure: str) -> None:
        """Every point of a server is invalid when its counts differ from those of its clients."""
        if not failure:
            return
        trials = {run.trial for run in made_here}
        self._runs = [_failed(run, failure) if run.trial in trials else run for run in self._runs]
        self._folder.replace(self._runs)
        self._progress.say(f"  INVALID: {failure}")

    def _record_stack(self, cell: Cell, servers: stack.Stack, meaning: str, place: Place) -> None:
        self._environment.stacks[cell.slug] = StackRecord(
            commands=servers.commands(),
            pinning=meaning,
            store=servers.store.kind,
            store_settings=servers.store.settings,
            durability=servers.store.durability,
            topology=place.title,
        )
        self._environment.problems.pop(str(cell), None)
        self._folder.write_environment(self._environment)

    def _note_problem(self, cell: Cell, error: Failed) -> None:
        self._progress.say(f"  {cell}: {error}")
        self._environment.problems[str(cell)] = str(error)
        self._folder.write_environment(self._environment)


def _failed(run: Run, failure: str) -> Run:
    return replace(run, failures="; ".join(filter(None, (run.failures, failure))))
