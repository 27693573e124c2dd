"""Turnstile by itself, and against what the kernel and iperf3 say.

Passwords are in plain text: none of these figures is about them.
"""

import statistics
from pathlib import Path

from rig import iperf3
from rig.host import accepted_connections
from rig.stores import Store

from . import crowd
from .promise import Outcome, in_turns
from .system import PLAIN, Bench, System, running

_CROWD_THREADS = 8
_STREAMS = 2  # of a transfer that is compared with iperf3
_IDLE_KIB = 32.5


def _get_1kb(system: System, threads: int) -> float:
    return system.get_rate("1KB", threads)


def large_against_iperf(bench: Bench, store: Store) -> Outcome:
    """Both send over loopback, two connections each, with the same congestion control."""
    with running(bench, store, PLAIN) as system:

        def ours() -> float:
            result = system.get("10MB", _STREAMS, "--connection", "keep-alive")
            return float(result["bytes"] / result["elapsed_s"])

        def theirs() -> float:
            return iperf3.measure(bench.seconds, bench.folder, _STREAMS).bytes_per_s

        mine, others, ratio = in_turns(bench, ours, theirs)
    control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text(encoding="ascii").strip()
    evidence = f"{mine / 1e6:,.0f} MB/s against {others / 1e6:,.0f} MB/s of iperf3 ({control})"
    return Outcome(ratio, evidence)


def idle_memory(bench: Bench, store: Store) -> Outcome:
    with running(bench, store, PLAIN) as system:
        parts = crowd.idle_connection_kib(system.address, system.fileserver.pid)
    kib = sum(parts.values())
    return Outcome(round(kib, 1) / _IDLE_KIB, f"{kib:.1f} KiB each ({crowd.text_of(parts)})")


def trickling_crowd(bench: Bench, store: Store) -> Outcome:
    with running(bench, store, PLAIN) as system:

        def with_crowd() -> float:
            with crowd.trickling(system.address):
                return _get_1kb(system, _CROWD_THREADS)

        ours, alone, ratio = in_turns(bench, with_crowd, lambda: _get_1kb(system, _CROWD_THREADS))
    return Outcome(ratio, f"{ours:,.0f}/s with 2,000 slow connections, {alone:,.0f}/s without")


def telemetry_costs_nothing(bench: Bench, store: Store) -> Outcome:
    """On kept connections, where a request costs least, so that counting shows most."""
    flags = ("--telemetry-listen", "0")

    def rate(system: System) -> float:
        kept = ("--connection", "keep-alive", "--pipeline")
        return float(system.get("1KB", _CROWD_THREADS, *kept)["throughput_rps"])

    with (
        running(bench, store, (*PLAIN, *flags), flags) as counting,
        running(bench, store, PLAIN) as plain,
    ):
        ours, without, ratio = in_turns(bench, lambda: rate(counting), lambda: rate(plain))
    return Outcome(ratio, f"{ours:,.0f}/s with --telemetry-listen, {without:,.0f}/s without")


def independent_meter(bench: Bench, store: Store) -> Outcome:
    """The kernel counts accepted connections, and loadgen makes one for each request."""
    with running(bench, store, PLAIN) as system:
        _get_1kb(system, _CROWD_THREADS)  # opens the connections to the authserver
        rounds = []
        for _ in range(bench.rounds):
            before = accepted_connections()
            claimed = system.get("1KB", _CROWD_THREADS)["requests"]
            rounds.append((accepted_connections() - before, claimed))
    counted, claimed = rounds[len(rounds) // 2]
    ratio = statistics.median(max(k / c, c / k) for k, c in rounds)
    return Outcome(ratio, f"loadgen says {claimed:,} requests, the kernel {counted:,} connections")
