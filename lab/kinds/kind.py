"""What the lab knows of a kind of experiment before it does anything."""

from __future__ import annotations

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

    def part(self, name: str) -> Any:
        """Its module of this name; None if it has none.

        It is imported only now: the plan knows all kinds, and nothing of measuring and reporting.
        """
        module = f"{__package__}.{self.name}.{name}"
        return import_module(module) if find_spec(module) else None
