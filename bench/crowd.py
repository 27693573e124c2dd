"""Many connections that do little, and what they cost."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_IDLE = 1000
_TRICKLING = 2000
_TRICKLE_EVERY_S = 2.0
_SETTLE_S = 1.0


def _connect_all(address: str, count: int) -> list[socket.socket]:
    host, _, port = address.rpartition(":")
    return [socket.create_connection((host, int(port)), timeout=30) for _ in range(count)]


def idle_connections_kib(address: str, pid: int) -> tuple[float, str]:
    """What each of 1,000 idle connections costs, and of what it is made: the server's own pages and page tables, the
    kernel's stacks, and half of what the kernel's slabs grew, as the other half is the clients' sockets here."""
    before = _memory_kib(pid)
    connections = _connect_all(address, _IDLE)
    time.sleep(_SETTLE_S)
    grown = {name: (after - before[name]) / _IDLE for name, after in _memory_kib(pid).items()}
    for connection in connections:
        connection.close()
    grown["slab"] /= 2
    return sum(grown.values()), ", ".join(f"{name} {kib:.1f}" for name, kib in grown.items())


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
def trickling(address: str) -> Iterator[None]:
    """2,000 connections that send one byte every two seconds, evenly over time."""
    connections = _connect_all(address, _TRICKLING)
    stop = threading.Event()

    def trickle() -> None:
        while not stop.is_set():
            start = time.monotonic()
            for i, connection in enumerate(connections):
                try:
                    connection.send(b"x")
                except OSError:
                    pass  # its line was complete, too long, or too late: it counts no more
                if i % 50 == 49:
                    stop.wait(
                        max(0.0, start + _TRICKLE_EVERY_S * (i + 1) / _TRICKLING - time.monotonic())
                    )

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
