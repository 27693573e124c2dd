"""Idle connections beside a load: they are made before it, looked at, and held until it ends."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass

from rig import idle_connections
from rig.control_group import ControlGroup
from rig.idle_connections import Held

from ..observe.footprint import Footprint
from ..systems.system import Running
from ..workloads.load import Load
from . import look

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
        return _Taken(look.of_servers(self._servers), group_bytes)
