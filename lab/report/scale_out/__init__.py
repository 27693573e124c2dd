"""What a report shows of hosts behind a proxy. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from .paper_views import on_paper
from .views import answers, figures, tables

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "scale_out": lambda scene: [*figures(scene), *tables(scene), *on_paper(scene)]
}
TERMS = [
    "Hosts behind a proxy: each host is a network namespace with a link of its own, and its "
    "fileserver is in a control group with a share of a core. haproxy (one thread) chooses the "
    "host by a consistent hash of the name. The load generator asks for all files equally often, "
    "by HTTP on kept connections. Authserver, store and load generator have no limit.",
    "Own files first: a prefetching fileserver reads files in the order of their names until its "
    "memory is full. Here each host has the names that haproxy gives it as files, and all others "
    "as links to a folder that comes last. With the same files first, each host has the whole "
    "folder as it is.",
    "Files held: different files that come from the memory of some host, as the share of hits "
    "times the number of files. In memory: the sum of what the hosts say, which counts a file "
    "twice that two of them hold.",
    "A lost host: its cable is cut and its fileserver killed at a third of the run. At two thirds "
    "both are there again. Taken over: from the loss to the end of the first of two seconds with "
    "nine tenths of the rate that the other hosts had before. Whole again: the same from the start "
    "of its fileserver, with nine tenths of the whole rate. Both are known to a second.",
    "Self-checks: as those of any closed loop, without a lost host. With one, no request failed "
    "before it was lost. Other programs used at most 10% of the cores.",
]
