"""The promises: each a function of a bench and a store that returns a ratio and its evidence."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab import catalog
from lab.rig import iperf3
from lab.rig.host import accepted_connections
from lab.rig.stores import Store

from . import crowd
from .system import Bench, System, running

_THREADS = (4, 8, 16, 32)  # each system is measured at the best of these
_GROUP_COMMIT_THREADS = 16
_CROWD_THREADS = 8
_STREAMS = 2  # of a transfer that is compared with iperf3
_IDLE_KIB = 45
_PLAIN = ("--password-scheme", "plain")
_ARGON2ID = ("--password-scheme", "argon2id")

# The paper's last stage: a new thread and new connections for each request, prefetched files,
# plain passwords.
_PAPER = catalog.stages()["redis"]


@dataclass(frozen=True)
class Outcome:
    ratio: float
    evidence: str


@dataclass(frozen=True)
class Promise:
    """limit is the smallest ratio that keeps the promise, or the largest if at_most is set."""

    title: str
    limit: float
    measure: Callable[[Bench, Store], Outcome]
    stores: tuple[str, ...]
    at_most: bool = False

    def is_kept(self, outcome: Outcome) -> bool:
        return outcome.ratio <= self.limit if self.at_most else outcome.ratio >= self.limit


def _best(rate_of: Callable[[int], float]) -> tuple[float, int]:
    return max((rate_of(threads), threads) for threads in _THREADS)


def _in_turns(
    bench: Bench, ours: Callable[[], float], theirs: Callable[[], float]
) -> tuple[float, float, float]:
    """Measures alternately; returns the medians of ours, of theirs, and of the rounds' ratios."""
    pairs = [(ours(), theirs()) for _ in range(bench.rounds)]
    return (
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def _against_paper(
    bench: Bench,
    store: Store,
    rate: Callable[[System, int], float],
    ours: tuple[str, ...] = (),
    paper: tuple[str, ...] = (),
    threads: int | None = None,
) -> Outcome:
    """Compares our defaults with the paper's last stage; both systems are up all the time.

    ours and paper are further flags of the two authservers. Each system has its best number of
    threads, unless one is given.
    """
    with (
        running(bench, store, ours) as fast,
        running(bench, store, (*_PAPER.authserver, *paper), _PAPER.fileserver) as slow,
    ):
        fast_n = threads or _best(lambda n: rate(fast, n))[1]
        slow_n = threads or _best(lambda n: rate(slow, n))[1]
        fast_rate, slow_rate, ratio = _in_turns(
            bench, lambda: rate(fast, fast_n), lambda: rate(slow, slow_n)
        )
    evidence = f"{fast_rate:,.0f}/s at N={fast_n} against {slow_rate:,.0f}/s at N={slow_n}"
    return Outcome(ratio, evidence)


def _get_1kb(system: System, threads: int) -> float:
    return system.get_rate("1KB", threads)


def get_against_paper(bench: Bench, store: Store) -> Outcome:
    """Both sides hash passwords with argon2id."""
    return _against_paper(bench, store, _get_1kb, paper=_ARGON2ID)


def get_against_paper_plain(bench: Bench, store: Store) -> Outcome:
    """We hash passwords and the paper did not; the memo of verified passwords makes up for it."""
    return _against_paper(bench, store, _get_1kb)


def new_against_paper(bench: Bench, store: Store) -> Outcome:
    return _against_paper(bench, store, System.new_rate, _PLAIN)


def new_against_paper_at_16(bench: Bench, store: Store) -> Outcome:
    """With many requests at once the store can commit several accounts in one group."""
    return _against_paper(bench, store, System.new_rate, _PLAIN, threads=_GROUP_COMMIT_THREADS)


def large_against_iperf(bench: Bench, store: Store) -> Outcome:
    """Both send over loopback, two connections each, with the same congestion control."""
    with running(bench, store) as system:

        def ours() -> float:
            result = system.get("10MB", _STREAMS, "--connection", "keep-alive")
            return float(result["bytes"] / result["elapsed_s"])

        def theirs() -> float:
            return iperf3.measure(bench.seconds, bench.folder, _STREAMS).bytes_per_s

        mine, others, ratio = _in_turns(bench, ours, theirs)
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()
    evidence = f"{mine / 1e6:,.0f} MB/s against {others / 1e6:,.0f} MB/s of iperf3 ({control})"
    return Outcome(ratio, evidence)


def idle_memory(bench: Bench, store: Store) -> Outcome:
    with running(bench, store) as system:
        kib, parts = crowd.idle_connections_kib(system.address, system.fileserver.pid)
    return Outcome(kib / _IDLE_KIB, f"{kib:.1f} KiB each ({parts})")


def trickling_crowd(bench: Bench, store: Store) -> Outcome:
    with running(bench, store) as system:

        def with_crowd() -> float:
            with crowd.trickling(system.address):
                return _get_1kb(system, _CROWD_THREADS)

        ours, alone, ratio = _in_turns(bench, with_crowd, lambda: _get_1kb(system, _CROWD_THREADS))
    return Outcome(ratio, f"{ours:,.0f}/s with 2,000 slow connections, {alone:,.0f}/s without")


def telemetry_costs_nothing(bench: Bench, store: Store) -> Outcome:
    """On kept connections, where a request costs least, so that counting shows most."""
    flags = ("--telemetry-listen", "0")

    def rate(system: System) -> float:
        kept = ("--connection", "keep-alive", "--pipeline")
        return float(system.get("1KB", _CROWD_THREADS, *kept)["throughput_rps"])

    with running(bench, store, flags, flags) as counting, running(bench, store) as plain:
        ours, without, ratio = _in_turns(bench, lambda: rate(counting), lambda: rate(plain))
    return Outcome(ratio, f"{ours:,.0f}/s with --telemetry-listen, {without:,.0f}/s without")


def independent_meter(bench: Bench, store: Store) -> Outcome:
    """The kernel counts accepted connections, and loadgen makes one for each request."""
    with running(bench, store) as system:
        _get_1kb(system, _CROWD_THREADS)  # opens the connections to the authserver
        rounds = []
        for _ in range(bench.rounds):
            before = accepted_connections()
            claimed = system.get("1KB", _CROWD_THREADS)["requests"]
            rounds.append((accepted_connections() - before, claimed))
    counted, claimed = rounds[len(rounds) // 2]
    ratio = statistics.median(max(k / c, c / k) for k, c in rounds)
    return Outcome(ratio, f"loadgen says {claimed:,} requests, the kernel {counted:,} connections")


ALL = (
    Promise("get 1KB: defaults / paper's setup", 1.5, get_against_paper, ("sqlite",)),
    Promise("get 10MB: prefetched / iperf3", 0.8, large_against_iperf, ("sqlite",)),
    Promise("memory of an idle connection / 45 KiB", 1.0, idle_memory, ("sqlite",), at_most=True),
    Promise(
        "get 1KB, 8 clients: beside 2,000 slow ones / alone", 0.9, trickling_crowd, ("sqlite",)
    ),
    Promise(
        "get 1KB, kept connections: with telemetry / without",
        0.95,
        telemetry_costs_nothing,
        ("sqlite",),
    ),
    Promise("loadgen's count / the kernel's", 1.05, independent_meter, ("sqlite",), at_most=True),
    Promise("get 1KB: defaults / paper's setup", 2.0, get_against_paper_plain, ("redis",)),
    Promise("new, plain passwords: defaults / paper's setup", 1.8, new_against_paper, ("redis",)),
    Promise(
        "new, plain passwords, N=16: defaults / paper's setup",
        2.5,
        new_against_paper_at_16,
        ("mysql",),
    ),
)
