"""Attackers who make the authserver hash wrong passwords do not lock out those who log in."""

from __future__ import annotations

import csv
import re
import selectors
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig import loadgen, servers, stores
from rig.processes import Address, Program, run_tool

_ATTACKERS = 64
_THREADS = 4  # of the load generator
_PASSWORD = "right"
_LEAST_SHARE = 0.5
# A short run may share the machine with other programs.
_LEAST_SHARE_SHORT = 0.25
_MOST_P99_SHORT_MS = 500.0
_MOST_P99_MS = 20.0
_MOST_GROWTH_MIB = 100.0
_REPLY_TIMEOUT_S = 60


class _Attack:
    """64 connections to the authserver. Each sends another wrong password after each answer."""

    def __init__(self, address: Address) -> None:
        self._selector = selectors.DefaultSelector()
        self._must_stop = threading.Event()
        self.answers = 0
        for number in range(_ATTACKERS):
            connection = socket.create_connection(address, timeout=_REPLY_TIMEOUT_S)
            self._selector.register(connection, selectors.EVENT_READ, number)
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        for key in self._selector.get_map().values():
            self._guess(key)
        while not self._must_stop.is_set():
            for key, _ in self._selector.select(0.1):
                if not key.fileobj.recv(4096):
                    self._selector.unregister(key.fileobj)
                    continue
                self.answers += 1
                self._guess(key)

    def _guess(self, key: selectors.SelectorKey) -> None:
        line = f"auth:user{key.data}:wrong-{self.answers}-{key.data}\n"
        key.fileobj.send(line.encode())

    def __enter__(self) -> _Attack:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._must_stop.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()


class _Visitor:
    """Logs in as one known user after the other, on one connection, and takes the times."""

    def __init__(self, address: Address, users: int) -> None:
        self._socket = socket.create_connection(address, timeout=_REPLY_TIMEOUT_S)
        self._replies = self._socket.makefile("rb")
        self._users = users
        self._next = 0

    def log_in(self) -> float:
        """The seconds it took."""
        user = f"user{self._next % self._users}"
        self._next += 1
        begun = time.perf_counter()
        self._socket.sendall(f"get:{user}:{_PASSWORD}\n".encode())
        reply = self._replies.readline()
        if reply != b"OK\n":
            raise AssertionError(f"{user} with the right password was answered with {reply!r}")
        return time.perf_counter() - begun

    def log_in_all(self) -> None:
        for _ in range(self._users):
            self.log_in()

    def times_for(self, seconds: float) -> list[float]:
        """At least two, however long that takes."""
        until = time.monotonic() + seconds
        times: list[float] = []
        while time.monotonic() < until or len(times) < 2:
            times.append(self.log_in())
        return times

    def close(self) -> None:
        self._replies.close()
        self._socket.close()


@dataclass(frozen=True)
class _Round:
    """What known users got in some seconds."""

    throughput: float
    p99_ms: float


def _round(bench: Bench, pair: servers.Pair, visitor: _Visitor, seconds: float) -> _Round:
    """One user loads the server with requests; meanwhile all others log in one by one."""
    flags = ["get", "--server", str(pair.address), "--threads", str(_THREADS), "--user", "user0"]
    flags += ["--file", "file", "--connection", "keep-alive", "--seconds", f"{seconds:g}"]
    program = loadgen.start(
        bench.programs.path("loadgen"), flags, bench.folder / "loadgen.log", password=_PASSWORD
    )
    try:
        times = visitor.times_for(seconds)
        result = loadgen.result(program, seconds)
    finally:
        program.stop()
    if result["errors"]["total"]:
        raise AssertionError(f"requests with the right password failed: {result['errors']}")
    p99_ms = 1000 * statistics.quantiles(times, n=100)[98]
    return _Round(result["throughput_rps"], max(p99_ms, result["response_time_ms"]["p99"] or 0.0))


def _peak_mib(program: Program) -> float:
    status = Path(f"/proc/{program.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None, status
    return int(found[1]) / 1024


@contextmanager
def _servers(bench: Bench, users: int) -> Iterator[servers.Pair]:
    """With so many accounts, all with one password and one record, made by one hash."""
    root = bench.folder / "root"
    root.mkdir(exist_ok=True)
    (root / "file").write_bytes(b"x" * 1024)
    store = stores.start("sqlite", bench.folder / "store")
    try:
        with servers.running(
            bench.programs, store_flags=store.authserver_flags, root=root, logs=bench.folder
        ) as pair:
            servers.make_account(pair.auth_address, "first", _PASSWORD)
        accounts = bench.folder / "accounts.csv"
        tool = [str(bench.programs.path("authserver")), *store.authserver_flags]
        run_tool([*tool, "--export", str(accounts)], "exporting an account")
        with open(accounts, encoding="ascii", newline="") as file:
            record = next(row[1] for row in csv.reader(file) if row[0] == "first")
        with open(accounts, "w", encoding="ascii", newline="") as file:
            csv.writer(file).writerows((f"user{number}", record) for number in range(users))
        run_tool([*tool, "--import", str(accounts)], "importing accounts")
        with servers.running(
            bench.programs, store_flags=store.authserver_flags, root=root, logs=bench.folder
        ) as pair:
            yield pair
    finally:
        store.stop()


def measure(bench: Bench) -> Figure:
    """Rounds with and without the attack take turns, so that both see the same machine."""
    users = bench.scaled(5000, 100)
    seconds = bench.scaled(10, 3)
    quiet: list[_Round] = []
    attacked: list[_Round] = []
    answers = 0
    with _servers(bench, users) as pair:
        visitor = _Visitor(pair.address, users)
        try:
            visitor.log_in_all()
            before_mib = _peak_mib(pair.authserver)
            for _ in range(bench.scaled(5, 2)):
                quiet.append(_round(bench, pair, visitor, seconds))
                with _Attack(pair.auth_address) as attack:
                    attacked.append(_round(bench, pair, visitor, seconds))
                answers += attack.answers
            growth_mib = _peak_mib(pair.authserver) - before_mib
        finally:
            visitor.close()
    limits = (
        (_LEAST_SHARE_SHORT, _MOST_P99_SHORT_MS) if bench.is_short else (_LEAST_SHARE, _MOST_P99_MS)
    )
    return _figure(users, answers, quiet, attacked, growth_mib, limits)


def _figure(
    users: int,
    answers: int,
    quiet: list[_Round],
    attacked: list[_Round],
    growth_mib: float,
    limits: tuple[float, float],
) -> Figure:
    share = statistics.median(a.throughput / q.throughput for q, a in zip(quiet, attacked))
    quiet_p99_ms = statistics.median(each.p99_ms for each in quiet)
    p99_ms = statistics.median(each.p99_ms for each in attacked)
    least_share, most_p99_ms = limits
    return Figure(
        share >= least_share
        and p99_ms < most_p99_ms
        and growth_mib <= _MOST_GROWTH_MIB
        and answers > 0,
        f"{_ATTACKERS} attackers got {answers} answers; {users} known users kept {share:.0%} of "
        f"their throughput, p99 {p99_ms:.1f} ms ({quiet_p99_ms:.1f} ms without), "
        f"memory grew by {growth_mib:.0f} MiB",
    )


_NO_LIMIT = Mutation(
    "all-hash-at-once",
    "authserver/main.cpp",
    "const auto lanes = static_cast<std::size_t>(config.hashes_at_once);",
    "const auto lanes = authserver::HashLanes::kMostLanes;",
)


def control(bench: Bench) -> Figure:
    """Without the limit on hashes at once, 64 of them take more than a gigabyte."""
    return measure(broken(bench, _NO_LIMIT, "authserver"))


PROMISE = Promise("hashing is no weapon", measure, control)
