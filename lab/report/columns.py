"""Columns of tables that have a number for each trial: figures of workloads, and computed ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..plan.figures import Figure
from ..results.records import Run
from ..workloads import known
from . import wording

OfRun = Callable[[Run], float | None]
Text = Callable[[float | None], str]


@dataclass(frozen=True)
class Column:
    title: str
    of: OfRun
    text: Text = wording.three_digits


@dataclass(frozen=True)
class Writing:
    """How a table writes a unit: what a title says of it, and the number."""

    suffix: str = ""
    text: Text = wording.three_digits


Writings = Mapping[str, Writing]  # by the unit; other units are written as mere numbers


def written(title: str, unit: str, of: OfRun, writings: Writings) -> Column:
    writing = writings.get(unit, Writing())
    return Column(f"{title}{writing.suffix}", of, writing.text)


def of_view(
    view: str, placed: Sequence[str | Column], writings: Writings, runs: Sequence[Run]
) -> list[Column]:
    """The placed columns, where a name is that of a figure, and then further figures of the view.

    A further figure has a column only if one of the runs has it.
    """
    further = [
        name
        for name, figure in known.FIGURES.items()
        if view in figure.views and name not in placed and any(name in run.figures for run in runs)
    ]
    return [
        _of_figure(known.FIGURES[one], writings) if isinstance(one, str) else one
        for one in (*placed, *further)
    ]


def _of_figure(figure: Figure, writings: Writings) -> Column:
    return written(figure.title, figure.unit, lambda run: run.figure(figure.name), writings)
