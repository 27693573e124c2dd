"""The views of all kinds of experiments that have some of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from ..kinds import KINDS
from .document import Block
from .scene import Scene


class Shown(Protocol):
    """What a kind gives to a report."""

    VIEWS: dict[str, Callable[[Scene], list[Block]]]  # by the names that experiments give them
    TERMS: list[str]  # what they mean

    def answers(self, scene: Scene, /) -> list[str]:
        """What was found, in sentences for the first page."""

    def figures(self, scene: Scene, /) -> list[Block]:
        """Those of the first page."""


OF_WORKLOADS: Mapping[str, Shown] = {
    name: views for name, kind in KINDS.items() if (views := kind.part("views"))
}


def answers(scene: Scene) -> list[str]:
    """[] for a kind without views of its own."""
    own = OF_WORKLOADS.get(scene.experiment.workload)
    return own.answers(scene) if own else []


def figures(scene: Scene) -> list[Block]:
    own = OF_WORKLOADS.get(scene.experiment.workload)
    return own.figures(scene) if own else []
