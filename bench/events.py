"""The event model against nginx, and beside many idle connections.

Passwords are in plain text on both sides, as in against_peers.py. Both have as many threads or
workers as there are cores.
"""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from rig.processes import Address
from rig.stores import Store

from . import crowd, http_front
from .against_peers import HTTP, KEPT, Paced, on_nginx, p99_beside_nginx, redis_of
from .peers import bare as peers
from .peers import nginx, paced
from .promise import Outcome, Promise, Side, compare
from .system import PLAIN, USERS, Bench, System, running

_FRONT = ("--model", "event", "--http-listen", "127.0.0.1:0")
_IDLE_KIB = 3
_MANY = 100_000
_OTHERS = 1_000  # descriptors for everything else

Measure = Callable[[Bench, Store], Outcome]


@contextmanager
def _beside_nginx(bench: Bench, store: Store, *, asks: bool) -> Iterator[tuple[System, Address]]:
    """nginx asks Redis with Lua, or it asks nobody."""
    guard = nginx.with_lua(redis_of(store).port) if asks else nginx.STATIC
    with (
        running(bench, store, PLAIN, _FRONT) as system,
        nginx.running(bench.folder, bench.root, guard) as address,
    ):
        yield system, address


def _http(bench: Bench, system: System, size: str, flags: tuple[str, ...]) -> Side:
    return Side("ours", lambda n: bench.get_rate(system.http_address, size, n, *HTTP, *flags))


def kept(n: int, *, asks: bool) -> Measure:
    """1KB by HTTP with this many clients on both sides."""

    def measure(bench: Bench, store: Store) -> Outcome:
        with _beside_nginx(bench, store, asks=asks) as (system, address):
            ours = _http(bench, system, "1KB", KEPT)
            theirs = on_nginx(bench, address, "1KB", *KEPT)
            return compare(bench, replace(ours, threads=(n,)), replace(theirs, threads=(n,)))

    return measure


def http(size: str, *flags: str, asks: bool = False) -> Measure:
    def measure(bench: Bench, store: Store) -> Outcome:
        with _beside_nginx(bench, store, asks=asks) as (system, address):
            ours = _http(bench, system, size, flags)
            return compare(bench, ours, on_nginx(bench, address, size, *flags))

    return measure


def bare(size: str, file_bytes: int, n: int, *flags: str) -> Measure:
    """Beside a program that does nothing else, in front of the same authserver."""

    def measure(bench: Bench, store: Store) -> Outcome:
        with (
            running(bench, store, PLAIN, _FRONT) as system,
            peers.event_hop(
                bench.programs,
                bench.folder,
                system.auth_address,
                f"user1:{bench.password}",
                file_bytes,
            ) as address,
        ):
            ours = _http(bench, system, size, flags)
            theirs = replace(on_nginx(bench, address, size, *flags), name="bare events")
            return compare(bench, replace(ours, threads=(n,)), replace(theirs, threads=(n,)))

    return measure


def kept_natively(bench: Bench, store: Store) -> Outcome:
    with _beside_nginx(bench, store, asks=True) as (system, address):
        ours = Side("ours", lambda n: system.get_rate("1KB", n, "--pipeline", *KEPT))
        return compare(bench, ours, on_nginx(bench, address, "1KB", *KEPT))


def p99(bench: Bench, store: Store) -> Outcome:
    with _beside_nginx(bench, store, asks=True) as (system, address):
        requests = paced.http_requests("1KB1.txt", USERS, bench.password)
        ours = Paced(_http(bench, system, "1KB", ()), system.http_address, requests)
        return p99_beside_nginx(bench, ours, address)


def idle_memory(bench: Bench, store: Store) -> Outcome:
    """Without what the kernel keeps for a socket, which no program can do without."""
    with running(bench, store, PLAIN, _FRONT) as system:
        parts = crowd.idle_connection_kib(system.address, system.fileserver.pid)
    own = sum(kib for name, kib in parts.items() if name != "slab")
    return Outcome(round(own, 1) / _IDLE_KIB, f"{own:.1f} KiB each ({crowd.text_of(parts)})")


def idle_crowd(bench: Bench, store: Store) -> Outcome:
    """100,000 connections, or as many as there are descriptors."""
    many = min(_MANY, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OTHERS)
    return http_front.beside_idle(bench, store, many, "--model", "event")


PROMISES = (
    *(
        Promise(
            f"event-{n}-lua",
            f"events, GET 1KB over HTTP, {n} kept connections / nginx + Lua + Redis",
            limit,
            kept(n, asks=True),
            missing=nginx.missing_for_lua,
        )
        for n, limit in ((32, 1.75), (64, 2.0))
    ),
    *(
        Promise(
            f"event-{n}-static",
            f"events, GET 1KB over HTTP, {n} kept connections / nginx without authentication",
            limit,
            kept(n, asks=False),
            missing=nginx.missing,
        )
        for n, limit in ((32, 0.85), (64, 1.0))
    ),
    Promise(
        "event-native",
        "events, get 1KB, kept connections: --pipeline / nginx + Lua + Redis",
        1.75,
        kept_natively,
        missing=nginx.missing_for_lua,
    ),
    Promise(
        "event-new-lua",
        "events, GET 1KB over HTTP / nginx + Lua + Redis",
        1.25,
        http("1KB", asks=True),
        missing=nginx.missing_for_lua,
    ),
    *(
        Promise(
            f"event-{name}-static",
            f"events, GET {size} over HTTP{', kept connections' if flags else ''} / nginx without "
            "authentication",
            limit,
            http(size, *flags),
            missing=nginx.missing,
        )
        for name, size, flags, limit in (
            ("new", "1KB", (), 0.93),
            ("100KB", "100KB", KEPT, 1.0),
            ("new-100KB", "100KB", (), 0.92),
            ("1MB", "1MB", KEPT, 1.15),
            ("new-1MB", "1MB", (), 1.15),
            ("10MB", "10MB", KEPT, 1.4),
        )
    ),
    *(
        Promise(
            f"event-{name}-bare",
            f"events, GET {size} over HTTP{', kept connections' if flags else ''} / a bare program "
            "with events",
            0.9,
            bare(size, file_bytes, 64, *flags),
        )
        for name, size, file_bytes, flags in (
            ("64", "1KB", 1000, KEPT),
            ("new", "1KB", 1000, ()),
            ("100KB", "100KB", 100_000, KEPT),
            ("1MB", "1MB", 10**6, KEPT),
            ("new-1MB", "1MB", 10**6, ()),
        )
    ),
    Promise(
        "event-p99-lua",
        "events, 99th percentile at half of the load / nginx + Lua + Redis",
        0.5,
        p99,
        at_most=True,
        missing=nginx.missing_for_lua,
    ),
    Promise(
        "event-idle",
        "events, memory of an idle connection without the kernel's / 3 KiB",
        1.0,
        idle_memory,
        at_most=True,
    ),
    Promise(
        "event-crowd",
        "events, GET 1KB over HTTP, 8 clients: beside 100,000 idle ones, or `ulimit -n` / alone",
        0.9,
        idle_crowd,
    ),
)
