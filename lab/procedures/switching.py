"""What a server's threads do while a load is under way, by two looks at all of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from rig.control_group import ControlGroup

from ..observe.proc_processes import Switched, context_switches
from ..systems.system import Running
from ..workloads.load import Load

_FIRST = -10  # as `nice` counts; of the thread that looks
_MOST_LOST = 0.5  # of the threads; the others tell of all, as their connections do the same


class Switching:
    """It looks when the load says, and never for a load that does not say.

    Of the program that serves files, with all that it started. Threads: one, and its own while
    counted() is under way.
    """

    def __init__(self, servers: Running, load: Load, group: ControlGroup | None):
        self._servers = servers
        self._moments_s = load.counts_switches_s or ()
        self._group = group
        self._seen: dict[int, Mapping[str, Switched]] = {}  # by the number of the look
        self._group_bytes: int | None = None

    @contextmanager
    def counted(self) -> Iterator[None]:
        """The load runs in this block."""
        timers = [
            threading.Timer(after_s, self._look, (number,))
            for number, after_s in enumerate(self._moments_s)
        ]
        for timer in timers:
            timer.start()
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()
                timer.join()

    def found(self, end_s: float) -> dict[str, float | None]:
        """{} when the load had ended at end_s, before the second look had seen most threads.

        Requires: counted() has ended.
        """
        first, last = self._seen.get(0, {}), self._seen.get(1, {})
        in_time = {name: one for name, one in last.items() if one.time_s <= end_s}
        rate = _rate(first, in_time, threads=max(len(first), len(last)))
        if rate is None:
            return {}
        return {"server_switches_per_s": rate, "server_group_bytes": self._group_bytes}

    def _look(self, number: int) -> None:
        with suppress(PermissionError):  # root may go before thousands of threads that are ready
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _FIRST)
        if self._group:
            self._group_bytes = self._group.usage().own_bytes
        self._seen[number] = context_switches(self._servers.process_ids()["fileserver"])


def _rate(
    first: Mapping[str, Switched], last: Mapping[str, Switched], threads: int
) -> float | None:
    """Of so many threads, by those that both looks have seen: the load may have ended meanwhile.
    None if these are few.
    """
    both = [(first[name], last[name]) for name in first if name in last]
    if not both or len(both) < _MOST_LOST * threads:
        return None
    rates = [
        (after.count - before.count) / (after.time_s - before.time_s)
        for before, after in both
        if after.time_s > before.time_s
    ]
    return sum(rates) * threads / len(both)
