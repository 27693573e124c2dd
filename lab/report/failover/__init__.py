"""What a report shows of failovers. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from .views import answers, figures, table

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "failover": lambda scene: [*figures(scene), *table(scene)]
}
TERMS = [
    "Failover: an open loop at a fixed rate. A server is killed with SIGKILL at a third of the "
    "run, so that it cannot end in order, and started again on its address at two thirds. Requests "
    "are due whether or not it is there. Those that fail are counted by the second.",
    "First answer: the series knows whole seconds, so how long it took after the start is known to "
    "a second. The start of the program itself is part of it.",
    "As before: the usual second afterwards takes at most one and a half times as long as the "
    "usual one before, or no longer than a quarter of those, by its p50 and by its p99. The first "
    "second of the run and the first one with an answer are left out. "
    "Response times are those of requests that were answered.",
    "Self-checks: no request failed before the server was killed. Every request that was due "
    "ended, and the series has all of them. The load generator was on time. Other programs used at "
    "most 10% of the cores. A run that fails one is drawn, but its numbers are in no table.",
]
