"""One look at what the users of a load add to the servers, while they are there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rig.errors import Failed
from rig.process_tree import tree

from ..observe import footprint
from ..observe.footprint import Footprint
from ..systems.system import Running
from ..workloads.load import Load


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
