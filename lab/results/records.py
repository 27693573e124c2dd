"""The results folder: points.csv (a line for each run of the load generator) and environment.json.

A line is appended to points.csv as soon as its point is measured. So the file is complete however
the lab ends, and a repeated command resumes after its last line. samples/ has the load generator's
JSON and the time series of each run; the panels are drawn from it.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from ..observe.usage import ComponentUsage, CoreUsage, DiskUsage, Usage
from ..plan.catalog import COMPONENTS, Cell
from ..rig.errors import Failed


@dataclass(frozen=True, kw_only=True)
class Run:
    """One measured run: its settings, its results, and what the machine did meanwhile."""

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
    p50_ms: float
    p90_ms: float
    p99_ms: float
    max_ms: float
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

    @property
    def name(self) -> str:
        return f"{self.cell.slug}-N{self.threads}-run{self.repeat}"


_CELL = ("stage", "row", "fileserver_cores")
_PLAIN = tuple(field.name for field in fields(Run) if field.name not in ("cell", "usage"))
_COMPONENT = tuple(field.name for field in fields(ComponentUsage))
_CORE = tuple(field.name for field in fields(CoreUsage))
_DISK = tuple(field.name for field in fields(DiskUsage))
_COLUMNS = (
    *_CELL,
    *_PLAIN,
    *(f"{component}_{name}" for component in COMPONENTS for name in _COMPONENT),
    "cores",
    *(f"core_{name}" for name in _CORE),
    "disks",
    *(f"disk_{name}" for name in _DISK),
    "loopback_bytes_per_s",
    "accepts_per_s",
    "used_memory_bytes",
)
_WHOLE_NUMBERS = ("threads", "repeat", "requests", "bytes")
_TEXTS = ("store", "errors", "failures", "notes")


class Folder:
    """A results folder. One thread."""

    def __init__(self, path: Path):
        self.path = path
        self._points = path / "points.csv"

    def create(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        (self.path / "samples").mkdir(exist_ok=True)

    def runs(self) -> list[Run]:
        """All runs, in the order in which they were measured."""
        if not self._points.exists():
            return []
        with open(self._points, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != _COLUMNS:
                raise Failed(f"{self._points} was written by another version of the lab")
            return [_from_row(row) for row in reader]

    def add(self, run: Run, evidence: dict) -> None:
        """Appends the run and keeps its evidence (samples and the load generator's JSON)."""
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

    def evidence(self, run: Run) -> dict | None:
        """None when samples/ does not have it."""
        path = self.sample_path(run)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def environment(self) -> dict:
        """{} when there is none yet."""
        path = self.path / "environment.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def write_environment(self, environment: dict) -> None:
        write_json(self.path / "environment.json", environment)


def write_json(path: Path, value: dict) -> None:
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
    for name in ("loopback_bytes_per_s", "accepts_per_s", "used_memory_bytes"):
        row[name] = _short(getattr(usage, name))
    return row


def _from_row(row: dict[str, str]) -> Run:
    components = {
        component: ComponentUsage(*(float(row[f"{component}_{name}"]) for name in _COMPONENT))
        for component in COMPONENTS
        if row[f"{component}_cpu_cores"]
    }
    cores = {core: CoreUsage(*values) for core, values in _split(row, "cores", "core", _CORE)}
    disks = {disk: DiskUsage(*values) for disk, values in _split(row, "disks", "disk", _DISK)}
    usage = Usage(
        components,
        cores,
        disks,
        float(row["loopback_bytes_per_s"]),
        float(row["accepts_per_s"]),
        float(row["used_memory_bytes"]),
    )
    cell = Cell(row["stage"], row["row"], int(row["fileserver_cores"]))
    return Run(cell=cell, usage=usage, **{name: _parsed(name, row[name]) for name in _PLAIN})


def _parsed(name: str, text: str) -> Any:
    if name in _TEXTS:
        return text
    if name in _WHOLE_NUMBERS:
        return int(text)
    return text == "True" if name == "is_generator_limit" else float(text)


def _joined(values: dict, name: str) -> str:
    return " ".join(str(_short(getattr(value, name))) for value in values.values())


def _split(row: dict[str, str], names: str, prefix: str, parts: tuple[str, ...]):
    columns = [map(float, row[f"{prefix}_{part}"].split()) for part in parts]
    return zip(row[names].split(), zip(*columns))


def _short(value: float) -> float:
    """Four decimals are more precise than any counter here."""
    return round(value, 4)
