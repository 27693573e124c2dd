"""usage.csv: what the machine did during each trial, a line for each trial, component and metric.

A component is a program under test, "core 0", "disk vda" or "machine". A metric or a component that
an older version did not measure is simply not there, and one of a newer version is left unread.

Older versions had columns of points.csv in its place, for example fileserver_cpu_cores, and one
value for each core in core_user. They are only read.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from ..observe.figures import FIGURES
from ..observe.usage import ComponentUsage, CoreUsage, DiskUsage, Usage
from .packed import Recorded
from .table import figures, parsed, short

_COLUMNS = ("trial", "component", "metric", "value")
_MACHINE, _CORE, _DISK = "machine", "core ", "disk "
_PARTS = ("components", "cores", "disks", "figures")  # of Usage; other fields are the machine's
_Metrics = dict[str, str]
_Kind = TypeVar("_Kind")


class UsageTable:
    """The file in a results folder. One thread."""

    def __init__(self, folder: Path):
        self._path = folder / "usage.csv"
        self._recorded = Recorded(folder)

    def add(self, trial: int, usage: Usage) -> None:
        """It is on the disk when this returns. Requires: the file has nothing of this trial yet."""
        text = io.StringIO()
        writer = csv.writer(text)
        if not self._path.exists():
            writer.writerow(_COLUMNS)
        writer.writerows((trial, *line) for line in _lines(usage))
        with open(self._path, "a", newline="", encoding="utf-8") as file:
            file.write(text.getvalue())
            file.flush()
            os.fsync(file.fileno())

    def by_trial(self) -> dict[int, Usage]:
        """{} when there is no such file."""
        found: dict[int, dict[str, _Metrics]] = {}
        for line in csv.DictReader(io.StringIO(self._recorded.read_text("usage.csv"), newline="")):
            trial = found.setdefault(int(line["trial"]), {})
            trial.setdefault(line["component"], {})[line["metric"]] = line["value"]
        return {trial: _usage(metrics) for trial, metrics in found.items()}


def _lines(usage: Usage) -> Iterator[tuple[str, str, object]]:
    named: dict[str, ComponentUsage | CoreUsage | DiskUsage | Usage] = {
        **usage.components,
        **{_CORE + name: core for name, core in usage.cores.items()},
        **{_DISK + name: disk for name, disk in usage.disks.items()},
        _MACHINE: usage,
    }
    for component, values in named.items():
        for field in fields(values):
            value = None if field.name in _PARTS else getattr(values, field.name)
            if value is not None:
                yield component, field.name, short(value)
    for name, figure in usage.figures.items():
        yield _MACHINE, name, short(figure)


def _usage(metrics: dict[str, _Metrics]) -> Usage:
    def all_of(kind: type[_Kind], prefix: str) -> dict[str, _Kind]:
        return {
            name.removeprefix(prefix): kind(**parsed(kind, values))
            for name, values in metrics.items()
            if name.startswith(prefix)
        }

    programs = {
        name: ComponentUsage(**parsed(ComponentUsage, values))
        for name, values in metrics.items()
        if name != _MACHINE and not name.startswith((_CORE, _DISK))
    }
    machine = metrics.get(_MACHINE, {})
    return Usage(
        components=programs,
        cores=all_of(CoreUsage, _CORE),
        disks=all_of(DiskUsage, _DISK),
        figures=figures(FIGURES, machine),
        **parsed(Usage, machine, without=_PARTS),
    )


_OF_A_COMPONENT = "_cpu_cores"  # ends the name of the column that every component has
_WIDE_PARTS = ("components", "cores", "disks", "figures")


def wide_columns(known: Iterable[str]) -> set[str]:
    """Those of these columns that belong to the usage."""
    known = set(known)
    machine = {field.name for field in fields(Usage)} | {"cores", "disks", *FIGURES}
    parts = {f"core_{field.name}" for field in fields(CoreUsage)}
    parts |= {f"disk_{field.name}" for field in fields(DiskUsage)}
    for component in _components(known):
        parts |= {f"{component}_{field.name}" for field in fields(ComponentUsage)}
    return known & (machine | parts)


def wide_usage(row: dict[str, str]) -> Usage:
    """KeyError if a column is missing that was always there."""
    return Usage(
        components={
            component: ComponentUsage(**parsed(ComponentUsage, row, f"{component}_"))
            for component in _components(column for column, text in row.items() if text)
        },
        cores=_split(CoreUsage, row, "cores", "core_"),
        disks=_split(DiskUsage, row, "disks", "disk_"),
        figures=figures(FIGURES, row),
        **parsed(Usage, row, without=_WIDE_PARTS),
    )


def _components(known: Iterable[str]) -> list[str]:
    return [
        column.removesuffix(_OF_A_COMPONENT) for column in known if column.endswith(_OF_A_COMPONENT)
    ]


def _split(kind: type, row: dict[str, str], names: str, prefix: str) -> dict[str, Any]:
    """Each column has a value for each name, divided by blanks."""
    texts = {
        prefix + field.name: row[prefix + field.name].split()
        for field in fields(kind)
        if prefix + field.name in row
    }
    return {
        name: kind(**parsed(kind, {column: each[index] for column, each in texts.items()}, prefix))
        for index, name in enumerate(row[names].split())
    }
