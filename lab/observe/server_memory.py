"""The memory of servers over time, as PSS: what each adds to the host, with all that it started."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from rig.errors import Failed
from rig.process_tree import tree

from . import footprint
from .moment import INTERVAL_S
from .rounds import Rounds

MOST_SHARE = 0.1  # of a core, for reading
EVERY_S = 1.0  # where reading costs more than that in every INTERVAL_S


class ServerMemory:
    """Reads it every INTERVAL_S in a thread of its own, from start() until stop().

    For each process the kernel walks through its page tables, which takes a third of a millisecond
    for a session of GridFTP, and there may be thousands. So the time between two rounds is longer
    after one that cost much: MOST_SHARE of a core is used at most. Any thread may call found().
    """

    def __init__(self, process_ids: Callable[[], dict[str, int]]):
        """process_ids tells of now: a server may be started again. {}: nothing is read."""
        self._process_ids = process_ids
        self._lock = threading.Lock()
        self._found: dict[str, float] = {}
        self._cpu_s = 0.0
        self._rounds = Rounds("server memory", self._read_again, every_s)

    def start(self) -> None:
        """The first is read at once. Failed, and nothing runs, when this user may not look."""
        if self._process_ids():
            self._read()
            self._rounds.start(INTERVAL_S / 2)  # amid two samples, so that each has a reading

    def stop(self) -> None:
        self._rounds.stop()

    def found(self) -> dict[str, float]:
        """component -> bytes; {} when nothing was read since it was last asked."""
        with self._lock:
            found, self._found = self._found, {}
            return found

    @property
    def cpu_s(self) -> float | None:
        """What all reading has cost; None if nothing is read."""
        return self._cpu_s if self._process_ids() else None

    def _read_again(self) -> None:
        with suppress(Failed):  # a server that has ended is reported by its own check
            self._read()

    def _read(self) -> None:
        begun_s = time.thread_time()
        found = {
            component: float(footprint.proportional_bytes(tree(pid)))
            for component, pid in self._process_ids().items()
        }
        with self._lock:
            self._found = {name: size for name, size in found.items() if size}
            self._cpu_s += time.thread_time() - begun_s


def every_s(cost_s: float) -> float:
    """From the begin of a round that used so much of a core to that of the next."""
    if cost_s <= MOST_SHARE * INTERVAL_S:
        return INTERVAL_S
    return max(EVERY_S, cost_s / MOST_SHARE)
