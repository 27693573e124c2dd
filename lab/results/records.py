"""The results folder: points.csv (a line for each trial), usage.csv and environment.json.

A trial is one run of the load generator. Its line is appended to points.csv as soon as it has been
measured. So the file is complete however the lab ends, and a repeated command resumes after its
last line. usage.csv has what the machine did meanwhile. samples/ has the load generator's JSON and
the time series of each trial; the panels are drawn from it. clocks/ has the clocks of other hosts,
for each trial whose load came from many.

Columns of points.csv are read by their names. A column that is missing means that its value was not
measured, so a folder of an older version stays readable. Columns of a newer version are ignored.
"""

import csv
import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rig.errors import Failed
from rig.place import LOOPBACK

from .. import kinds
from ..observe.callgrind import PROFILE
from ..observe.usage import Usage
from ..plan.catalog import Cell
from ..plan.from_json import from_json
from ..plan.planned import Setting
from ..workloads.transfers import Transfer
from . import usage_table
from .environment import Environment
from .packed import Recorded
from .table import figures, parsed
from .usage_table import UsageTable


@dataclass(frozen=True, kw_only=True)
class Run:
    """One trial: its settings, its results, and what the machine did meanwhile.

    None stands for what was not measured. A new field must have this default: older folders do not
    have its column. What only trials of one workload have is no field, but a figure that the
    workload declares.
    """

    trial: int = 0  # its number in the folder; 0 before it is added
    cell: Cell
    store: str
    threads: int
    repeat: int  # 1 for the sweep, 2 … for the repetitions
    started_unix_s: float
    elapsed_s: float
    requests: int
    bytes: int
    throughput_rps: float
    mean_ms: float
    p50_ms: float | None = None
    p90_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None
    noise: float
    figures: dict[str, float] = field(default_factory=dict)  # of its workload, by their names
    errors: str  # "cause count, …"
    is_generator_limit: bool
    topology: str = LOOPBACK  # the name of the place where the load generator ran
    pair: str = ""  # of a trial side by side, see procedures/side_by_side.py; "" in a sweep
    failures: str  # "; "-separated; empty for a valid point
    notes: str
    usage: Usage

    def figure(self, name: str) -> float | None:
        """None if it was not measured. Requires: a workload declares it."""
        assert name in kinds.figures(), name
        return self.figures.get(name)

    @property
    def offered_rps(self) -> float | None:
        """None in a closed loop."""
        return self.figure("offered_rps")

    @property
    def setting(self) -> Setting:
        return Setting(self.threads, self.offered_rps)

    @property
    def is_valid(self) -> bool:
        return not self.failures

    def for_each_request(self, rate: float | None) -> float | None:
        """A rate of the machine or of a component, divided by the throughput."""
        return None if rate is None else rate / self.throughput_rps

    def used_cores(self, component: str) -> float | None:
        """None if the component was not watched."""
        used = self.usage.components.get(component)
        return used.cpu_cores if used else None

    @property
    def servers_cores(self) -> float:
        """That of all programs but the load generator."""
        used = self.usage.components
        return sum(one.cpu_cores for name, one in used.items() if name != "loadgen")

    @property
    def name(self) -> str:
        """A trial that is made once more, because other programs disturbed it, has another one."""
        return f"{self.old_name}-trial{self.trial}"

    @property
    def old_name(self) -> str:
        """As older versions named it, in which both tries of a disturbed trial had one name."""
        rate = "" if self.offered_rps is None else f"-{self.offered_rps:g}rps"
        return f"{self.cell.slug}-N{self.threads}{rate}-run{self.repeat}"


_CELL = tuple(field.name for field in fields(Cell))
_PARTS = ("cell", "figures", "usage")  # of Run; its other fields are columns
_PLAIN = tuple(field.name for field in fields(Run) if field.name not in _PARTS)


def _columns() -> tuple[str, ...]:
    """Those of the figures stand where the figures are in a Run."""
    names = [field.name for field in fields(Run) if field.name not in ("trial", "cell", "usage")]
    place = names.index("figures")
    return ("trial", *_CELL, *names[:place], *kinds.figures(), *names[place + 1 :])


class Folder:
    """A results folder. One thread."""

    def __init__(self, path: Path):
        self.path = path
        self._points = path / "points.csv"
        self._recorded = Recorded(path)
        self._usage = UsageTable(path)
        self._trials = 0  # as many as are known to be there; 0 before the first is added

    def prepare(self) -> None:
        """Makes the folder if it is new, and the columns of an older one those of this version.

        Failed if points.csv is of a newer version, whose further columns would be lost.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "samples").mkdir(exist_ok=True)
        self._recorded.unpack()
        if not self._points.exists():
            return
        with open(self._points, newline="", encoding="utf-8") as file:
            columns = csv.DictReader(file).fieldnames or ()
        expected = {*_columns(), *usage_table.wide_columns(columns)}
        if unknown := [name for name in columns if name not in expected]:
            raise Failed(f"{self._points} is of a newer lab, which measured {', '.join(unknown)}")
        if tuple(columns) != _columns():
            self._modernise(self.runs())

    def _modernise(self, runs: list[Run]) -> None:
        has_own = self._usage.by_trial()
        for run in runs:
            if run.trial not in has_own:
                self._usage.add(run.trial, run.usage)
        self.replace(runs)

    def runs(self) -> list[Run]:
        """All runs, in the order in which they were measured.

        Failed if a column is missing without which a run means nothing.
        """
        usage = self._usage.by_trial()
        rows = csv.DictReader(io.StringIO(self._recorded.read_text("points.csv"), newline=""))
        try:
            return [_from_row(row, number, usage) for number, row in enumerate(rows, start=1)]
        except KeyError as error:
            raise Failed(f"{self._points} has no column {error}") from error

    def add(self, run: Run, evidence: dict[str, Any]) -> Run:
        """Appends the run and keeps its evidence (samples and the load generator's JSON).

        Returns it with the number of its trial. Requires: prepare() was called.
        """
        run = replace(run, trial=self._next_trial())
        write_json(self.path / "samples" / f"{run.name}.json", evidence)
        self._usage.add(run.trial, run.usage)
        is_new = not self._points.exists()
        with open(self._points, "a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _columns())
            if is_new:
                writer.writeheader()
            writer.writerow(_to_row(run))
            file.flush()
            os.fsync(file.fileno())
        return run

    def _next_trial(self) -> int:
        """A number that nothing has, not even the usage of a trial that was never written."""
        if not self._trials:
            known = {run.trial for run in self.runs()} | self._usage.by_trial().keys()
            self._trials = max(known, default=0)
        self._trials += 1
        return self._trials

    def replace(self, runs: list[Run]) -> None:
        """Replaces points.csv atomically."""
        draft = self._points.with_suffix(".draft")
        with open(draft, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _columns())
            writer.writeheader()
            writer.writerows(_to_row(run) for run in runs)
        draft.replace(self._points)

    def evidence(self, run: Run) -> dict[str, Any] | None:
        """None when samples/ does not have it."""
        for name in (run.name, run.old_name):
            if text := self._recorded.read_text(f"samples/{name}.json"):
                found: dict[str, Any] = json.loads(text)
                return found
        return None

    def environment(self) -> Environment:
        """Failed when there is none, or when it lacks something without which nothing is told."""
        found = self.find_environment()
        if found is None:
            raise Failed(
                f"{self.path} is not a results folder of the lab: it has no environment.json"
            )
        return found

    def find_environment(self) -> Environment | None:
        """None when there is none yet."""
        text = self._recorded.read_text("environment.json")
        try:
            return from_json(Environment, json.loads(text)) if text else None
        except KeyError as error:
            raise Failed(f"{self.path / 'environment.json'} has no {error}") from error

    def callgrind(self) -> str:
        """What callgrind has written of the fileserver. Empty when it was not profiled."""
        return self._recorded.read_text(PROFILE)

    def pack(self) -> None:
        """Moves all that was recorded into one archive."""
        self._recorded.pack()

    def write_environment(self, environment: Environment) -> None:
        write_json(self.path / "environment.json", asdict(environment))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replaces the file atomically."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)


def _to_row(run: Run) -> dict[str, object]:
    return {**asdict(run.cell), **run.figures, **{name: getattr(run, name) for name in _PLAIN}}


def _from_row(row: dict[str, str], number: int, usage: dict[int, Usage]) -> Run:
    """number is that of the line. An older folder has no column of the trial."""
    values = parsed(Run, row, without=_PARTS)
    trial = values.setdefault("trial", number)
    used = usage[trial] if trial in usage else usage_table.wide_usage(row)
    return Run(
        cell=Cell(**parsed(Cell, row)), figures=figures(kinds.figures(), row), usage=used, **values
    )


_OF_RUN = ("trial", "stage", "row", "transfers", "repeat")
_OF_TRANSFERS = (*_OF_RUN, *(field.name for field in fields(Transfer)))


def add_transfers(folder: Path, run: Run, transfers: Sequence[Transfer]) -> None:
    """Appends them. `trial` is that of points.csv; a repetition may be one that is discarded."""
    path = folder / "transfers.csv"
    is_new = not path.exists()
    own = dict(zip(_OF_RUN, (run.trial, run.cell.stage, run.cell.row, run.threads, run.repeat)))
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _OF_TRANSFERS)
        if is_new:
            writer.writeheader()
        writer.writerows({**own, **asdict(one)} for one in transfers)
