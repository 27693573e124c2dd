"""The workloads by the names that experiments give them, and all their figures by name."""

from __future__ import annotations

from collections.abc import Callable

from ..plan.catalog import (
    BURST,
    CLIENT,
    CLOSED_LOOP,
    CONNECTIONS,
    CROWD,
    FAILOVER,
    MIX,
    OPEN_LOOP,
    RAMP,
    SCALE_OUT,
)
from ..plan.figures import Figure
from . import (
    burst,
    client,
    closed_loop,
    connections,
    crowd,
    failover,
    mix,
    open_loop,
    ramp,
    scale_out,
)
from .load import Asked, Load

_LOADS: dict[str, Callable[[Asked], Load]] = {
    CLOSED_LOOP: closed_loop.load,
    OPEN_LOOP: open_loop.load,
    CROWD: crowd.load,
    BURST: burst.load,
    FAILOVER: failover.load,
    MIX: mix.load,
    RAMP: ramp.load,
    CLIENT: client.load,
    CONNECTIONS: connections.load,
    SCALE_OUT: scale_out.load,
}

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for workload in (
        closed_loop,
        open_loop,
        crowd,
        burst,
        failover,
        mix,
        ramp,
        client,
        connections,
        scale_out,
    )
    for figure in workload.FIGURES
}


def load(asked: Asked) -> Load:
    """What the workload of this cell makes of it."""
    return _LOADS[asked.planned.cell.workload](asked)
