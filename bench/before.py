"""Programs of an older build beside those of this one: `scripts/bench --before FOLDER`.

Both run at once and are measured in turns, by the loadgen of this build. Passwords are in plain
text, so that no hash hides what a request costs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from rig.servers import Programs
from rig.stores import Store

from . import crowd
from .against_peers import HTTP, KEPT
from .http_front import put, uploads_removed
from .promise import Outcome, Promise, in_turns
from .system import PLAIN, Bench, System, running

_FRONT = ("--http-listen", "127.0.0.1:0", "--uploads", "folder")
_LEAST = 0.98
_MOST_KIB = 1.02
_MODELS = {"thread": 16, "process": 16, "event": 64}  # with how many clients, on both sides

Rate = Callable[[System, int], float]


def promises(build: Path) -> list[Promise]:
    """Each row is this build / that one."""
    Programs(build).require()
    rates: list[tuple[str, str, Rate]] = [
        ("get", "get 1KB", lambda s, n: s.get_rate("1KB", n, "--pipeline")),
        ("kept", "get 1KB, kept", lambda s, n: s.get_rate("1KB", n, "--pipeline", *KEPT)),
        ("10MB", "get 10MB, kept", lambda s, n: s.get_rate("10MB", n, *KEPT)),
        ("new", "new", lambda s, n: s.new_rate(n)),
        ("http", "GET 1KB", _by_http("1KB")),
        ("http-kept", "GET 1KB, kept", _by_http("1KB", *KEPT)),
        ("http-100KB", "GET 100KB, kept", _by_http("100KB", *KEPT)),
        ("http-10MB", "GET 10MB, kept", _by_http("10MB", *KEPT)),
        ("put", "PUT 1KB", _put_1kb),
    ]
    rows = []
    for model in _MODELS:
        for name, title, rate in rates:
            if model == "process" and (name.startswith("http") or name == "put"):
                continue
            measure = _beside(build, model, rate)
            rows.append(
                Promise(f"{name}-{model}", f"{title}, {model}: now / before", _LEAST, measure)
            )
        if model != "process":
            title = f"memory of an idle connection, {model}: now / before"
            measure = _idle_beside(build, model)
            rows.append(Promise(f"idle-{model}", title, _MOST_KIB, measure, at_most=True))
    return rows


def _by_http(size: str, *flags: str) -> Rate:
    return lambda system, n: system.bench.get_rate(system.http_address, size, n, *HTTP, *flags)


def _put_1kb(system: System, threads: int) -> float:
    return float(put(system.bench, system.http_address, "1K", threads)["throughput_rps"])


@contextmanager
def _both(bench: Bench, store: Store, build: Path, model: str) -> Iterator[tuple[System, System]]:
    """Ours, and the system of the other build, in front of one store, with the same flags."""
    rest = ("--wrong-passwords", "0") if model == "process" else _FRONT
    flags = ("--model", model, *rest)
    other = replace(bench, programs=Programs(build))
    with (
        uploads_removed(bench),
        running(bench, store, PLAIN, flags) as now,
        running(other, store, PLAIN, flags) as then,
    ):
        yield now, replace(then, bench=bench)


def _beside(build: Path, model: str, rate: Rate) -> Callable[[Bench, Store], Outcome]:
    n = _MODELS[model]

    def measure(bench: Bench, store: Store) -> Outcome:
        with _both(bench, store, build, model) as systems:
            for system in systems:
                rate(system, n)  # warms it up
            ours, theirs, ratio = in_turns(bench, *(partial(rate, system, n) for system in systems))
        return Outcome(ratio, f"{ours:,.0f}/s, {theirs:,.0f}/s before")

    return measure


def _idle_beside(build: Path, model: str) -> Callable[[Bench, Store], Outcome]:
    """Without the kernel's slabs: it keeps what the first of both has freed, for the second."""

    def own_kib(system: System) -> float:
        parts = crowd.idle_connection_kib(system.address, system.fileserver.pid)
        return sum(kib for name, kib in parts.items() if name != "slab")

    def measure(bench: Bench, store: Store) -> Outcome:
        with _both(bench, store, build, model) as (now, then):
            ours, theirs = own_kib(now), own_kib(then)
        return Outcome(ours / theirs, f"{ours:.1f} KiB each, {theirs:.1f} KiB before")

    return measure
