"""What a server has beside a load: idle connections, and the memory and switches of its threads."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from rig import idle_connections
from rig.control_group import ControlGroup
from rig.errors import Failed
from rig.idle_connections import Held
from rig.process_tree import tree

from ..observe import footprint
from ..observe.footprint import Footprint
from ..observe.proc_processes import Switched, context_switches
from ..systems.system import Running
from ..workloads.load import Load

_SETTLED_S = 0.3  # after the last log-in, a server may still put away what it needed for it


@dataclass(frozen=True)
class _Taken:
    programs: Footprint
    group_bytes: int | None

    def each(self, empty: _Taken, users: int) -> dict[str, float]:
        """What each of them adds to the empty servers."""
        found = {
            f"{name}_each": one for name, one in self.programs.each(empty.programs, users).items()
        }
        if self.group_bytes is not None and empty.group_bytes is not None:
            found["group_bytes_each"] = (self.group_bytes - empty.group_bytes) / users
        return found


class Beside:
    """Does nothing for a load without idle connections. Threads: one."""

    def __init__(self, servers: Running, load: Load, group: ControlGroup | None):
        self._servers = servers
        self._wanted = load.idle
        self._group = group
        self._stack = ExitStack()
        self._held = Held((), "")
        self._each: dict[str, float] = {}

    def __enter__(self) -> Beside:
        """Failed when this user may not look at the servers."""
        if self._wanted:
            empty = self._taken()
            self._held = self._stack.enter_context(idle_connections.held(self._wanted))
            time.sleep(_SETTLED_S)
            if not self._held.refused:
                self._each = self._taken().each(empty, self._wanted.count)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def failures(self) -> list[str]:
        """Why there were fewer. Requires: the load has ended, and we have not closed them."""
        if not self._wanted:
            return []
        if self._held.refused:
            return [f"no {self._wanted.count:,} idle connections: {self._held.refused}"]
        lost = self._wanted.count - self._held.open_now()
        said = f"the server closed {lost:,} of {self._wanted.count:,} idle connections"
        return [said] if lost else []

    def found(self) -> dict[str, float]:
        """What each of them takes. Requires: as failures()."""
        if not self._wanted:
            return {}
        return {**self._each, "idle_held": float(self._held.open_now())}

    def _taken(self) -> _Taken:
        group_bytes = self._group.usage().own_bytes if self._group else None
        return _Taken(of_servers(self._servers), group_bytes)


class Look:
    """It looks when the load says, and never for a load that does not say.

    Threads: one, and its own while once() is under way.
    """

    def __init__(self, servers: Running, load: Load):
        self._servers = servers
        self._users = load.threads
        self._after_s = load.look_after_s
        self._found: dict[str, float] = {}
        self._empty = None if self._after_s is None else of_servers(servers)

    @contextmanager
    def once(self) -> Iterator[None]:
        """The load runs in this block."""
        if self._after_s is None:
            yield
            return
        timer = threading.Timer(self._after_s, self._look)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def found(self) -> dict[str, float]:
        """The figures of what each user adds; {} when the load had ended before."""
        return {f"{name}_each": value for name, value in self._found.items()}

    def _look(self) -> None:
        assert self._empty
        with suppress(Failed):  # a server that has ended is reported by its own check
            self._found = of_servers(self._servers).each(self._empty, self._users)


def of_servers(running: Running) -> Footprint:
    """Of all servers but the store, with all that they started."""
    servers = {k: v for k, v in running.process_ids().items() if k != "store"}
    return footprint.of_processes(pid for one in servers.values() for pid in tree(one))


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
