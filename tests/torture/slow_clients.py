"""Slow clients by the thousand: the others keep their throughput, and each slow one is closed."""

import resource
import statistics
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from crowd import SlowClients, SlowReader, open_connections
from processes import resident_bytes
from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig import files, loadgen, servers

_USER, _PASSWORD = "fast", "fast-password"
_READ_BY_SLOW = "slow"
_KEPT_SHORT = 0.4  # of one short pair on a machine that does other things too
_KEPT_FULL = 0.9
_MOST_SLOW = 12_000


@dataclass(frozen=True)
class _Plan:
    """Numbers of one run.

    late_s is how long after the idle time-out the last one may be closed. The time of a reader
    starts when its buffer is full. A server looks at it four times in the idle time-out.
    """

    senders: int
    readers: int
    pairs: int
    fast_s: float
    idle_s: int
    late_s: float


def _plan(bench: Bench) -> _Plan:
    if bench.is_short:
        return _Plan(400, 100, 1, 2, 5, 10)
    possible = (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1000) / _MOST_SLOW
    share = min(1.0, possible)
    return _Plan(int(10_000 * share), int(2_000 * share), 5, 10, 20, 20)


@contextmanager
def _serving(bench: Bench, plan: _Plan) -> Iterator[servers.Pair]:
    root = bench.folder / "files"
    accounts = bench.folder / "accounts.db"
    accounts.unlink(missing_ok=True)
    files.make(root, ["10KB"], 100)
    (root / _READ_BY_SLOW).write_bytes(b"s" * 10_000_000)
    flags = ["--max-connections", "15000", "--idle-timeout", str(plan.idle_s), "--min-rate", "1K"]
    flags += bench.model_flags
    store = ["--sqlite-path", str(accounts)]
    with servers.running(
        bench.programs,
        store_flags=store,
        root=root,
        logs=bench.folder,
        fileserver=servers.Server(flags=flags),
    ) as pair:
        servers.make_account(pair.address, _USER, _PASSWORD)
        yield pair


class _Trial:
    """Servers that are attacked, or left alone, while fast clients are measured."""

    def __init__(self, bench: Bench, plan: _Plan, pair: servers.Pair) -> None:
        self._bench, self._plan, self._pair = bench, plan, pair
        SlowReader.request = f"get:{_USER}:{_PASSWORD}\n{_READ_BY_SLOW}\n".encode()
        self._fast()  # warm

    def _fast(self) -> float:
        """Requests per second of clients that are not slow."""
        flags = ["get", "--server", str(self._pair.address), "--threads", "4", "--user", _USER]
        flags += ["--file", "10KB%d.txt", "--unique", "25"]
        program, log = self._bench.programs.path("loadgen"), self._bench.folder / "loadgen.log"
        run = loadgen.run(program, flags, log, password=_PASSWORD, seconds=self._plan.fast_s)
        return float(run["throughput_rps"])

    def alone(self) -> float:
        return self._fast()

    def attacked(self, with_fast: bool = True) -> tuple[float, float]:
        """The throughput beside slow clients, and after which time the last of them was closed."""
        slow = SlowClients(self._pair.address, self._plan.senders, self._plan.readers)
        with ExitStack() as stack:
            stack.callback(slow.stop)
            slow.start()
            if not slow.all_are_open.wait(60):
                raise AssertionError("not all slow clients could connect within 60 s")
            opened = time.monotonic()
            throughput = self._fast() if with_fast else 0.0
            return throughput, self._time_until_closed(opened)

    def _time_until_closed(self, opened: float) -> float:
        """Infinite if some are still open long after their deadline."""
        while open_connections(self._pair.address) > 0:
            if time.monotonic() - opened > self._plan.idle_s + self._plan.late_s:
                return float("inf")
            time.sleep(0.25)
        return time.monotonic() - opened


def measure(bench: Bench) -> Figure:
    plan = _plan(bench)
    with _serving(bench, plan) as pair:
        trial = _Trial(bench, plan, pair)
        kept, closed = [], []
        for _ in range(plan.pairs):
            alone = trial.alone()
            beside, closed_s = trial.attacked()
            kept.append(beside / alone)
            closed.append(closed_s)
        memory = resident_bytes(pair.fileserver.pid, "VmHWM") >> 20
    share, least = statistics.median(kept), _KEPT_SHORT if bench.is_short else _KEPT_FULL
    in_time = max(closed) <= plan.idle_s + plan.late_s
    return Figure(
        share >= least and in_time,
        f"beside {plan.senders} that send a byte every 2 s and {plan.readers} that read 32 B/s, "
        f"fast clients keep {share:.0%} (at least {least:.0%}; median of {plan.pairs}: "
        f"{', '.join(f'{one:.0%}' for one in kept)}); all slow ones are closed {max(closed):.1f} s "
        f"after the last came (--idle-timeout {plan.idle_s}); at most {memory} MiB",
    )


_NEVER_IDLE = Mutation(
    "each-byte-restarts-the-idle-time",
    "lib/serve/line_conversation.cpp",
    "if (deadline.has_passed()) return false;",
    "deadline = stream_.idle_deadline();",
)


def control(bench: Bench) -> Figure:
    """Each byte restarts the idle time, so those who send slowly stay."""
    plan = _Plan(400, 100, 1, 2, 4, 10)
    bench = broken(bench, _NEVER_IDLE, "fileserver")
    with _serving(bench, plan) as pair:
        _, closed_s = _Trial(bench, plan, pair).attacked(with_fast=False)
    return Figure(
        closed_s <= plan.idle_s + plan.late_s, f"all slow ones are closed after {closed_s:.1f} s"
    )


PROMISE = Promise("slow clients harm nobody", measure, control)
