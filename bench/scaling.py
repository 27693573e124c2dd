"""What grows: cores, connections, files and accounts, each with all else as it is."""

import secrets
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rig import files, servers, stores
from rig.cores import Cores, usable_cores
from rig.databases import RedisServer
from rig.errors import Failed
from rig.servers import Pair, Server
from rig.stores import Store

from .growth import Curve
from .system import Bench

_THREADS = 8
_SETTLE_S = 1.0
_RATE = "requests/s, get 1KB"
_MEMORY = "memory of the fileserver, KiB"
_MAX_CONNECTIONS = ("--max-connections", "12000")
_INSERTED_AT_ONCE = 100_000


@contextmanager
def _running(
    bench: Bench, store: Store, root: Path, flags: Sequence[str] = (), cores: Cores = ()
) -> Iterator[Pair]:
    """cores are the fileserver's."""
    with servers.running(
        bench.programs,
        store_flags=store.authserver_flags,
        root=root,
        logs=bench.folder,
        prefix=f"{secrets.token_hex(4)}.",
        authserver=Server(("--password-scheme", "plain")),
        fileserver=Server(flags, cores),
    ) as pair:
        yield pair


@contextmanager
def _store(bench: Bench, kind: str) -> Iterator[Store]:
    store = stores.start(kind, bench.folder / "store")
    try:
        yield store
    finally:
        store.stop()


def _rate(bench: Bench, pair: Pair, users: int = 1, name: str = "1KB1.txt") -> float:
    """Of new connections, which draw one of so many users each."""
    result = bench.load(
        pair.address,
        *("get", "--user", "user%d", "--accounts", str(users), "--file", name),
        *("--threads", str(_THREADS)),
    )
    return float(result["throughput_rps"])


def cores(bench: Bench, steps: Sequence[int]) -> list[Curve]:
    points = []
    for step in steps:
        with (
            _store(bench, "sqlite") as store,
            _running(bench, store, bench.root, cores=usable_cores()[:step]) as pair,
        ):
            servers.make_account(pair.address, "user1", bench.password)
            points.append((step, _rate(bench, pair)))
    return [Curve(_RATE, "cores of the fileserver", points)]


def connections(bench: Bench, steps: Sequence[int]) -> list[Curve]:
    """Idle ones, beside which a few clients work."""
    rates, memory = [], []
    with (
        _store(bench, "sqlite") as store,
        _running(bench, store, bench.root, _MAX_CONNECTIONS) as pair,
        ExitStack() as opened,
    ):
        servers.make_account(pair.address, "user1", bench.password)
        count = 0
        for step in steps:
            for _ in range(count, step):
                connection = socket.create_connection(pair.address, timeout=30)
                opened.callback(connection.close)
            count = step
            time.sleep(_SETTLE_S)  # until the server has a thread for each
            rates.append((step, _rate(bench, pair)))
            memory.append((step, _resident_kib(pair)))
    of = "idle connections"
    return [Curve(_RATE, of, rates), Curve(_MEMORY, of, memory, is_a_sum=True)]


def file_counts(bench: Bench, steps: Sequence[int]) -> list[Curve]:
    starts, memory, rates = [], [], []
    root = bench.folder / "many"
    root.mkdir()
    with _store(bench, "sqlite") as store:
        with _running(bench, store, root) as pair:
            servers.make_account(pair.address, "user1", bench.password)
        for step in steps:
            files.make(root, ("1KB",), count=step)
            before = time.monotonic()
            with _running(bench, store, root) as pair:
                starts.append((step, time.monotonic() - before))
                memory.append((step, _resident_kib(pair)))
                rates.append((step, _rate(bench, pair, name=f"1KB{step}.txt")))
    of = "files of 1 KB"
    return [
        Curve("start of both servers, s", of, starts, is_a_sum=True),
        Curve(_MEMORY, of, memory, is_a_sum=True),
        Curve(_RATE, of, rates),
    ]


def accounts_in_sqlite(bench: Bench, steps: Sequence[int]) -> list[Curve]:
    def fill(store: Store, rows: Sequence[tuple[bytes, bytes]]) -> None:
        path = store.authserver_flags[store.authserver_flags.index("--sqlite-path") + 1]
        database = sqlite3.connect(path)
        with database:
            database.executemany("INSERT INTO accounts VALUES (?, ?)", rows)
        database.close()

    return _accounts(bench, "sqlite", steps, fill)


def accounts_in_redis(bench: Bench, steps: Sequence[int]) -> list[Curve]:
    def fill(store: Store, rows: Sequence[tuple[bytes, bytes]]) -> None:
        assert isinstance(store.server, RedisServer)
        done = subprocess.run(
            ["redis-cli", "-p", str(store.server.port), "--pipe"],
            input=b"".join(b"SET user:%b %b\r\n" % row for row in rows),
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise Failed(f"redis-cli: {done.stderr.decode().strip()}")

    return _accounts(bench, "redis", steps, fill)


def _accounts(
    bench: Bench,
    kind: str,
    steps: Sequence[int],
    fill: Callable[[Store, Sequence[tuple[bytes, bytes]]], None],
) -> list[Curve]:
    """fill puts user names and records into the store, as the authserver would write them."""
    rates = []
    with _store(bench, kind) as store, _running(bench, store, bench.root) as pair:
        record = f"$plain${bench.password}".encode()
        count = 0
        for step in steps:
            for first in range(count, step, _INSERTED_AT_ONCE):
                numbers = range(first + 1, min(step, first + _INSERTED_AT_ONCE) + 1)
                fill(store, [(f"user{number}".encode(), record) for number in numbers])
            count = step
            rates.append((step, _rate(bench, pair, users=step)))
    return [Curve(_RATE, f"accounts in {stores.KINDS[kind].title}", rates)]


def _resident_kib(pair: Pair) -> int:
    status = Path(f"/proc/{pair.fileserver.pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0])
