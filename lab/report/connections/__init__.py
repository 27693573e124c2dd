"""What a report shows of many kept connections. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from .views import answers, figures, tables

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "models": lambda scene: [*figures(scene), *tables(scene)]
}
TERMS = [
    "Connections: N of them are kept. Where all ask, each has one request under way, and the load "
    "generator shares few threads among them. Where most are idle, each of those has logged in "
    "before the run and asks for nothing until its end; 8 others ask.",
    "Context switches: of all threads of the program that serves files, and of all that it "
    "started, voluntary ones and others. They are counted between two looks within the run; their "
    "rate is divided by that of the requests. Threads that one look did not see in time are taken "
    "to have done as the others; if both looks saw less than half of all, nothing is said.",
    "Memory: resident is that of the program, in which processes that share a page count it once "
    "each. With the kernel’s: what its control group holds without page cache, so stacks, "
    "sockets and page tables count too; it is empty where this user may make no such group, and a "
    "kernel may leave out its own part. For each idle connection: what the PSS of all servers, and "
    "that group, grew by until all idle ones had logged in, divided by their number.",
    "Self-checks: X·R is from 90 to 103% of those that ask; the load generator’s own time between "
    "two requests is the rest. Bytes = requests × size. At most 1% of the "
    "requests failed, and all idle connections were open at the end. Other programs used at most "
    "10% of the cores. A run that fails one has no figures; where no run of a point is valid, the "
    "table says why.",
    "Finding about connections: a ratio, computed within each pass. It is seen, or not seen, if "
    "its whole 99% interval is on one side; fewer than three passes tell nothing.",
]
