"""Many connections that do little, and what they cost."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rig import idle_connections
from rig.errors import Failed
from rig.idle_connections import Idle, LogIn
from rig.processes import Address

_IDLE = 1000
_TRICKLING = 2000
_TRICKLE_EVERY_S = 2.0
_SETTLE_S = 1.0


def _connect_all(address: Address, count: int) -> list[socket.socket]:
    return [socket.create_connection(address, timeout=30) for _ in range(count)]


def idle_connection_kib(address: Address, pid: int) -> dict[str, float]:
    """Returns the parts of the memory of one idle connection, measured with 1,000.

    They are the server's pages and page tables, the kernel's stacks, and half of the growth of
    the kernel's slabs. The other half belongs to the sockets of the clients, which are here.
    """
    before = _memory_kib(pid)
    connections = _connect_all(address, _IDLE)
    time.sleep(_SETTLE_S)
    grown = {name: (after - before[name]) / _IDLE for name, after in _memory_kib(pid).items()}
    for connection in connections:
        connection.close()
    grown["slab"] /= 2
    return grown


def text_of(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {kib:.1f}" for name, kib in parts.items())


def _memory_kib(pid: int) -> dict[str, float]:
    return {
        "pages": _field(f"/proc/{pid}/smaps_rollup", "Rss"),
        "page tables": _field(f"/proc/{pid}/status", "VmPTE"),
        "kernel stacks": _field("/proc/meminfo", "KernelStack"),
        "slab": _field("/proc/meminfo", "Slab"),
    }


def _field(path: str, name: str) -> float:
    for line in Path(path).read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return float(line.split()[1])
    raise KeyError(f"{name} in {path}")


@contextmanager
def idle_http(address: Address, count: int, name: str, password: str) -> Iterator[None]:
    """Keeps this many connections open, each of which has asked for this file as user1."""
    log_in = LogIn.by_http("user1", password, name)
    with idle_connections.held(Idle(address, log_in, count)) as crowd:
        if crowd.refused:
            raise Failed(crowd.refused)
        time.sleep(_SETTLE_S)
        yield


@contextmanager
def trickling(address: Address) -> Iterator[None]:
    """Keeps 2,000 connections open, each of which sends one byte every two seconds."""
    connections = _connect_all(address, _TRICKLING)
    stop = threading.Event()

    def trickle() -> None:
        while not stop.is_set():
            start = time.monotonic()
            for i, connection in enumerate(connections):
                with suppress(OSError):  # the server closed it: its line became too long
                    connection.send(b"x")
                if i % 50 == 49:
                    due = start + _TRICKLE_EVERY_S * (i + 1) / _TRICKLING
                    stop.wait(max(0.0, due - time.monotonic()))

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        time.sleep(_SETTLE_S)
        yield
    finally:
        stop.set()
        thread.join()
        for connection in connections:
            connection.close()
