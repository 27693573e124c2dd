"""The loads of all kinds of experiments, and all their figures by name."""

from __future__ import annotations

from ..kinds import KINDS
from ..plan.figures import Figure
from .load import Asked, Load

FIGURES: dict[str, Figure] = {
    figure.name: figure for kind in KINDS.values() for figure in kind.part("load").FIGURES
}


def load(asked: Asked) -> Load:
    """What the kind of this cell makes of it."""
    made: Load = asked.planned.cell.kind.part("load").load(asked)
    return made
