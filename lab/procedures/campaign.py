"""Measures the cells of a plan, pass by pass. Points that the folder already has are skipped."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from rig import files
from rig.errors import Failed

from ..observe import residency
from ..plan import catalog
from ..plan.catalog import NEW
from ..plan.planned import CYCLED, Planned, Setting
from ..results.records import Run
from . import checks, probes, side_by_side
from .bench import Bench, Ready
from .sweep import FixedOrder, KneeSweep

_TRIES = 2  # of one command at a point that other programs disturb


class Procedure(Protocol):
    """Says which point of a cell comes next. It knows only the cell's runs so far."""

    def next_setting(self, runs: list[Run], repeat: int) -> Setting | None:
        """None when this pass is complete."""

    def points_in_all(self, runs: list[Run]) -> int | None:
        """None as long as it is not known."""


def make_files(bench: Bench) -> None:
    """All that the plan asks for; they are the bench's roots then."""
    folder = bench.work / "files"
    for name, count in bench.plan.file_counts.items():
        missing = count - files.present_count(folder, name)
        if missing > 0:
            bench.progress.say(f"making {missing} files of {name}")
        root = files.filled(folder, name, catalog.sizes()[name].size_bytes, count)
        bench.roots[name] = root
        if pieces := residency.of_files(sorted(root.glob(f"{name}*.txt"))):
            bench.environment.extents[name] = residency.sentence(pieces)
    bench.roots[NEW] = folder / "none"
    bench.roots[NEW].mkdir(parents=True, exist_ok=True)


class Campaign:
    """One run of the lab. KeyboardInterrupt ends it early; every finished point is in the folder.

    Threads: one.
    """

    def __init__(self, bench: Bench):
        self._bench = bench
        started_s = time.time()
        planned = bench.plan.planned
        self._courses = [Course(planned[cell], bench.runs, started_s) for cell in bench.plan.cells]

    def run(self) -> None:
        make_files(self._bench)
        for repeat in range(1, self._bench.plan.mode.repeat + 1):
            courses = [one for one in self._in_order(repeat) if one.next(repeat) is not None]
            for _, group in groupby(courses, key=lambda one: one.planned.cell.stage):
                self._measure_stage(list(group), repeat)
        side_by_side.run(self._bench)

    def _in_order(self, repeat: int) -> list[Course]:
        """The cells of one pass, in the order in which they are measured.

        The cells of a stage are together, because they share a store. Every second pass goes
        backwards, so that a drift of the machine does not affect one stage more than others. A
        cycle does not.
        """
        plan = self._bench.plan
        order = list(plan.stages)
        courses = sorted(self._courses, key=lambda one: order.index(one.planned.cell.stage))
        is_forward = repeat % 2 or plan.options.order == CYCLED
        return courses if is_forward else courses[::-1]

    def _measure_stage(self, courses: list[Course], repeat: int) -> None:
        """What its cells share is made once for the whole stage; each has fresh servers."""
        bench = self._bench
        try:
            with bench.ready(courses[0].planned.stage) as ready:
                probes.link(bench, ready.place)
                if window_bytes := courses[0].planned.stage.tcp.window_bytes:
                    ready.place.limit_window(window_bytes)
                for course in courses:
                    try:
                        self._measure_cell(course, ready, repeat)
                    except Failed as error:
                        bench.note_problem(course.planned.cell, error)
        except Failed as error:
            for course in courses:
                bench.note_problem(course.planned.cell, error)

    def _measure_cell(self, course: Course, ready: Ready, repeat: int) -> None:
        cell, progress = course.planned.cell, self._bench.progress
        while course.next(repeat) is not None:
            with self._bench.opened(course.planned, ready) as trials:
                while (setting := course.next(repeat)) is not None:
                    run = trials.make(setting, course.number(setting, repeat))
                    progress.expect(sum(one.points_in_all() for one in self._courses))
                    progress.end(cell, setting, run.throughput_rps, run.failures)
                    is_last_try = not course.may_try_again(run, repeat)
                    self._bench.note_tried(run.failures, is_last_try=is_last_try)
                    if course.planned.has_fresh_servers:
                        break


@dataclass(frozen=True)
class Course:
    """What comes next at one cell."""

    planned: Planned
    all_runs: list[Run]  # of the folder; it grows
    started_s: float  # when this command began

    def next(self, repeat: int) -> Setting | None:
        """The point to measure next in this pass; None when the pass is complete."""
        disturbed = self._disturbed(repeat)
        if disturbed is not None:
            return disturbed.setting
        return self._procedure.next_setting(self._runs, repeat)

    def number(self, setting: Setting, repeat: int) -> int:
        """Of the repetition: that of the pass, or of the trial in its block."""
        if not self.planned.is_blocked:
            return repeat
        disturbed = self._disturbed(repeat)
        if disturbed is not None:
            return disturbed.repeat
        return 1 + len({run.repeat for run in self._runs if run.setting == setting})

    def may_try_again(self, run: Run, repeat: int) -> bool:
        """Whether the point of this run comes next once more. run is the last of this pass."""
        disturbed = self._disturbed(repeat)
        point = (run.setting, run.repeat)
        return disturbed is not None and (disturbed.setting, disturbed.repeat) == point

    def points_in_all(self) -> int:
        """An estimate while the procedure cannot tell yet."""
        runs = self._runs
        known = self._procedure.points_in_all(runs)
        return max(self.planned.likely_points, len(runs) + 1) if known is None else known

    @property
    def _procedure(self) -> Procedure:
        planned = self.planned
        if planned.steps:
            return FixedOrder(planned.steps, planned.mode.repeat, planned.is_blocked)
        own = planned.cell.kind.part("procedure")
        found: Procedure = (
            own.procedure(planned) if own else KneeSweep(planned.sweep, planned.mode.repeat)
        )
        return found

    @property
    def _runs(self) -> list[Run]:
        cell = self.planned.cell
        return [run for run in self.all_runs if run.cell == cell and not run.pair]

    def _disturbed(self, repeat: int) -> Run | None:
        """A disturbed run of this pass whose point this command may try once more."""
        runs = self._runs
        for run in runs:
            if run.repeat != repeat and not self.planned.is_blocked:
                continue
            point = (run.setting, run.repeat)
            tries = [other for other in runs if (other.setting, other.repeat) == point]
            is_spoiled = all(checks.may_pass_again(one.failures) for one in tries)
            if is_spoiled and sum(one.started_unix_s >= self.started_s for one in tries) < _TRIES:
                return run
        return None
