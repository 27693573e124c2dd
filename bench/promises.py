"""The promises, each a function from a bench and a store to a ratio with its evidence."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lab.errors import Failed
from lab.stores import Store

from . import crowd
from .system import PAPER_AUTHSERVER, PAPER_FILESERVER, USER, Bench, System, running

_THREADS = (4, 8, 16, 32)  # the best of these is compared: each system at its own best N
_GROUP_COMMIT_THREADS = 16
_PLAIN = ("--password-scheme", "plain")


@dataclass(frozen=True)
class Outcome:
    ratio: float
    evidence: str


@dataclass(frozen=True)
class Promise:
    """limit is the least ratio, or the most where at_most is set."""

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
    """Median of ours, median of theirs, median of the rounds' ratios."""
    pairs = [(ours(), theirs()) for _ in range(bench.rounds)]
    return (
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
    )


def _compare(
    bench: Bench,
    store: Store,
    rate: Callable[[System, int], float],
    ours: tuple[str, ...],
    theirs: tuple[tuple[str, ...], tuple[str, ...]],
    threads: int | None = None,
) -> Outcome:
    """Our flags against others', each at its best N or at the N given, both systems up all the time."""
    with running(bench, store, ours) as fast, running(bench, store, *theirs) as slow:
        fast_n = threads or _best(lambda n: rate(fast, n))[1]
        slow_n = threads or _best(lambda n: rate(slow, n))[1]
        fast_rate, slow_rate, ratio = _in_turns(
            bench, lambda: rate(fast, fast_n), lambda: rate(slow, slow_n)
        )
    return Outcome(
        ratio, f"{fast_rate:,.0f}/s at N={fast_n} against {slow_rate:,.0f}/s at N={slow_n}"
    )


def get_against_paper(bench: Bench, store: Store) -> Outcome:
    return _compare(
        bench,
        store,
        lambda system, n: system.get_rate("1KB", n),
        (),
        (PAPER_AUTHSERVER, PAPER_FILESERVER),
    )


def get_against_paper_plain(bench: Bench, store: Store) -> Outcome:
    """The paper's stage kept passwords in plain text, ours does not: the memo has to make up for it."""
    return _compare(
        bench,
        store,
        lambda system, n: system.get_rate("1KB", n),
        (),
        ((*PAPER_AUTHSERVER, *_PLAIN), PAPER_FILESERVER),
    )


def new_against_paper(bench: Bench, store: Store) -> Outcome:
    return _compare(
        bench,
        store,
        lambda system, n: system.new_rate(n),
        _PLAIN,
        ((*PAPER_AUTHSERVER, *_PLAIN), PAPER_FILESERVER),
    )


def new_against_paper_at_16(bench: Bench, store: Store) -> Outcome:
    """At one N for both: many at once, so that the store's group commit can work."""
    return _compare(
        bench,
        store,
        lambda system, n: system.new_rate(n),
        _PLAIN,
        ((*PAPER_AUTHSERVER, *_PLAIN), PAPER_FILESERVER),
        _GROUP_COMMIT_THREADS,
    )


def large_against_iperf(bench: Bench, store: Store) -> Outcome:
    """Both move bytes over loopback with the kernel's congestion control, which is told."""
    with running(bench, store) as system:

        def ours() -> float:
            result = system.load(
                "get",
                "--user",
                USER,
                "--file",
                "10MB1.txt",
                "--threads",
                "2",
                "--connection",
                "keep-alive",
            )
            return result["bytes"] / result["elapsed_s"]

        mine, theirs, ratio = _in_turns(bench, ours, lambda: _iperf_bytes_per_s(bench))
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()
    return Outcome(
        ratio, f"{mine / 1e6:,.0f} MB/s against {theirs / 1e6:,.0f} MB/s of iperf3 ({control})"
    )


def _iperf_bytes_per_s(bench: Bench) -> float:
    """Two streams, as our two threads."""
    with subprocess.Popen(
        ["iperf3", "--server", "--one-off", "--bind", "127.0.0.1", "--port", "5299"],
        stdout=subprocess.DEVNULL,
    ) as server:
        try:
            for _ in range(50):
                done = subprocess.run(
                    [
                        "iperf3",
                        "--client",
                        "127.0.0.1",
                        "--port",
                        "5299",
                        "--parallel",
                        "2",
                        "--time",
                        f"{max(1, round(bench.seconds))}",
                        "--json",
                    ],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                received = json.loads(done.stdout or "{}").get("end", {}).get("sum_received")
                if received:
                    return received["bits_per_second"] / 8
                time.sleep(
                    0.1
                )  # the server does not say when it listens; the client tells that it does not, with 0
            raise Failed("iperf3 gave no result")
        finally:
            server.terminate()


def idle_memory(bench: Bench, store: Store) -> Outcome:
    with running(bench, store) as system:
        kib, parts = crowd.idle_connections_kib(system.address, system.fileserver.pid)
    return Outcome(kib / 45, f"{kib:.1f} KiB each ({parts})")


def trickling_crowd(bench: Bench, store: Store) -> Outcome:
    with running(bench, store) as system:

        def with_crowd() -> float:
            with crowd.trickling(system.address):
                return system.get_rate("1KB", 8)

        ours, alone, ratio = _in_turns(bench, with_crowd, lambda: system.get_rate("1KB", 8))
    return Outcome(ratio, f"{ours:,.0f}/s with 2,000 tricklers, {alone:,.0f}/s without")


def independent_meter(bench: Bench, store: Store) -> Outcome:
    """The kernel counts the connections that were accepted: one for each request, in a namespace of our own."""
    with running(bench, store) as system:
        system.get_rate("1KB", 8)  # so that the connections to the authserver are there
        rounds = []
        for _ in range(bench.rounds):
            before, start = _accepted_connections(), time.monotonic()
            result = system.load("get", "--user", USER, "--file", "1KB1.txt", "--threads", "8")
            rounds.append(
                (_accepted_connections() - before, result["requests"], time.monotonic() - start)
            )
    counted, claimed, _ = rounds[len(rounds) // 2]
    ratio = statistics.median(max(k / c, c / k) for k, c, _ in rounds)
    return Outcome(ratio, f"loadgen says {claimed:,} requests, the kernel {counted:,} connections")


def _accepted_connections() -> int:
    names, values = [
        line.split()
        for line in Path("/proc/net/snmp").read_text(encoding="ascii").splitlines()
        if line.startswith("Tcp:")
    ]
    return int(values[names.index("PassiveOpens")])


ALL = (
    Promise("get 1KB: defaults against the paper's way", 1.5, get_against_paper, ("sqlite",)),
    Promise("get 10MB: prefetched against iperf3", 0.8, large_against_iperf, ("sqlite",)),
    Promise(
        "idle connection: memory, as a part of 45 KiB", 1.0, idle_memory, ("sqlite",), at_most=True
    ),
    Promise("8 clients among 2,000 that trickle, against alone", 0.9, trickling_crowd, ("sqlite",)),
    Promise(
        "loadgen against the kernel's count", 1.05, independent_meter, ("sqlite",), at_most=True
    ),
    Promise(
        "get 1KB: defaults against the paper's redis stage",
        2.0,
        get_against_paper_plain,
        ("redis",),
    ),
    Promise("new, plain: kept against the paper's redis stage", 1.8, new_against_paper, ("redis",)),
    Promise(
        "new, plain, N=16: kept against the paper's way", 2.5, new_against_paper_at_16, ("mysql",)
    ),
)
