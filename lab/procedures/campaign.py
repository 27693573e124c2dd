"""Measures the cells of a plan, pass by pass. Points that the folder already has are skipped."""

from __future__ import annotations

import time
from itertools import groupby
from typing import Protocol

from ..observe import extents, host
from ..plan import catalog, file_counts
from ..plan.catalog import CROWD, NEW, Cell
from ..plan.plan import BLOCKED, measured_in_order
from ..plan.setting import Setting
from ..results.records import Run
from ..rig import iperf3
from ..rig.errors import Failed
from ..rig.host import raise_descriptor_limit
from ..rig.place import LOOPBACK, Place
from ..systems import files, known, places
from ..systems.system import Prepared
from . import checks, side_by_side
from .bench import Bench
from .fixed_order import FixedOrder
from .knee_sweep import KneeSweep
from .offered_load import OfferedLoad
from .user_search import UserSearch, most_users

_TRIES = 2  # of one command at a point that other programs disturb


class Procedure(Protocol):
    """Says which point of a cell comes next. It knows only the cell's runs so far."""

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        """None when this pass is complete."""

    def points_in_all(self, runs: list[Run]) -> int | None:
        """None as long as it is not known."""


class Campaign:
    """One run of the lab. KeyboardInterrupt ends it early; every finished point is in the folder.

    Threads: one.
    """

    def __init__(self, bench: Bench):
        self._bench = bench
        self._plan = bench.plan
        self._started_s = time.time()

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
        side_by_side.run(self._bench)

    def _make_files(self) -> None:
        sizes = catalog.sizes()
        for name, count in self._plan.file_counts.items():
            missing = count - file_counts.present_count(sizes[name], self._bench.work / "files")
            if missing > 0:
                self._bench.progress.say(f"making {missing} files of {name}")
            root = files.make(sizes[name], count, self._bench.work / "files")
            self._bench.roots[name] = root
            if pieces := extents.of_files(sorted(root.glob(f"{name}*.txt"))):
                self._bench.environment.extents[name] = extents.sentence(pieces)
        empty = self._bench.work / "files" / "none"
        empty.mkdir(parents=True, exist_ok=True)
        self._bench.roots[NEW] = empty

    def _measure_stage(self, stage_name: str, cells: list[Cell], repeat: int) -> None:
        """What its cells share is made once for the whole stage; each has fresh servers."""
        bench, stage = self._bench, self._plan.stages[stage_name]
        logs, cores = bench.folder.path / "logs", self._plan.placement.of_run().cores["store"]
        try:
            with (
                known.of(stage).prepared(stage, bench.programs, bench.work, cores) as system,
                places.reached(self._plan.options, stage, logs) as place,
            ):
                self._probe(place)
                for cell in cells:
                    try:
                        self._measure_cell(cell, system, place, repeat)
                    except Failed as error:
                        bench.note_problem(cell, error)
        except Failed as error:
            for cell in cells:
                bench.note_problem(cell, error)

    def _measure_cell(self, cell: Cell, system: Prepared, place: Place, repeat: int) -> None:
        """Each crowd has fresh servers: it may take all memory, and some do not survive it."""
        while self._next(cell, repeat) is not None:
            with self._bench.opened(cell, system, place, self._plan.mode) as trials:
                while (setting := self._next(cell, repeat)) is not None:
                    run = trials.make(setting, self._number(cell, setting, repeat))
                    self._bench.progress.expect(self._points_in_all())
                    self._bench.progress.end(cell, setting, run.throughput_rps, run.failures)
                    if cell.workload == CROWD:
                        break

    def _probe(self, place: Place) -> None:
        """Measures once what the link carries: every verdict on a run over it uses the result.

        It also writes down what is at its other end, if that is another machine.
        """
        if place.name == LOOPBACK or place.name in self._bench.environment.link_probes:
            return
        if described := place.lscpu():
            self._bench.environment.clients[place.name] = host.hardware_in(described)
        self._bench.progress.say(f"measuring the link with iperf3: {place.title}")
        try:
            carried = iperf3.measure(
                self._plan.mode.seconds, self._bench.folder.path / "logs", place=place
            )
        except Failed as error:
            self._bench.environment.problems[f"link: {place.name}"] = str(error)
        else:
            self._bench.environment.problems.pop(f"link: {place.name}", None)
            self._bench.environment.link_probes[place.name] = carried
        self._bench.folder.write_environment(self._bench.environment)

    def _next(self, cell: Cell, repeat: int) -> Setting | None:
        disturbed = self._disturbed(cell, repeat)
        if disturbed is not None:
            return disturbed.setting
        return self._procedure(cell).next_setting(self._runs_of(cell), repeat)

    def _number(self, cell: Cell, setting: Setting, repeat: int) -> int:
        """Of the repetition: that of the pass, or of the trial in its block."""
        if not self._is_blocked(cell):
            return repeat
        disturbed = self._disturbed(cell, repeat)
        if disturbed is not None:
            return disturbed.repeat
        return 1 + len({run.repeat for run in self._runs_of(cell) if run.setting == setting})

    def _is_blocked(self, cell: Cell) -> bool:
        """Whether all repetitions of one of its points are made in a row."""
        order = self._plan.stages[cell.stage].order or self._plan.options.order
        return order == BLOCKED and bool(self._plan.steps(cell))

    def _procedure(self, cell: Cell) -> Procedure:
        mode = self._plan.mode
        if steps := self._plan.steps(cell):
            return FixedOrder(steps, mode.repeat, self._is_blocked(cell))
        if cell.workload == CROWD and mode.crowd:
            _, descriptors = raise_descriptor_limit()
            is_ftp = "ftp" in self._plan.stages[cell.stage].loadgen
            return UserSearch(mode.crowd, most_users(descriptors, is_ftp))
        sweep = KneeSweep(self._plan.sweep(cell), mode.repeat)
        return OfferedLoad(sweep, self._plan.p99_limit_ms) if cell.is_open else sweep

    def _runs_of(self, cell: Cell) -> list[Run]:
        return [run for run in self._bench.runs if run.cell == cell and not run.pair]

    def _disturbed(self, cell: Cell, repeat: int) -> Run | None:
        """A disturbed run of this pass whose point this command may try once more."""
        runs = self._runs_of(cell)
        for run in runs:
            if run.repeat != repeat and not self._is_blocked(cell):
                continue
            point = (run.setting, run.repeat)
            tries = [other for other in runs if (other.setting, other.repeat) == point]
            is_spoiled = all(checks.may_pass_again(one.failures) for one in tries)
            if is_spoiled and sum(one.started_unix_s >= self._started_s for one in tries) < _TRIES:
                return run
        return None

    def _points_in_all(self) -> int:
        """An estimate for the cells whose procedure cannot tell yet."""
        total = 0
        for cell in self._plan.cells:
            runs = self._runs_of(cell)
            known = self._procedure(cell).points_in_all(runs)
            total += max(self._plan.likely_points(cell), len(runs) + 1) if known is None else known
        return total
