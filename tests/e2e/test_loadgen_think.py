"""loadgen --think: a pause before each request of a closed loop."""

import csv
import itertools
import json
import math
import signal
import socket
import threading
import time

from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file
from peers import Peer
from programs import run
from waiting import LONG_S

_FILE = (*GET, "--file", "a")
_KEPT = ("--connection", "keep-alive")
_BITS = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_PAUSE = 3  # Drawn::kPause


def _mixed(bits: int) -> int:
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 & _BITS
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & _BITS
    return bits ^ (bits >> 31)


def drawn_s(mean_s: float, seed: int, thread: int, request: int) -> float:
    """The pause of `exp:mean_s`, computed as loadgen/clients/draw.cpp says."""
    state = 0
    for number in (seed, thread, request, _PAUSE):
        state = _mixed((state + (number + 1) * _STEP) & _BITS)
    bits = _mixed((state + _STEP) & _BITS)
    return -math.log1p(-(bits >> 11) * 2.0**-53) * mean_s


def seed_for(mean_s: float, short: tuple, long: tuple) -> int:
    """Of which the pauses `short` take under half a second, and those `long` over a minute."""
    return next(
        seed
        for seed in itertools.count(1)
        if all(drawn_s(mean_s, seed, *pause) < 0.5 for pause in short)
        and all(drawn_s(mean_s, seed, *pause) > 60 for pause in long)
    )


class LoadgenThinkTest(LoadgenScene):
    def peer(self) -> Peer:
        return self.scene.keep(Peer(one_byte_file))

    def pauses(self, *flags: object) -> tuple[dict, list[float]]:
        """The result of one thread, and the times before each of its requests."""
        path = self.scene.folder / "transfers.csv"
        result = self.result(*_FILE, *flags, "--transfers", path, server=self.peer())
        with path.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        ends = [0.0, *(float(row["last_byte_s"]) for row in rows)]
        starts = [float(row["started_s"]) for row in rows]
        return result, [start - end for start, end in zip(starts, ends, strict=False)]

    def test_there_is_a_pause_before_each_request_and_in_no_response_time(self) -> None:
        for connection in ("per-request", "keep-alive"):
            with self.subTest(connection):
                flags = ("--think", "fixed:0.1", "--requests", 4, "--connection", connection)
                result, pauses = self.pauses(*flags)
                self.assertEqual(len(pauses), 4)
                self.assertGreaterEqual(min(pauses), 0.0999)
                self.assertGreaterEqual(result["think_s"], 0.1)
                self.assertGreaterEqual(result["elapsed_s"], 0.4)
                self.assertLess(result["response_time_ms"]["min"], 100)
                cycle_s = result["response_time_ms"]["mean"] / 1000 + result["think_s"]
                self.assertAlmostEqual(
                    result["n_check"], result["throughput_rps"] * cycle_s, places=5
                )
                self.assertGreater(result["n_check"], 0.5)  # most of it are pauses
                self.assertLess(result["n_check"], 1.001)
                self.assertEqual(result["settings"]["think"], "fixed:0.1")

    def test_fixed_pauses_of_several_threads_are_not_in_step(self) -> None:
        path = self.scene.folder / "transfers.csv"
        flags = ("--think", "fixed:2", "--requests", 1, "--threads", 4, "--transfers", path)
        self.result(*_FILE, *flags, server=self.peer())
        with path.open(newline="") as lines:
            starts = {row["thread"]: float(row["started_s"]) for row in csv.DictReader(lines)}
        for thread in range(4):
            self.assertGreaterEqual(starts[str(thread)], 0.5 * (thread + 1) - 0.0001)
        self.assertLess(min(starts.values()), 2)

    def test_the_seed_fixes_the_pauses(self) -> None:
        """Measured ones are never shorter than those that are drawn, but may be longer."""
        flags = ("--think", "exp:0.02", "--requests", 30, "--seed", 5)
        _, pauses = self.pauses(*flags, *_KEPT)
        self.assertEqual(len(pauses), 30)
        for request, pause in enumerate(pauses):
            self.assertGreaterEqual(pause, drawn_s(0.02, 5, 0, request) - 0.0001)
        other = [drawn_s(0.02, 6, 0, request) for request in range(30)]
        self.assertFalse(all(p >= d for p, d in zip(pauses, other, strict=True)))

    def test_the_pauses_of_a_warm_up_are_not_measured(self) -> None:
        peer = self.peer()
        flags = ("--think", "fixed:0.05", "--warmup", 0.5, "--seconds", 0.5)
        result = self.result(*_FILE, *flags, server=peer)
        self.assertGreater(result["warmup_requests"], 0)
        self.assertGreaterEqual(result["think_s"], 0.05)
        self.assertLessEqual(result["think_s"] * result["requests"], result["elapsed_s"])
        self.assertLessEqual(result["n_check"], 1.001)

    def test_the_end_of_the_window_cuts_a_pause(self) -> None:
        seed = seed_for(100, short=((0, 0),), long=((0, 1),))
        flags = ("--think", "exp:100", "--seed", seed, "--seconds", 1)
        result = self.result(*_FILE, *flags, server=self.peer())
        self.assertEqual((result["requests"], result["end"]), (1, "time"))
        self.assertEqual(result["elapsed_s"], 1.0)  # to the cut, and not to the end of the request
        self.assertEqual(result["cooldown_requests"], 0)
        self.assertGreater(result["n_check"], 0.5)
        self.assertGreater(result["think_s"], 0.5)

    def test_a_thread_in_its_pause_waits_for_no_longer_than_the_slowest_request(self) -> None:
        """The other thread has a request under way when the window ends."""
        seed = seed_for(100, short=((0, 0), (1, 0)), long=((0, 1), (1, 1)))
        asked = threading.Semaphore(1)

        def slow_second(line: bytes, connection: socket.socket) -> bytes:
            if line != GET_LINE and not asked.acquire(blocking=False):
                time.sleep(2)
            return one_byte_file(line, connection)

        flags = ("--think", "exp:100", "--seed", seed, "--seconds", 1, "--threads", 2)
        running = self.started(*_FILE, *flags, server=self.scene.keep(Peer(slow_second)))
        result = json.loads(running.communicate(timeout=LONG_S)[0])
        self.assertEqual(result["requests"], 2)
        self.assertGreaterEqual(result["response_time_ms"]["max"], 2000)

    def test_a_run_that_ends_in_its_first_pauses_says_so(self) -> None:
        flags = ("--think", "fixed:3000", "--warmup", 0.1, "--seconds", 0.2, "--threads", 3)
        result = self.result(*_FILE, *flags, server=self.peer(), status=1)
        because = "no request was sent, because the run ended in the first pauses of --think"
        self.assertEqual(result["invalid_because"], [because])

    def test_a_connection_for_each_request_is_closed_before_the_pause(self) -> None:
        ended = threading.Event()

        class Watching(Peer):
            def serve(self, connection: socket.socket) -> None:
                super().serve(connection)
                ended.set()

        peer = self.scene.keep(Watching(one_byte_file))
        seed = seed_for(100, short=((0, 0),), long=((0, 1),))
        flags = ("--think", "exp:100", "--seed", seed, "--seconds", 3600)
        running = self.started(*_FILE, *flags, server=peer)
        self.assertTrue(ended.wait(LONG_S))
        running.send_signal(signal.SIGINT)
        output, told = running.communicate(timeout=LONG_S)
        self.assertEqual(running.returncode, 130, told)
        self.assertNotIn(b"waiting for", told)
        result = json.loads(output)
        self.assertEqual((result["requests"], result["errors"]["total"]), (1, 0))

    def test_a_kept_connection_stays_open(self) -> None:
        peer = self.peer()
        result = self.result(*_FILE, *_KEPT, "--think", "fixed:0.05", "--requests", 5, server=peer)
        self.assertEqual((result["connections"], peer.connections), (1, 1))

    def test_a_ramp_counts_the_pauses_of_its_plateau(self) -> None:
        flags = ("--threads", 4, "--ramp", 0.4, "--life", 1.2, "--think", "fixed:0.1")
        result = self.result(*_FILE, *flags, server=self.peer())
        self.assertGreater(result["plateau"]["n_check"], 0.5)  # the requests take no time
        self.assertLess(result["plateau"]["n_check"], 1.001)
        self.assertGreaterEqual(result["think_s"], 0.07)

    def test_the_table_says_what_was_measured_and_what_was_asked(self) -> None:
        flags = ("--think", "exp:0.01", "--requests", 20, "--threads", 2)
        ended = run("loadgen", *_FILE, *flags, "--server", self.peer())
        self.assertIn(ended.returncode, (0, 1), ended.stderr)  # 1 where it had to wait for a core
        self.assertRegex(ended.stderr, r"think time +mean \d+\.\d+ ms, as measured; .* exp:0\.01\n")
        self.assertRegex(ended.stderr, r"N = X\*\(R\+Z\): 2 threads, .* in requests and pauses")

    def test_testers_with_one_think_time_add_up(self) -> None:
        paths = []
        for number, think in enumerate(("exp:0.01", "exp:0.01", "fixed:0.01")):
            paths.append(self.scene.folder / f"{number}.json")
            flags = ("--think", think, "--requests", 20 + number)
            server = ("--server", self.peer(), "--json", paths[-1])
            self.assertIn(run("loadgen", *_FILE, *flags, *server).returncode, (0, 1))
        out = self.scene.folder / "all.json"
        run("loadgen", "merge", *paths[:2], "--json", out)
        parts = [json.loads(path.read_text()) for path in paths]
        paused_s = sum(part["think_s"] * part["requests"] for part in parts[:2])
        self.assertAlmostEqual(json.loads(out.read_text())["think_s"], paused_s / 41, places=8)
        refused = run("loadgen", "merge", *paths[1:], "--json", out)
        self.assertIn("another think time", refused.stderr)

    def test_other_kinds_of_run_have_no_pauses(self) -> None:
        for kind in (
            ("--rate", 5),
            ("--release", "transfer", "--requests", 2),
            ("--users", 2, "--pace", 1000),
        ):
            with self.subTest(kind=kind):
                ended = run("loadgen", *_FILE, *kind, "--think", "exp:1")
                self.assertEqual(ended.returncode, 2)
                self.assertIn("--think has no effect in this run", ended.stderr)
                self.assertIn("it needs a closed loop", ended.stderr)
