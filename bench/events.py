"""The event model against nginx, and beside many idle connections.

Passwords are in plain text on both sides, as in against_peers.py. Both have as many threads or
workers as there are cores.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lab.rig.processes import Address
from lab.rig.stores import Store

from . import crowd
from .against_peers import HTTP, KEPT, on_nginx, redis_of
from .peers import nginx, paced
from .promise import Outcome, Side, compare, in_turns
from .system import PLAIN, Bench, System, running

_FRONT = ("--model", "event", "--http-listen", "127.0.0.1:0")
_IDLE_KIB = 3
_BUSY = 8
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
            return compare(
                bench, Side(ours.name, ours.rate, (n,)), Side(theirs.name, theirs.rate, (n,))
            )

    return measure


def http(size: str, *flags: str, asks: bool = False) -> Measure:
    def measure(bench: Bench, store: Store) -> Outcome:
        with _beside_nginx(bench, store, asks=asks) as (system, address):
            ours = _http(bench, system, size, flags)
            return compare(bench, ours, on_nginx(bench, address, size, *flags))

    return measure


def kept_natively(bench: Bench, store: Store) -> Outcome:
    with _beside_nginx(bench, store, asks=True) as (system, address):
        ours = Side("ours", lambda n: system.get_rate("1KB", n, "--pipeline", *KEPT))
        return compare(bench, ours, on_nginx(bench, address, "1KB", *KEPT))


def p99(bench: Bench, store: Store) -> Outcome:
    """New connections arrive at half of the rate that each side can do."""
    with _beside_nginx(bench, store, asks=True) as (system, address):
        sides = (_http(bench, system, "1KB", ()), on_nginx(bench, address, "1KB"))
        our_half, their_half = (side.rate(side.best()) / 2 for side in sides)
        requests = paced.http_requests("1KB1.txt", 1, bench.password)

        def ours() -> float:
            return paced.p99_ms(bench, system.http_address, requests, our_half)

        def theirs() -> float:
            return paced.p99_ms(bench, address, requests, their_half)

        mine, others, ratio = in_turns(bench, ours, theirs)
    return Outcome(
        ratio,
        f"{mine:.2f} ms at {our_half:,.0f}/s against {others:.2f} ms of nginx at "
        f"{their_half:,.0f}/s",
    )


def idle_memory(bench: Bench, store: Store) -> Outcome:
    """Without what the kernel keeps for a socket, which no program can do without."""
    with running(bench, store, PLAIN, _FRONT) as system:
        parts = crowd.idle_connection_kib(system.address, system.fileserver.pid)
    own = sum(kib for name, kib in parts.items() if name != "slab")
    return Outcome(round(own, 1) / _IDLE_KIB, f"{own:.1f} KiB each ({crowd.text_of(parts)})")


def idle_crowd(bench: Bench, store: Store) -> Outcome:
    """8 clients beside 100,000 connections that have asked once and stay, or as many as may be."""
    many = min(_MANY, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _OTHERS)
    flags = (*_FRONT, "--max-connections", str(many + _OTHERS), "--idle-timeout", "3600")
    with running(bench, store, PLAIN, flags) as system:

        def rate() -> float:
            return _http(bench, system, "1KB", KEPT).rate(_BUSY)

        def with_crowd() -> float:
            with crowd.idle_http(system.http_address, many, "1KB1.txt", bench.password):
                return rate()

        ours, alone, ratio = in_turns(bench, with_crowd, rate)
    return Outcome(ratio, f"{ours:,.0f}/s with {many:,} idle connections, {alone:,.0f}/s without")
