"""The results folder: points.csv (a line for each run of the load generator) and environment.json.

A line is appended to points.csv as soon as its point is measured. So the file is complete however
the lab ends, and a repeated command resumes after its last line. samples/ has the load generator's
JSON and the time series of each run; the panels are drawn from it.

Columns of points.csv are read by their names. A column that is missing means that its value was not
measured, so a folder of an older version stays readable. Columns of a newer version are ignored.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..observe.usage import ComponentUsage, CoreUsage, DiskUsage, Usage
from ..plan.catalog import COMPONENTS, Cell
from ..plan.from_json import from_json
from ..rig.errors import Failed
from .environment import Environment


@dataclass(frozen=True, kw_only=True)
class Run:
    """One measured run: its settings, its results, and what the machine did meanwhile.

    None stands for what was not measured. A new field must have this default: older folders do not
    have its column.
    """

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
    n_check: float
    errors: str  # "cause count, …"
    is_generator_limit: bool
    failures: str  # "; "-separated; empty for a valid point
    notes: str
    usage: Usage

    @property
    def is_valid(self) -> bool:
        return not self.failures

    def for_each_request(self, rate: float | None) -> float | None:
        """A rate of the machine or of a component, divided by the throughput."""
        return None if rate is None else rate / self.throughput_rps

    @property
    def name(self) -> str:
        return f"{self.cell.slug}-N{self.threads}-run{self.repeat}"


_CELL = tuple(field.name for field in fields(Cell))
_PLAIN = tuple(field.name for field in fields(Run) if field.name not in ("cell", "usage"))
_COMPONENT = tuple(field.name for field in fields(ComponentUsage))
_CORE = tuple(field.name for field in fields(CoreUsage))
_DISK = tuple(field.name for field in fields(DiskUsage))
_MACHINE = tuple(
    field.name for field in fields(Usage) if field.name not in ("components", "cores", "disks")
)
_COLUMNS = (
    *_CELL,
    *_PLAIN,
    *(f"{component}_{name}" for component in COMPONENTS for name in _COMPONENT),
    "cores",
    *(f"core_{name}" for name in _CORE),
    "disks",
    *(f"disk_{name}" for name in _DISK),
    *_MACHINE,
)
_OF_A_COMPONENT = "_cpu_cores"  # ends the name of the column that every component has


class Folder:
    """A results folder. One thread."""

    def __init__(self, path: Path):
        self.path = path
        self._points = path / "points.csv"

    def prepare(self) -> None:
        """Makes the folder if it is new, and the columns of an older one those of this version.

        Failed if points.csv is of a newer version, whose further columns would be lost.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "samples").mkdir(exist_ok=True)
        if not self._points.exists():
            return
        with open(self._points, newline="", encoding="utf-8") as file:
            columns = csv.DictReader(file).fieldnames or ()
        if unknown := [name for name in columns if name not in _COLUMNS]:
            raise Failed(f"{self._points} is of a newer lab, which measured {', '.join(unknown)}")
        if tuple(columns) != _COLUMNS:
            self.replace(self.runs())

    def runs(self) -> list[Run]:
        """All runs, in the order in which they were measured.

        Failed if a column is missing without which a run means nothing.
        """
        if not self._points.exists():
            return []
        with open(self._points, newline="", encoding="utf-8") as file:
            try:
                return [_from_row(row) for row in csv.DictReader(file)]
            except KeyError as error:
                raise Failed(f"{self._points} has no column {error}") from error

    def add(self, run: Run, evidence: dict[str, Any]) -> None:
        """Appends the run and keeps its evidence (samples and the load generator's JSON).

        Requires: prepare() was called.
        """
        write_json(self.sample_path(run), evidence)
        is_new = not self._points.exists()
        with open(self._points, "a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _COLUMNS)
            if is_new:
                writer.writeheader()
            writer.writerow(_to_row(run))
            file.flush()
            os.fsync(file.fileno())

    def replace(self, runs: list[Run]) -> None:
        """Replaces points.csv atomically."""
        draft = self._points.with_suffix(".draft")
        with open(draft, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, _COLUMNS)
            writer.writeheader()
            writer.writerows(_to_row(run) for run in runs)
        draft.replace(self._points)

    def sample_path(self, run: Run) -> Path:
        return self.path / "samples" / f"{run.name}.json"

    def evidence(self, run: Run) -> dict[str, Any] | None:
        """None when samples/ does not have it."""
        path = self.sample_path(run)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

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
        path = self.path / "environment.json"
        if not path.exists():
            return None
        try:
            return from_json(Environment, json.loads(path.read_text(encoding="utf-8")))
        except KeyError as error:
            raise Failed(f"{path} has no {error}") from error

    def write_environment(self, environment: Environment) -> None:
        write_json(self.path / "environment.json", asdict(environment))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replaces the file atomically."""
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)


def _to_row(run: Run) -> dict[str, object]:
    row: dict[str, object] = asdict(run.cell)
    row.update({name: getattr(run, name) for name in _PLAIN})
    usage = run.usage
    for component, values in usage.components.items():
        row.update({f"{component}_{name}": _short(getattr(values, name)) for name in _COMPONENT})
    row["cores"] = " ".join(usage.cores)
    row.update({f"core_{name}": _joined(usage.cores, name) for name in _CORE})
    row["disks"] = " ".join(usage.disks)
    row.update({f"disk_{name}": _joined(usage.disks, name) for name in _DISK})
    row.update({name: _short(getattr(usage, name)) for name in _MACHINE})
    return row


def _from_row(row: dict[str, str]) -> Run:
    components = {
        component: ComponentUsage(**_parsed(ComponentUsage, row, f"{component}_"))
        for component in _components(row)
    }
    usage = Usage(
        components=components,
        cores=_split(CoreUsage, row, "cores", "core_"),
        disks=_split(DiskUsage, row, "disks", "disk_"),
        **_parsed(Usage, row, without=("components", "cores", "disks")),
    )
    cell = Cell(**_parsed(Cell, row))
    return Run(cell=cell, usage=usage, **_parsed(Run, row, without=("cell", "usage")))


def _components(row: dict[str, str]) -> list[str]:
    """Those that took part in the run."""
    return [
        column.removesuffix(_OF_A_COMPONENT)
        for column, text in row.items()
        if text and column.endswith(_OF_A_COMPONENT)
    ]


def _parsed(
    kind: type, row: dict[str, str], prefix: str = "", without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The fields of a dataclass, by their names. KeyError if one is missing that has no default."""
    values = {}
    for field in fields(kind):
        column = prefix + field.name
        if field.name in without or (field.default is not MISSING and not row.get(column)):
            continue
        values[field.name] = _value(str(field.type), row[column])
    return values


def _value(kind: str, text: str) -> Any:
    if kind == "str":
        return text
    if kind == "int":
        return int(text)
    return text == "True" if kind == "bool" else float(text)


def _joined(values: dict[str, Any], name: str) -> str:
    return " ".join(str(_short(getattr(value, name))) for value in values.values())


def _split(kind: type, row: dict[str, str], names: str, prefix: str) -> dict[str, Any]:
    """The reverse of _joined: each column has a value for each name."""
    columns = {
        prefix + field.name: row[prefix + field.name].split()
        for field in fields(kind)
        if prefix + field.name in row
    }
    return {
        name: kind(
            **_parsed(kind, {column: texts[index] for column, texts in columns.items()}, prefix)
        )
        for index, name in enumerate(row[names].split())
    }


def _short(value: float | None) -> float | None:
    """Four decimals are more precise than any counter here."""
    return None if value is None else round(value, 4)
