"""The memory of servers over time, as PSS: what each adds to the host, with all that it started."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from ..rig.errors import Failed
from ..rig.process_tree import tree
from . import footprint

EVERY_S = 1.0
MOST_SHARE = 0.1  # of a core, for reading


class ServerMemory:
    """Reads it every EVERY_S in a thread of its own, from start() until stop().

    For each process the kernel walks through its page tables, which takes a third of a millisecond
    for a session of GridFTP, and there may be thousands. So it pauses longer after a round that
    cost much: it uses MOST_SHARE of a core at most. Any thread may call found().
    """

    def __init__(self, process_ids: Callable[[], dict[str, int]]):
        """process_ids tells of now: a server may be started again. {}: nothing is read."""
        self._process_ids = process_ids
        self._lock = threading.Lock()
        self._found: dict[str, float] = {}
        self._cpu_s = 0.0
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="server memory")

    def start(self) -> None:
        """The first is read at once. Failed, and nothing runs, when this user may not look."""
        if self._process_ids():
            self._read()
            self._thread.start()

    def stop(self) -> None:
        self._is_stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def found(self) -> dict[str, float]:
        """component -> bytes; {} when nothing was read since it was last asked."""
        with self._lock:
            found, self._found = self._found, {}
            return found

    @property
    def cpu_s(self) -> float | None:
        """What all reading has cost; None if nothing is read."""
        return self._cpu_s if self._process_ids() else None

    def _run(self) -> None:
        cost_s = lasted_s = 0.0
        while not self._is_stopped.wait(pause_s(cost_s, lasted_s)):
            begun_s, cost_before_s = time.monotonic(), time.thread_time()
            with suppress(Failed):  # a server that has ended is reported by its own check
                self._read()
            cost_s, lasted_s = time.thread_time() - cost_before_s, time.monotonic() - begun_s

    def _read(self) -> None:
        begun_s = time.thread_time()
        found = {
            component: float(footprint.proportional_bytes(tree(pid)))
            for component, pid in self._process_ids().items()
        }
        with self._lock:
            self._found = {name: size for name, size in found.items() if size}
            self._cpu_s += time.thread_time() - begun_s


def pause_s(cost_s: float, lasted_s: float) -> float:
    """After a round that used so much of a core within so long, and before the next."""
    return max(0.0, max(EVERY_S, cost_s / MOST_SHARE) - lasted_s)
