"""What a report shows of open loops. Its door is workloads.py, a folder above."""

from __future__ import annotations

from collections.abc import Callable

from ..document import Block
from ..scene import Scene
from .views import answers, figures, offered_loads

__all__ = ["TERMS", "VIEWS", "answers", "figures"]

VIEWS: dict[str, Callable[[Scene], list[Block]]] = {"offered_load": offered_loads}
TERMS: list[str] = []  # those of the sweeps, and what the captions say
