"""The usage of a trial as older versions kept it: columns of points.csv, for example
fileserver_cpu_cores, and one value for each core in core_user. It is only read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from ..observe.figures import FIGURES
from ..observe.usage import ComponentUsage, CoreUsage, DiskUsage, Usage
from .table import figures, parsed

_OF_A_COMPONENT = "_cpu_cores"  # ends the name of the column that every component has
_PARTS = ("components", "cores", "disks", "figures")


def columns(known: Iterable[str]) -> set[str]:
    """Those of these columns that belong to the usage."""
    known = set(known)
    machine = {field.name for field in fields(Usage)} | {"cores", "disks", *FIGURES}
    parts = {f"core_{field.name}" for field in fields(CoreUsage)}
    parts |= {f"disk_{field.name}" for field in fields(DiskUsage)}
    for component in _components(known):
        parts |= {f"{component}_{field.name}" for field in fields(ComponentUsage)}
    return known & (machine | parts)


def read(row: dict[str, str]) -> Usage:
    """KeyError if a column is missing that was always there."""
    return Usage(
        components={
            component: ComponentUsage(**parsed(ComponentUsage, row, f"{component}_"))
            for component in _components(column for column, text in row.items() if text)
        },
        cores=_split(CoreUsage, row, "cores", "core_"),
        disks=_split(DiskUsage, row, "disks", "disk_"),
        figures=figures(FIGURES, row),
        **parsed(Usage, row, without=_PARTS),
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
