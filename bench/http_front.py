"""Our HTTP front: against nginx and Caddy, against our own protocol, and against the disk.

Passwords are in plain text on both sides, as in against_peers.py.
"""

import base64
import secrets
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rig.processes import Address, run_tool
from rig.stores import Store

from . import crowd
from .against_peers import HTTP, KEPT, on_nginx, redis_of
from .peers import bare, caddy, nginx, wrk
from .promise import Outcome, Side, compare, in_turns
from .system import PLAIN, USERS, Bench, System, running

_FRONT = ("--http-listen", "127.0.0.1:0")
_UPLOADS = (*_FRONT, "--uploads", "folder")
_CROWD = 10_000
_CROWD_THREADS = 8
_LARGE = "10MB1.txt"


def _ours(system: System, size: str, *flags: str) -> Side:
    return Side(
        "ours", lambda n: system.bench.get_rate(system.http_address, size, n, *HTTP, *flags)
    )


def _against_lua(bench: Bench, store: Store, *flags: str) -> Outcome:
    guard = nginx.with_lua(redis_of(store).port)
    with (
        running(bench, store, PLAIN, _FRONT) as system,
        nginx.running(bench.folder, bench.root, guard) as address,
    ):
        return compare(bench, _ours(system, "1KB", *flags), on_nginx(bench, address, "1KB", *flags))


def get_lua(bench: Bench, store: Store) -> Outcome:
    return _against_lua(bench, store)


def kept_lua(bench: Bench, store: Store) -> Outcome:
    return _against_lua(bench, store, *KEPT)


def _against_static(bench: Bench, store: Store, size: str) -> Outcome:
    """nginx does not ask who is there."""
    with (
        running(bench, store, PLAIN, _FRONT) as system,
        nginx.running(bench.folder, bench.root, nginx.STATIC) as address,
    ):
        return compare(bench, _ours(system, size, *KEPT), on_nginx(bench, address, size, *KEPT))


def get_100kb_static(bench: Bench, store: Store) -> Outcome:
    return _against_static(bench, store, "100KB")


def get_10mb_static(bench: Bench, store: Store) -> Outcome:
    return _against_static(bench, store, "10MB")


def get_100kb_two_hops(bench: Bench, store: Store) -> Outcome:
    """The bare program has our shape, and the native protocol with --pipeline."""
    with (
        running(bench, store, PLAIN, _FRONT) as system,
        bare.two_hops(bench.programs, bench.folder, redis_of(store).port, 100_000) as address,
    ):
        native = ("--pipeline", *KEPT)
        theirs = Side("two bare hops", lambda n: bench.get_rate(address, "100KB", n, *native))
        return compare(bench, _ours(system, "100KB", *KEPT), theirs)


def _against_caddy(bench: Bench, store: Store, size: str) -> Outcome:
    """Caddy does not ask who is there."""
    with (
        running(bench, store, PLAIN, _FRONT) as system,
        caddy.running(bench.folder, bench.root) as address,
    ):
        theirs = Side("Caddy", lambda n: bench.get_rate(address, size, n, *HTTP, *KEPT))
        return compare(bench, _ours(system, size, *KEPT), theirs)


def kept_caddy(bench: Bench, store: Store) -> Outcome:
    return _against_caddy(bench, store, "1KB")


def get_100kb_caddy(bench: Bench, store: Store) -> Outcome:
    return _against_caddy(bench, store, "100KB")


def against_native(bench: Bench, store: Store) -> Outcome:
    """Both fronts of one server, on kept connections, where a request costs least."""
    with running(bench, store, PLAIN, _FRONT) as system:
        native = Side("native", lambda n: system.get_rate("1KB", n, "--pipeline", *KEPT))
        return compare(bench, _ours(system, "1KB", *KEPT), native)


def missing_for_digest() -> list[str]:
    return [] if wrk.TOOL.found() else [wrk.TOOL.package]


def digest(bench: Bench, store: Store) -> Outcome:
    """Where it costs most: a file of 1KB, or of 1MB. The runs before have computed the digest."""
    with running(bench, store, PLAIN, _FRONT) as system:
        outcomes = [_with_digest(system, size) for size in ("1KB", "1MB")]
    return min(outcomes, key=lambda outcome: outcome.ratio)


def _with_digest(system: System, size: str) -> Outcome:
    account = base64.b64encode(f"user1:{system.bench.password}".encode()).decode()
    plain = (f"Authorization: Basic {account}",)

    def rate(*fields: str) -> float:
        return wrk.measure(
            system.http_address,
            f"{size}1.txt",
            _CROWD_THREADS,
            seconds=system.bench.seconds,
            fields=(*plain, *fields),
        ).rate

    wanted = "Want-Repr-Digest: sha-256=1"
    rate(wanted)
    ours, without, ratio = in_turns(system.bench, lambda: rate(wanted), rate)
    return Outcome(ratio, f"{size}: {ours:,.0f}/s with the digest, {without:,.0f}/s without")


def idle_crowd(bench: Bench, store: Store) -> Outcome:
    return beside_idle(bench, store, _CROWD)


def beside_idle(bench: Bench, store: Store, many: int, *flags: str) -> Outcome:
    """8 clients beside this many connections that have asked once and stay."""
    stay = ("--max-connections", str(2 * many), "--idle-timeout", "3600")
    with running(bench, store, PLAIN, (*_FRONT, *stay, *flags)) as system:

        def rate() -> float:
            return _ours(system, "1KB", *KEPT).rate(_CROWD_THREADS)

        def with_crowd() -> float:
            with crowd.idle_http(system.http_address, many, "1KB1.txt", bench.password):
                return rate()

        ours, alone, ratio = in_turns(bench, with_crowd, rate)
    return Outcome(ratio, f"{ours:,.0f}/s with {many:,} idle connections, {alone:,.0f}/s without")


def put_1kb_dav(bench: Bench, store: Store) -> Outcome:
    """nginx syncs each file and its folder as we do, which it does not do by itself."""
    library = bench.programs.path("peers") / "durable_rename.so"
    peer = nginx.running(bench.folder, bench.root, nginx.TAKES_UPLOADS, preload=library)
    return _put_1kb(bench, store, "nginx", peer)


def put_1kb_bare(bench: Bench, store: Store) -> Outcome:
    """The bare program does nothing else, and asks nobody."""
    peer = bare.durable_put(bench.programs, bench.folder, bench.root)
    return _put_1kb(bench, store, "a bare program", peer)


def _put_1kb(
    bench: Bench, store: Store, name: str, peer: AbstractContextManager[Address]
) -> Outcome:
    """The files stay until the end.

    For minutes, ext4 without a journal looks at every inode that was removed whenever it makes a
    file, which would take longer than the uploads themselves.
    """
    with (
        uploads_removed(bench),
        running(bench, store, PLAIN, _UPLOADS) as system,
        peer as address,
    ):

        def rate(server: Address, threads: int) -> float:
            return float(put(bench, server, "1K", threads)["throughput_rps"])

        return compare(
            bench,
            Side("ours", lambda n: rate(system.http_address, n)),
            Side(name, lambda n: rate(address, n)),
        )


def put_10mb_dd(bench: Bench, store: Store) -> Outcome:
    """One upload at a time, and one dd at a time, to new files of the same folder."""
    with running(bench, store, PLAIN, _UPLOADS) as system:

        def ours() -> float:
            with uploads_removed(bench):
                result = put(
                    bench, system.http_address, str((bench.root / _LARGE).stat().st_size), 1
                )
                return float(result["bytes"] / result["elapsed_s"])

        def theirs() -> float:
            with uploads_removed(bench):
                return _dd_bytes_per_s(bench)

        mine, others, ratio = in_turns(bench, ours, theirs)
    return Outcome(ratio, f"{mine / 1e6:,.0f} MB/s against {others / 1e6:,.0f} MB/s of dd")


def put(bench: Bench, address: Address, size: str, threads: int) -> dict[str, Any]:
    users = ("--user", "user%d", "--accounts", str(USERS))
    load = ("--size", size, "--threads", str(threads))
    return bench.load(address, "put", *users, *load, *HTTP, *KEPT)


def _dd_bytes_per_s(bench: Bench) -> float:
    start = time.monotonic()
    count = 0
    while time.monotonic() - start < bench.seconds:
        target = bench.root / f"load-dd-{secrets.token_hex(8)}"
        run_tool(["dd", f"if={bench.root / _LARGE}", f"of={target}", "bs=1M", "conv=fsync"], "dd")
        count += 1
    return count * (bench.root / _LARGE).stat().st_size / (time.monotonic() - start)


@contextmanager
def uploads_removed(bench: Bench) -> Iterator[None]:
    """Removes what was put, so that neither the disk nor the memory for files becomes full."""
    try:
        yield
    finally:
        for path in bench.root.glob("load-*"):
            path.unlink()
