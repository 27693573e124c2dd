"""What a report shows of ramps. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from . import capacity, views
from .views import figures, hosts, papers_runs, table

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "ramp": lambda scene: [
        *figures(scene),
        *table(scene),
        *hosts(scene),
        *papers_runs(scene),
    ],
    "capacity": capacity.table,
}
TERMS = [
    "Ramp: clients come one by one, from many hosts, and each uploads without a pause for a fixed "
    "life. The plateau is the time in which all are there. Times and files are divided by the "
    "scale; rates are not, so that load and throughput keep their shape.",
    "Load: uploads under way. Of the clients' view it is by what the load generators recorded of "
    "each upload; of the server's by its own log. In the figures both spread the bytes of an "
    "upload evenly over its time; where means are compared, an upload counts when it ends.",
    "Memory of each client: the slope of a line through memory over load while clients come, with "
    "a 99% interval that respects that neighbouring moments depend on each other. The host's "
    "memory is what Ganglia's formula gives: without what is cached. That of servers and kernel is "
    "what the servers' control group holds, without page cache: the programs, and the stacks and "
    "sockets that the kernel keeps for them. That of the servers is their proportional set size.",
    "Knee: the load from which on more of it brings no more throughput, by two lines through the "
    "way up and the plateau; with its 99% interval.",
    "Self-checks: at least two thirds of the testers are left, and each began at most 50 ms late. "
    "Bytes = uploads × size. At most 1% of the uploads failed. On the plateau the clients spent at "
    "least 97% of their time in uploads. Other programs, and the kernel for the links, used at "
    "most 20% of the cores.",
    "Capacity: the uploads under way at which the memory of the servers' control group, without "
    "page cache, comes to its limit. It is foretold by a line through memory over load while "
    "clients come, with its 99% interval. Tried are the most uploads under way until the first one "
    "failed or the kernel ended a session. A run that goes on until then may have failed uploads "
    "and a server that ended.",
]


def answers(scene: Scene) -> list[str]:
    """In sentences, for the first page."""
    return [*views.answers(scene), *capacity.answers(scene)]
