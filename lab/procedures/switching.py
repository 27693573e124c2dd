"""What a server's threads do while a load is under way, by two looks at all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..observe.proc_processes import context_switches
from ..rig.control_group import ControlGroup
from ..systems.system import Running
from ..workloads.load import Load


@dataclass(frozen=True)
class _Seen:
    time_s: float
    switches: int


class Switching:
    """It looks when the load says, and never for a load that does not say.

    Of the program that serves files, with all that it started. Threads: one, and its own while
    counted() is under way.
    """

    def __init__(self, servers: Running, load: Load, group: ControlGroup | None):
        self._servers = servers
        self._moments_s = load.counts_switches_s or ()
        self._group = group
        self._seen: list[_Seen] = []
        self._group_bytes: int | None = None

    @contextmanager
    def counted(self) -> Iterator[None]:
        """The load runs in this block."""
        timers = [threading.Timer(after_s, self._look) for after_s in self._moments_s]
        for timer in timers:
            timer.start()
        try:
            yield
        finally:
            for timer in timers:
                timer.cancel()
                timer.join()

    def found(self) -> dict[str, float | None]:
        """{} when the load had ended before the second look. Requires: counted() has ended."""
        if len(self._seen) < 2 or self._seen[1].switches < self._seen[0].switches:
            return {}  # the load ended, and with it the threads of its connections
        first, last = self._seen
        rate = (last.switches - first.switches) / (last.time_s - first.time_s)
        return {"server_switches_per_s": rate, "server_group_bytes": self._group_bytes}

    def _look(self) -> None:
        """At a thread halfway through the time that it takes to look at all of them."""
        begun_s = time.monotonic()
        switches = context_switches(self._servers.process_ids()["fileserver"])
        self._seen.append(_Seen((begun_s + time.monotonic()) / 2, switches))
        if self._group:
            self._group_bytes = self._group.usage().own_bytes
