"""What a report shows of mixes. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from .views import answers, figures, table

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "mix": lambda scene: [*figures(scene), *table(scene)]
}
TERMS = [
    "Mix: a closed loop in which the kind of each request is drawn (get, put, new), and for a get "
    "its file. File k is asked for as often as 1/k^S says. All files have one size. A put writes "
    "a file under a new name, which nobody asks for; a new makes an account.",
    "Memory for a share of the files: the `--memory-limit` of the fileserver has room for these, "
    "with their names. It reads files in the order of their names until no "
    "further one fits, and drops none for another one.",
    "Hits: of the files that were sent, those from the fileserver’s memory, by its telemetry, "
    "with those of the warm-up. The page cache of the system may have had the others. By name: "
    "the share of the requests for the files that come first by name, by how popular they are. "
    "Best: the same of the most popular files.",
    "Self-checks: X·R is within 3% of N. Bytes = gets and puts × size. At most 1% of the requests "
    "failed, and each kind succeeded at least once. Other programs used at most 10% of the cores. "
    "A run that fails one is in no table.",
]
