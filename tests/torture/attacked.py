"""Servers that are killed, paused and started again while clients talk to them."""

import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import promise  # noqa: F401  # lets us import from the other folders of tests
from databases import Database, MariaDb, Redis
from processes import children, state
from waiting import eventually

from rig.errors import Failed
from rig.host import free_port
from rig.processes import Address, Program
from rig.servers import Programs

KINDS = ("sqlite", "redis", "mysql")
# All clients have one address, and ask for many wrong passwords.
UNTHROTTLED = {"FILESERVER_WRONG_PASSWORDS": "0"}

T = TypeVar("T")

_READY_S = 60.0
_PORTS_TO_TRY = 5
_SERVERS: dict[str, type[Database]] = {"redis": Redis, "mysql": MariaDb}


def start_store(kind: str, folder: Path) -> tuple[Database | None, list[str]]:
    """Starts it with durable settings. Returns its server, if it has one, and the flags for it."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "sqlite":
        return None, ["--store", "sqlite", "--sqlite-path", str(folder / "accounts.db")]
    server = _SERVERS[kind](folder)
    return server, server.authserver_flags


def through(proxy: Address, server: Database, flags: Sequence[str]) -> list[str]:
    """The flags for a store, with the proxy's port in the place of the server's."""
    return [str(proxy.port) if flag == str(server.port) else flag for flag in flags]


def on_a_free_port(start: Callable[[Address], T]) -> T:
    """Returns start(address). Tries another port if somebody has taken this one meanwhile."""
    for _ in range(_PORTS_TO_TRY - 1):
        try:
            return start(Address("127.0.0.1", free_port()))
        except Failed as error:
            if "Address already in use" not in str(error):
                raise
    return start(Address("127.0.0.1", free_port()))


class Restartable:
    """One of our servers, which keeps its port. Runs from construction until close()."""

    def __init__(
        self,
        programs: Programs,
        name: str,
        flags: Sequence[str],
        log: Path,
        environment: dict[str, str] | None = None,
    ) -> None:
        self._name = name
        self._command = [str(programs.path(name)), *flags, "--listen"]
        self._log = log
        self._environment = environment
        on_a_free_port(self._start_at)

    def _start_at(self, address: Address) -> None:
        self.address = address
        self.start()

    def start(self) -> None:
        """Returns when it is ready."""
        command = [*self._command, str(self.address)]
        self._program = Program(self._name, command, self._log, environment=self._environment)
        self._program.wait_ready(_READY_S)

    def kill(self) -> None:
        """With SIGKILL, all its processes. Returns when they no longer listen."""
        others = children(self._program.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._program.pid, signal.SIGKILL)  # the program leads a group of its own
        self._program.kill()
        eventually(lambda: all(state(pid) in ("", "Z") for pid in others), "its processes end")

    @property
    def pid(self) -> int:
        return self._program.pid

    def is_running(self) -> bool:
        return self._program.is_running()

    def pause(self) -> None:
        self._program.pause()

    def resume(self) -> None:
        self._program.resume()

    def log(self) -> str:
        return self._program.log()

    def close(self) -> None:
        self.resume()
        self._program.stop()
