"""What each paper brings: its data, in a folder of lab/papers that is named by the paper's number.

  experiments.json, stages.json, method.json   what is measured, see catalog.py
  numbers.json                                 what the paper printed
  findings.json                                what the paper found, see claims.py

machines.json is of all papers, see machines.py.

Rows are named as in experiments.json. Numbers are copied as printed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .from_json import from_json

FOLDER = Path(__file__).parents[1] / "papers"


@dataclass(frozen=True, kw_only=True)
class Peak:
    """What a paper prints for one row: N* and the throughput there."""

    throughput_rps: float
    n_star: int | None = None
    response_s: float | None = None
    bottleneck: str = ""


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What a paper's network carried without servers. The units are those that it prints."""

    test: str
    interval_s: float
    gigabytes: float
    megabits_per_s: float
    megabytes_per_s: float


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A table of a paper, as it is printed."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What a paper printed.

    tables is table -> stage -> row. A number is only compared with others of its own table: tables
    of one paper may come from different machines. hardware is row -> (load generator, servers).
    printed is table -> what stands there, about servers that are not ours.
    """

    title: str
    tables: dict[str, dict[str, dict[str, Peak]]] = field(default_factory=dict)
    printed: dict[str, Printed] = field(default_factory=dict)
    network_probe: tuple[Probe, ...] = ()
    hardware: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def peak(self, table: str, stage: str, row: str) -> Peak | None:
        """None where the paper has no number."""
        return self.tables.get(table, {}).get(stage, {}).get(row)

    def gain(self, before: str, after: str, row: str) -> float | None:
        """after / before, of the first table that has both."""
        for table in self.tables:
            first, second = self.peak(table, before, row), self.peak(table, after, row)
            if first and second:
                return second.throughput_rps / first.throughput_rps
        return None


@cache
def names() -> tuple[str, ...]:
    """The numbers of all papers."""
    return tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))


@cache
def numbers(paper: str) -> Numbers:
    return from_json(Numbers, read(paper, "numbers.json"))


def read(paper: str, name: str) -> Any:
    return json.loads((FOLDER / paper / name).read_text(encoding="utf-8"))


def entries(name: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(paper, key, entry) for each entry of this file of each paper."""
    for paper in names():
        for key, entry in read(paper, name).items():
            yield paper, key, entry
