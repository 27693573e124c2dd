"""Two stages that are measured side by side, because their gain is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import catalog
from .catalog import Cell, Experiment

_VIEWS_OF_GAINS = {"maxima", "before_after", "bars"}


@dataclass(frozen=True)
class Pair:
    """Two stages whose gain is measured side by side at a row."""

    before: str
    after: str
    row: str

    @property
    def name(self) -> str:
        """Without the row, which every run has."""
        return f"{self.before}:{self.after}"

    @property
    def cells(self) -> tuple[Cell, Cell]:
        return Cell(self.before, self.row), Cell(self.after, self.row)

    def __str__(self) -> str:
        return f"{self.after} beside {self.before}, {catalog.row_title(self.row)}"


def pairs_of(experiments: Sequence[Experiment]) -> tuple[Pair, ...]:
    """Each stage with the one before it, in experiments that show gains."""
    chosen = [experiment for experiment in experiments if _VIEWS_OF_GAINS & set(experiment.views)]
    return tuple(
        dict.fromkeys(
            Pair(before, after, row)
            for experiment in chosen
            for before, after in zip(experiment.stages, experiment.stages[1:])
            for row in experiment.rows
        )
    )
