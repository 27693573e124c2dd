"""What the lab knows of a kind of experiment before it does anything.

A kind declares what its runs measure beside what every trial has, its figures, a row each, in a
tuple FIGURES. A row is all that a new figure needs beside the place that measures it. points.csv
has a column of this name, the views have one with this title, and docs/lab.md describes it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Its data. What it does is in the modules of the folder with its name: see __init__.py."""

    name: str
    suffix: str = ""  # of the names of its cells
    title: str = ""  # behind that of a cell
    heading: str = ""  # of a report about nothing else
    rate: str = "throughput_rps"  # the figure that says how fast it is
    is_swept: bool = False  # over N, or over the offered load
    takes_threads: bool = False  # --threads has the N of its points
    few_files: int = 0  # that it asks for; 0: as many as the method says
    has_own_stages: bool = False  # only those of its experiment can be measured
    is_here_only: bool = False  # its load generator cannot be on another host
    is_by_http: bool = False
    needs_log: bool = False  # what each transfer came to, as the server says
    shows_series: bool = False  # in a view of its own
    is_about_cpu: bool = False  # the CPU time of a request tells enough, so --shared can be given

    def part(self, name: str) -> Any:
        """Its module of this name; None if it has none.

        It is imported only now: the plan knows all kinds, and nothing of measuring and reporting.
        """
        module = f"{__package__}.{self.name}.{name}"
        return import_module(module) if find_spec(module) else None


MORE, LESS, NEITHER = "more", "less", "neither"  # which way is better


@dataclass(frozen=True, kw_only=True)
class Figure:
    """unit is "s", "ms", "B", "B/s", "/s", "cores", "share", or "" for a mere number.

    title is that of its column in a table, without the unit; views are those that have this column,
    by the names that experiments give them. A view puts a figure that it does not know behind
    its other columns, once a trial has it.
    """

    name: str
    unit: str = ""
    better: str
    title: str = ""
    views: tuple[str, ...] = ()


def measured(figures: Mapping[str, float | None]) -> dict[str, float]:
    """Without those that could not be measured."""
    return {name: value for name, value in figures.items() if value is not None}
