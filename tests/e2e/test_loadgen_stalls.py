"""loadgen or its server stands still, or loadgen has no core: does the result blame the right one?

STALLS is the number of runs, SEED what their moments are drawn from. `make stalls STALLS=100`.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from loadgen_scene import GET, LoadgenScene
from programs import BUILD, environment
from waiting import LONG_S

_RUNS = int(os.environ.get("STALLS", "10"))
_SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**9))
_SHORTEST_S, _LONGEST_S = 0.2, 6.0

# What stands still for less than this within the window need not be noticed.
_NOTICED_S = 0.15
_STOOD_STILL = "loadgen itself stood still"

_FILE = ("--file", "file1", "--threads", 4)
_USERS = ("--file", "file1", "--users", 40, "--connection", "keep-alive", "--seconds", 2)
_KINDS: dict[str, tuple[object, ...]] = {
    "closed": (*_FILE, "--seconds", 2, "--connection", "keep-alive"),
    "open": (*_FILE, "--seconds", 2, "--rate", 200, "--arrivals", "poisson"),
    "users": _USERS,
    "users that think": (*_USERS, "--think", "exp:0.02"),
    "open users": (*_USERS, "--rate", 200, "--arrivals", "poisson"),
    "burst": (*_FILE, "--requests", 100_000, "--release", "transfer"),
    "crowd": ("--file", "file10", "--users", 20, "--pace", 5000, "--ramp", 0.5, "--seconds", 4),
}
_ENDS_BY_SIGNAL = ("burst",)


@dataclass(frozen=True)
class _Stop:
    """When a process stood still, by the time of day."""

    from_s: float
    to_s: float

    def within_s(self, result: dict) -> float:
        """How much of it lies within the measured window."""
        begun = result["started_unix_s"]
        return min(self.to_s, begun + result["elapsed_s"]) - max(self.from_s, begun)


def _all_reasons(result: dict) -> str:
    return "; ".join(result["invalid_because"])


def _wrong_about_loadgen(_kind: str, stop: _Stop, result: dict) -> str | None:
    if stop.within_s(result) < _NOTICED_S or _STOOD_STILL in _all_reasons(result):
        return None
    return f"loadgen stood still for {stop.within_s(result):.2f} s, and nobody says so"


def _wrong_about_server(kind: str, stop: _Stop, result: dict) -> str | None:
    stopped_ms = 1000 * stop.within_s(result)
    if stopped_ms < 1000 * _NOTICED_S:
        return None
    if result["stalls_ms"]["total"] > 0.8 * stopped_ms:
        return f"the server stood still for {stopped_ms:.0f} ms, and loadgen says that it did"
    is_loop = kind not in ("burst", "crowd")
    shown_ms = result["response_time_ms"]["max"] if is_loop else stopped_ms
    if result["valid"] and shown_ms < 0.9 * stopped_ms:
        return f"the server stood still for {stopped_ms:.0f} ms, and {shown_ms:.0f} ms are shown"
    return None


def _wrong_about_cores(kind: str, result: dict) -> str | None:
    """A crowd hardly needs a core. Its users may hold, but those that do not are not the server's
    fault."""
    if not result["valid"]:
        return None
    if kind == "crowd":
        left = result["users"]["dropped"]
        return f"loadgen had no core, and {left} users were too slow" if left else None
    if result["run_delay"]["is_starved"] or _waited_share(kind, result) < 0.25:
        return None
    return "loadgen had no core, and nobody says so"


def _waited_share(kind: str, result: dict) -> float:
    """The part of the figures that is loadgen's wait for a core. Beside a server that is slow for
    want of cores too, it is small. An open loop is judged by its lateness."""
    if kind in ("open", "open users"):
        return 0.0
    if kind in ("burst", "users that think"):
        return result["run_delay"]["share"]
    mean_ms = result["response_time_ms"]["mean"]
    return result["run_delay"]["ms_per_request"] / mean_ms if mean_ms else 1.0


class LoadgenStallsTest(LoadgenScene):
    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.serve()
        self.random = random.Random(_SEED)

    def start(self, kind: str, prepare: Callable[[], None] | None = None) -> subprocess.Popen:
        server = ("--server", self.fileserver, "--json", "-")
        running = subprocess.Popen(
            [str(BUILD / "loadgen"), *map(str, (*GET, *_KINDS[kind], *server))],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=prepare,
        )
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        return running

    def result_of(self, kind: str, running: subprocess.Popen) -> dict:
        if kind in _ENDS_BY_SIGNAL:
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
        return json.loads(running.communicate(timeout=4 * LONG_S)[0])

    def stop(self, pid: int) -> _Stop:
        """At a random moment, for a random time: short ones are as likely as long ones."""
        time.sleep(self.random.uniform(0.1, 2))
        os.kill(pid, signal.SIGSTOP)
        from_s = time.time()
        try:
            time.sleep(_SHORTEST_S * (_LONGEST_S / _SHORTEST_S) ** self.random.random())
        finally:
            to_s = time.time()
            os.kill(pid, signal.SIGCONT)
        return _Stop(from_s, to_s)

    def stop_loadgen(self, kind: str) -> str | None:
        running = self.start(kind)
        stop = self.stop(running.pid)
        return _wrong_about_loadgen(kind, stop, self.result_of(kind, running))

    def stop_server(self, kind: str) -> str | None:
        running = self.start(kind)
        stop = self.stop(self.fileserver.pid)
        return _wrong_about_server(kind, stop, self.result_of(kind, running))

    def starve(self, kind: str) -> str | None:
        """loadgen shares one core with two busy loops."""
        core = {self.random.choice(sorted(os.sched_getaffinity(0)))}

        def on_the_core() -> None:
            os.sched_setaffinity(0, core)

        loop = ["sh", "-c", "while :; do :; done"]
        busy = [subprocess.Popen(loop, preexec_fn=on_the_core) for _ in range(2)]
        try:
            running = self.start(kind, on_the_core)
            time.sleep(1)
            return _wrong_about_cores(kind, self.result_of(kind, running))
        finally:
            for process in busy:
                process.kill()
                process.wait()

    def test_no_result_blames_the_wrong_one(self) -> None:
        faults = (self.stop_loadgen, self.stop_server, self.starve)
        cases = [(fault, kind) for fault in faults for kind in _KINDS]
        wrong = []
        for number in range(_RUNS):
            if number % len(cases) == 0:
                self.random.shuffle(cases)
            fault, kind = cases[number % len(cases)]
            if found := fault(kind):
                wrong.append(f"run {number}, {fault.__name__}, {kind}: {found}")
        self.assertEqual(wrong, [], f"SEED={_SEED}")
