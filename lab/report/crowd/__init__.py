"""What a report shows of crowds. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from .figures import figures
from .views import answers, engines, left, maxima

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {
    "crowd_maxima": maxima,
    "crowd_left": left,
    "crowd_engines": engines,
}
TERMS = [
    "User: logs in once and fetches one file over and over, at its rate. It drops out when "
    "a fetch failed, or was slower than a share of the rate (75% unless the stage says otherwise).",
    "Users that hold: those that are left when their number has not changed for the stable time. A "
    "trial holds if all hold.",
    "The most users: found by doubling until a trial does not hold, and halving the distance. The "
    "last number must hold in repeated trials, and the next one must fail in them. ≥: the host "
    "could try no more, or the search did not end.",
    "What each takes: the servers' processes, threads, descriptors and memory with all users, less "
    "those before the first, over their number.",
    "Findings: a server bears more users if it holds as many as the other one fails with. A way "
    "to wait is cheaper if, wherever all users hold, every trial of it took less CPU than every "
    "trial of the other.",
]
