"""What a workload measures beside what every trial has: its figures.

Each workload declares its own, a row each, in a tuple FIGURES. A row is all that a new figure needs
beside the place that measures it. points.csv has a column of this name, the views have one with
this title, and docs/lab.md describes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
