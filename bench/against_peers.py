"""Turnstile against what people would use instead, and against bare programs of its shape.

Passwords are in plain text on both sides, because nginx with Lua cannot check another record: both
read the same records of the same 1,000 users in the same Redis.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rig.databases import Server
from rig.processes import Address
from rig.stores import Store

from .peers import bare, nginx, paced
from .promise import Outcome, Side, compare, in_turns
from .system import PLAIN, USERS, Bench, System, running

KEPT = ("--connection", "keep-alive")
HTTP = ("--protocol", "http")


def on_nginx(bench: Bench, address: Address, size: str, *flags: str) -> Side:
    return Side("nginx", lambda n: bench.get_rate(address, size, n, *HTTP, *flags))


def _get(system: System, size: str, *flags: str) -> Side:
    return Side("ours", lambda n: system.get_rate(size, n, *flags))


def redis_of(store: Store) -> Server:
    assert store.kind == "redis" and store.server
    return store.server


@contextmanager
def _with_lua(bench: Bench, store: Store) -> Iterator[tuple[System, Address]]:
    """Both systems, in front of the same records."""
    guard = nginx.with_lua(redis_of(store).port)
    with (
        running(bench, store, PLAIN) as system,
        nginx.running(bench.folder, bench.root, guard) as address,
    ):
        yield system, address


def get_lua(bench: Bench, store: Store) -> Outcome:
    with _with_lua(bench, store) as (system, address):
        return compare(bench, _get(system, "1KB", "--pipeline"), on_nginx(bench, address, "1KB"))


def kept_lua(bench: Bench, store: Store) -> Outcome:
    """Both validate every request, on connections that are kept."""
    with _with_lua(bench, store) as (system, address):
        theirs = on_nginx(bench, address, "1KB", *KEPT)
        return compare(bench, _get(system, "1KB", "--pipeline", *KEPT), theirs)


def get_auth_request(bench: Bench, store: Store) -> Outcome:
    with (
        running(bench, store, PLAIN) as system,
        bare.auth_service(bench.programs, bench.folder, redis_of(store).port) as service,
        nginx.running(bench.folder, bench.root, nginx.with_auth_request(service)) as address,
    ):
        return compare(bench, _get(system, "1KB", "--pipeline"), on_nginx(bench, address, "1KB"))


def _get_static(bench: Bench, store: Store, size: str) -> Outcome:
    """nginx does not ask who is there. The same meter, which copies every byte, measures both."""
    name = f"{size}1.txt"
    with (
        running(bench, store, PLAIN) as system,
        nginx.running(bench.folder, bench.root, nginx.STATIC) as address,
    ):
        http = paced.http_requests(name, USERS, bench.password)
        theirs = Side("nginx", lambda n: paced.closed_rate(bench, address, http, n))
        return compare(bench, _copied(bench, "ours", system.address, name), theirs)


def _copied(bench: Bench, title: str, address: Address, name: str) -> Side:
    """A server of the native protocol, measured by a client that copies every byte."""
    native = paced.native_requests(name, USERS, bench.password)
    return Side(title, lambda n: paced.closed_rate(bench, address, native, n))


def get_100kb_static(bench: Bench, store: Store) -> Outcome:
    return _get_static(bench, store, "100KB")


def get_1mb_static(bench: Bench, store: Store) -> Outcome:
    return _get_static(bench, store, "1MB")


def get_10mb_static(bench: Bench, store: Store) -> Outcome:
    return _get_static(bench, store, "10MB")


@contextmanager
def _with_two_hops(bench: Bench, store: Store, file_bytes: int) -> Iterator[tuple[System, Address]]:
    """The bare program has the shape of ours: its second hop asks Redis too, or nobody."""
    port = store.server.port if store.server else None
    with (
        running(bench, store, PLAIN) as system,
        bare.two_hops(bench.programs, bench.folder, port, file_bytes) as address,
    ):
        yield system, address


def get_two_hops(bench: Bench, store: Store) -> Outcome:
    return _small_two_hops(bench, store, "--pipeline")


def kept_two_hops(bench: Bench, store: Store) -> Outcome:
    return _small_two_hops(bench, store, "--pipeline", *KEPT)


def _small_two_hops(bench: Bench, store: Store, *flags: str) -> Outcome:
    with _with_two_hops(bench, store, 1000) as (system, address):
        theirs = Side("two bare hops", lambda n: bench.get_rate(address, "1KB", n, *flags))
        return compare(bench, _get(system, "1KB", *flags), theirs)


def new_two_hops(bench: Bench, store: Store) -> Outcome:
    port = redis_of(store).port
    with (
        running(bench, store, PLAIN) as system,
        bare.two_creating_hops(bench.programs, bench.folder, port) as address,
    ):
        theirs = Side("two bare hops", lambda n: bench.new_rate(address, n))
        return compare(bench, Side("ours", system.new_rate), theirs)


def large_two_hops(size: str, file_bytes: int) -> Callable[[Bench, Store], Outcome]:
    """What a file of this size costs behind two hops when nothing else is done."""

    def measure(bench: Bench, store: Store) -> Outcome:
        name = f"{size}1.txt"
        with _with_two_hops(bench, store, file_bytes) as (system, address):
            theirs = _copied(bench, "two bare hops", address, name)
            return compare(bench, _copied(bench, "ours", system.address, name), theirs)

    return measure


@dataclass(frozen=True)
class Paced:
    """A side, and what is asked there at a fixed rate."""

    side: Side
    address: Address
    requests: list[bytes]


def p99_lua(bench: Bench, store: Store) -> Outcome:
    with _with_lua(bench, store) as (system, address):
        native = paced.native_requests("1KB1.txt", USERS, bench.password)
        ours = Paced(_get(system, "1KB", "--pipeline"), system.address, native)
        return p99_beside_nginx(bench, ours, address)


def p99_beside_nginx(bench: Bench, ours: Paced, address: Address) -> Outcome:
    """Requests arrive at half of the rate that each system can do, whether or not it keeps up."""
    http = paced.http_requests("1KB1.txt", USERS, bench.password)
    theirs = Paced(on_nginx(bench, address, "1KB"), address, http)
    our_half, their_half = (one.side.rate(one.side.best()) / 2 for one in (ours, theirs))
    mine, others, ratio = in_turns(
        bench,
        lambda: paced.p99_ms(bench, ours.address, ours.requests, our_half),
        lambda: paced.p99_ms(bench, theirs.address, theirs.requests, their_half),
    )
    return Outcome(
        ratio,
        f"{mine:.2f} ms at {our_half:,.0f}/s against {others:.2f} ms of nginx at "
        f"{their_half:,.0f}/s",
    )
