"""What loadgen itself costs and adds, against load generators of others that ask the same nginx.

One user gets one small file, on kept connections.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from rig.processes import Address, run_tool
from rig.stores import Store

from .against_peers import HTTP, KEPT
from .peers import nginx, wrk
from .promise import Outcome, in_turns
from .system import Bench

_USERS = (8, 64, 256)
_FILE = "1KB1.txt"
_LATE_USERS, _LATE_RATE, _MOST_LATE_MS = 1000, 10_000, 1.0


def missing() -> list[str]:
    return [*([] if wrk.TOOL.found() else [wrk.TOOL.package]), *nginx.missing()]


def cost(bench: Bench, store: Store) -> Outcome:
    """The CPU time of loadgen for a request, where it is worst beside wrk's."""
    return _worst(
        bench,
        lambda address, n: _load(bench, address, n)["cpu"]["us_per_request"],
        lambda address, n: wrk.measure(address, _FILE, n, seconds=bench.seconds).cpu_us,
        max,
        "{:.1f} us of loadgen against {:.1f} us of wrk",
    )


def rate(bench: Bench, store: Store) -> Outcome:
    """The requests that loadgen gets out of nginx, where they are fewest beside wrk's."""
    return _worst(
        bench,
        lambda address, n: _load(bench, address, n)["throughput_rps"],
        lambda address, n: wrk.measure(address, _FILE, n, seconds=bench.seconds).rate,
        min,
        "{:,.0f}/s of loadgen against {:,.0f}/s of wrk",
    )


def _worst(
    bench: Bench,
    ours: Callable[[Address, int], float],
    theirs: Callable[[Address, int], float],
    worst: Callable[[Iterable[tuple[float, str]]], tuple[float, str]],
    words: str,
) -> Outcome:
    outcomes = []
    with _nginx(bench) as address:
        for n in _USERS:
            mine, others, ratio = in_turns(
                bench, partial(ours, address, n), partial(theirs, address, n)
            )
            outcomes.append((ratio, f"N={n}: {ratio:.2f} ({words.format(mine, others)})"))
    return Outcome(worst(outcomes)[0], "; ".join(text for _, text in outcomes))


def alone(bench: Bench, store: Store) -> Outcome:
    """The mean response time of a single user, and the mean of a bare loop of the same calls."""
    program = str(bench.programs.path("peers") / "one_get")
    with _nginx(bench) as address:

        def theirs() -> float:
            words = [program, str(address.port), _FILE, f"{bench.seconds:g}"]
            return float(run_tool(words, "one_get", bench.seconds + 30))

        def ours() -> float:
            result = _load(bench, address, 1, "--threads")
            return float(result["response_time_ms"]["mean"]) * 1000

        mine, others, ratio = in_turns(bench, ours, theirs)
    return Outcome(ratio, f"{mine:.1f} us of loadgen against {others:.1f} us of a bare loop")


def lateness(bench: Bench, store: Store) -> Outcome:
    """How late loadgen is in an open loop of many users, as a part of a millisecond."""
    with _nginx(bench) as address:
        results = [
            _load(bench, address, _LATE_USERS, "--users", "--rate", str(_LATE_RATE))
            for _ in range(bench.rounds)
        ]
    late = sorted(result["open_loop"]["lateness_ms"]["p99"] for result in results)
    middle = late[len(late) // 2]
    return Outcome(middle / _MOST_LATE_MS, f"p99 of {', '.join(f'{ms:.3f}' for ms in late)} ms")


def _load(
    bench: Bench, address: Address, n: int, testers: str = "--users", *more: str
) -> dict[str, Any]:
    flags = ("--user", "user1", "--file", _FILE, testers, str(n), *HTTP, *KEPT, *more)
    return bench.load(address, "get", *flags)


@contextmanager
def _nginx(bench: Bench) -> Iterator[Address]:
    with nginx.running(bench.folder, bench.root, nginx.STATIC) as address:
        yield address
