"""The workloads with views of their own, a folder each.

A new one is a folder with these names, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from ..plan.catalog import (
    BURST,
    CLIENT,
    CONNECTIONS,
    CROWD,
    FAILOVER,
    MIX,
    OPEN_LOOP,
    RAMP,
    SCALE_OUT,
)
from . import burst, client, connections, crowd, failover, mix, open_loop, ramp, scale_out
from .document import Block
from .scene import Scene


class Shown(Protocol):
    """What a workload gives to a report."""

    VIEWS: dict[str, Callable[[Scene], list[Block]]]  # by the names that experiments give them
    TERMS: list[str]  # what they mean

    def answers(self, scene: Scene, /) -> list[str]:
        """What was found, in sentences for the first page."""

    def figures(self, scene: Scene, /) -> list[Block]:
        """Those of the first page."""


OF_WORKLOADS: Mapping[str, Shown] = {
    OPEN_LOOP: open_loop,
    CROWD: crowd,
    BURST: burst,
    FAILOVER: failover,
    MIX: mix,
    RAMP: ramp,
    CLIENT: client,
    CONNECTIONS: connections,
    SCALE_OUT: scale_out,
}


def answers(scene: Scene) -> list[str]:
    """[] for a workload without views of its own."""
    own = OF_WORKLOADS.get(scene.experiment.workload)
    return own.answers(scene) if own else []


def figures(scene: Scene) -> list[Block]:
    own = OF_WORKLOADS.get(scene.experiment.workload)
    return own.figures(scene) if own else []
