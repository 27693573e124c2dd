"""Servers that are stopped while they work, and ones that serve many short connections."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import threading
import time
from dataclasses import dataclass

from crowd import Crowd
from processes import children, descriptors, resident_bytes, state, threads
from promise import Bench, Figure, Promise, broken
from tree import Mutation
from waiting import eventually

from rig import servers
from rig.processes import Address, Program

_USER, _PASSWORD, _NAME, _SIZE = "known", "known-password", "file", 2_000_000
_CLIENTS = 16
_REPLY_TIMEOUT_S = 60
_TAKE_BYTES = 50_000  # with a pause after each, so that a transfer is under way at any moment
_PAUSE_S = 0.002


class _Reader(threading.Thread):
    """Gets the file again and again until the server stops."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self._address = address
        self.whole = 0
        self.cut = 0
        self.has_begun = threading.Event()

    def run(self) -> None:
        while self._get():
            self.whole += 1

    def _get(self) -> bool:
        """Whether the whole file came. A connection may end before the reply, but not in it."""
        received = 0
        try:
            with socket.socket() as connection:
                connection.settimeout(_REPLY_TIMEOUT_S)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _TAKE_BYTES)
                connection.connect(self._address)
                connection.sendall(f"get:{_USER}:{_PASSWORD}\n".encode())
                if connection.recv(3, socket.MSG_WAITALL) != b"OK\n":
                    return False
                connection.sendall(f"{_NAME}\n".encode())
                expected = len(f"OK {_SIZE}\n") + _SIZE
                while received < expected and (more := len(connection.recv(_TAKE_BYTES))):
                    received += more
                    self.has_begun.set()
                    time.sleep(_PAUSE_S)
                is_whole = received == expected
        except OSError:
            is_whole = False
        self.cut += 0 < received < len(f"OK {_SIZE}\n") + _SIZE
        return is_whole


@dataclass
class _Stops:
    whole: int = 0
    cut: int = 0
    slowest_s: float = 0


def _stop_under_load(bench: Bench, times: int) -> _Stops:
    """SIGTERM while clients are in the middle of a file."""
    root, accounts = bench.folder / "files", bench.folder / "accounts.db"
    root.mkdir(exist_ok=True)
    (root / _NAME).write_bytes(os.urandom(_SIZE))
    accounts.unlink(missing_ok=True)
    stops = _Stops()
    authserver, auth = _start(bench, "authserver", ["--sqlite-path", str(accounts)])
    try:
        servers.make_account(auth, _USER, _PASSWORD)
        flags = [*servers.fileserver_flags(auth, root)[2:], *bench.model_flags]
        for _ in range(times):
            _stop_once(bench, flags, stops)
    finally:
        authserver.stop()
    return stops


def _stop_once(bench: Bench, flags: list[str], stops: _Stops) -> None:
    fileserver, address = _start(bench, "fileserver", [*flags, "--drain-seconds", "30"])
    readers = [_Reader(address) for _ in range(_CLIENTS)]
    try:
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.has_begun.wait(_REPLY_TIMEOUT_S)
        time.sleep(random.random() / 10)  # at any moment of their transfers
        start = time.monotonic()
        status = fileserver.stop()
        stops.slowest_s = max(stops.slowest_s, time.monotonic() - start)
    finally:
        fileserver.stop()
        for reader in readers:
            reader.join()
    if status != 0:
        raise AssertionError(f"the fileserver ended with {status}: {fileserver.last_words()}")
    stops.whole += sum(reader.whole for reader in readers)
    stops.cut += sum(reader.cut for reader in readers)


def _start(bench: Bench, name: str, flags: list[str]) -> tuple[Program, Address]:
    command = [str(bench.programs.path(name)), "--listen", "127.0.0.1:0", *flags]
    program = Program(name, command, bench.folder / f"{name}.log")
    return program, program.wait_ready(60)


# ---------------------------------------------------------------- processes that come and go


@dataclass(frozen=True)
class _Size:
    """What a server with its child processes takes."""

    children: int
    zombies: int
    descriptors: int
    threads: int
    resident_bytes: int

    @classmethod
    def of(cls, pid: int) -> _Size:
        """Of the server now. Children that end are counted until they are gone."""
        below = children(pid)
        return cls(
            len(below),
            sum(state(child) == "Z" for child in below),
            descriptors(pid),
            threads(pid),
            resident_bytes(pid),
        )


_AT_ONCE = 50
_MOST_GROWTH_BYTES = 4 << 20


def _serve_short_ones(bench: Bench, connections: int, spare: int) -> tuple[str, bool]:
    """What is left of the process model after many short connections, and whether it is flat."""
    accounts = str(bench.folder / f"accounts-{spare}.db")
    flags = ["--model", "process", "--spare-workers", str(spare), "--sqlite-path", accounts]
    authserver, address = _start(bench, "authserver", flags)
    try:
        _ask_all(address, 10 * _AT_ONCE)  # the first ones fill what is kept
        before = _settled(authserver.pid, spare)
        _ask_all(address, connections)
        after = _settled(authserver.pid, spare)
    finally:
        authserver.kill()  # one that is broken would not end in good order
    is_flat = (
        after.zombies == 0
        and after.children <= max(spare, before.children)
        and after.descriptors <= before.descriptors
        and after.threads == before.threads
        and after.resident_bytes <= before.resident_bytes + _MOST_GROWTH_BYTES
    )
    grown = (after.resident_bytes - before.resident_bytes) / 1024
    text = (
        f"{connections} connections with {spare} spare processes leave {after.children} children, "
        f"{after.zombies} zombies, descriptors {before.descriptors} -> {after.descriptors}, "
        f"threads {before.threads} -> {after.threads}, memory {grown:+.0f} KiB"
    )
    return text, is_flat


def _settled(pid: int, spare: int) -> _Size:
    """When the last children have ended, or after a while if they do not."""
    with contextlib.suppress(AssertionError):  # the size says it
        eventually(
            lambda: (
                len(below := children(pid)) <= spare
                and not any(state(child) == "Z" for child in below)
            ),
            "the children have ended",
            within_s=5,
        )
    return _Size.of(pid)


def _ask_all(address: Address, connections: int) -> None:
    for _ in range(connections // _AT_ONCE):
        crowd = Crowd(address, _AT_ONCE)
        crowd.run(_REPLY_TIMEOUT_S)
        crowd.close()
        if crowd.replies["OK"] != _AT_ONCE:
            raise AssertionError(f"of {_AT_ONCE} clients: {dict(crowd.replies)}")


def measure(bench: Bench) -> Figure:
    times = bench.scaled(100, 2)
    stops = _stop_under_load(bench, times)
    sizes = [_serve_short_ones(bench, bench.scaled(100_000, 500), spare) for spare in (0, 32)]
    text = (
        f"SIGTERM {times} times under {_CLIENTS} clients: {stops.cut} bodies cut, {stops.whole} "
        f"whole, at most {stops.slowest_s:.1f} s to stop; {'; '.join(text for text, _ in sizes)}"
    )
    return Figure(stops.cut == 0 and all(is_flat for _, is_flat in sizes), text)


_NO_DRAIN = Mutation(
    "transfers-are-cut-at-once",
    "lib/serve/thread_server.cpp",
    "shut_down_all(SHUT_RD);",
    "shut_down_all(SHUT_RDWR);",
)
_NO_REAPING = Mutation(
    "children-are-not-reaped",
    "lib/serve/process_server.cpp",
    "::waitpid(-1, &status, WNOHANG)",
    "0",
)


def control(bench: Bench) -> Figure:
    """A server that leaves zombies; in a full run also one that does not let transfers finish."""
    text, is_flat = _serve_short_ones(broken(bench, _NO_REAPING, "authserver"), 100, 0)
    if bench.is_short:
        return Figure(is_flat, text)
    stops = _stop_under_load(broken(bench, _NO_DRAIN, "fileserver"), 1)
    return Figure(stops.cut == 0 or is_flat, f"{text}; {stops.cut} bodies cut")


PROMISE = Promise("it stops and starts cleanly", measure, control)
