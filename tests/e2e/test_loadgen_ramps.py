"""loadgen --ramp and --life with --threads, and --start-at."""

import csv
import json
import signal
import time
from functools import partial

from http_client import FLAG as FRONT
from loadgen_scene import GET, LoadgenScene, one_byte_file
from peers import Peer
from processes import minds
from programs import run
from waiting import eventually

RAMP = ("--ramp", 1, "--life", 2)


def _slow(line: bytes, connection) -> bytes:
    time.sleep(0.02)
    return one_byte_file(line, connection)


class LoadgenRampTest(LoadgenScene):
    def assert_wrong_usage(self, words: str, *flags: object) -> None:
        ended = run("loadgen", *GET, "--file", "a", *flags)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn(words, ended.stderr)

    def test_threads_start_evenly_and_each_ends_after_its_life(self) -> None:
        peer = self.scene.keep(Peer(_slow))
        series = self.scene.folder / "series.csv"
        transfers = self.scene.folder / "transfers.csv"
        flags = ("--file", "a", "--threads", 4, *RAMP, "--series", series)
        result = self.result(*GET, *flags, "--transfers", transfers, server=peer)
        with transfers.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        for thread in range(4):
            mine = [float(row["started_s"]) for row in rows if row["thread"] == str(thread)]
            self.assertGreaterEqual(mine[0], thread / 4)
            self.assertLess(mine[-1], thread / 4 + 2.5)
        with series.open(newline="") as lines:
            seconds = list(csv.DictReader(lines))
        self.assertEqual(seconds[-1]["under_way"], "0")
        self.assertEqual(sum(int(row["ended"]) for row in seconds), result["requests"])
        self.assertEqual(result["cooldown_requests"], 0)

    def test_the_plateau_is_from_the_last_start_to_the_first_end(self) -> None:
        peer = self.scene.keep(Peer(_slow))
        transfers = self.scene.folder / "transfers.csv"
        flags = ("--file", "a", "--threads", 4, *RAMP, "--transfers", transfers)
        result = self.result(*GET, *flags, server=peer)
        plateau = result["plateau"]
        self.assertEqual((plateau["start_s"], plateau["elapsed_s"]), (0.75, 1.25))
        self.assertEqual(plateau["threads_started"], 4)
        with transfers.open(newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if 0.75 <= float(row["last_byte_s"]) < 2]
        self.assertAlmostEqual(plateau["requests"], len(rows), delta=1)
        self.assertAlmostEqual(plateau["throughput_rps"], plateau["requests"] / 1.25, places=2)
        self.assertLess(plateau["requests"], result["requests"])
        self.assertEqual(plateau["n_check"], result["n_check"])
        self.assertGreater(result["n_check"], 0.5)
        times = plateau["response_time_ms"]
        self.assertLessEqual(times["p50"], times["max"])
        self.assertGreaterEqual(times["min"], 40)

    def test_seconds_end_a_ramp_without_a_life(self) -> None:
        peer = self.scene.keep(Peer(_slow))
        flags = ("--file", "a", "--threads", 2, "--ramp", 0.5, "--seconds", 1)
        plateau = self.result(*GET, *flags, server=peer)["plateau"]
        self.assertEqual((plateau["start_s"], plateau["elapsed_s"]), (0.25, 0.75))

    def test_a_ramp_of_uploads_on_kept_connections(self) -> None:
        self.serve(*FRONT, "--uploads", "sink")
        server = f"127.0.0.1:{self.fileserver.further_address('http')[1]}"
        flags = ("--protocol", "http", "--size", "100K", "--threads", 8, "--ramp", 0.4)
        kept = ("--connection", "keep-alive", "--life", 1)
        result = self.result("put", *GET[1:], *flags, *kept, server=server)
        self.assertEqual(result["plateau"]["threads_started"], 8)
        self.assertEqual(result["errors"]["total"], 0)

    def test_a_ramp_of_new_accounts(self) -> None:
        """A busy disk takes its time."""
        plain = ("--password-scheme", "plain")
        self.authserver = self.scene.authserver(*plain, "--store-timeout", 60)
        self.fileserver = self.scene.fileserver(self.authserver, "--auth-timeout", 60)
        result = self.result("new", "--threads", 4, "--ramp", 0.4, "--life", 1)
        self.assertEqual(result["plateau"]["threads_started"], 4)
        self.assertGreater(result["plateau"]["requests"], 0)
        self.assertEqual(result["errors"]["total"], 0)

    def test_a_run_that_ends_before_all_have_started_is_not_valid(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = ("--file", "a", "--threads", 4, "--ramp", 40, "--life", 60)
        running = self.started(*GET, *flags, server=peer)
        while not peer.lines:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate()
        self.assertEqual(running.returncode, 130)
        result = json.loads(printed)
        self.assertFalse(result["valid"])
        self.assertIn("the run ended when 1 of 4 threads had started", result["invalid_because"])
        self.assertEqual(result["plateau"]["requests"], 0)

    def test_what_has_no_plateau_is_wrong_usage(self) -> None:
        wrong = self.assert_wrong_usage
        wrong("--life has to be longer than --ramp", "--ramp", 2, "--life", 2)
        wrong("longer than --ramp", "--ramp", 2, "--seconds", 1)
        wrong("longer than --ramp", "--ramp", 2, "--life", 3, "--seconds", 1)
        wrong(
            "--ramp has no effect in this run: it needs a run by time", "--ramp", 1, "--requests", 1
        )
        wrong("it needs a run by time", "--life", 3, "--warmup", 1)
        wrong("it needs a closed loop", "--life", 3, "--rate", 1)

    def test_a_run_begins_at_its_moment(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        start = time.time() + 1.25
        flags = ("--file", "a", "--requests", 3, "--start-at", f"{start:.3f}")
        result = self.result(*GET, *flags, server=peer)
        self.assertGreaterEqual(result["started_unix_s"], start - 0.001)
        self.assertGreaterEqual(result["start_late_s"], 0)
        late = result["started_unix_s"] - start
        self.assertAlmostEqual(result["start_late_s"], late, delta=0.1)

    def test_a_ramp_begins_at_its_moment_and_not_when_its_threads_are_let_go(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        start = time.time() + 1.25
        flags = ("--file", "a", "--threads", 2, "--ramp", 0.2, "--life", 0.5)
        result = self.result(*GET, *flags, "--start-at", f"{start:.3f}", server=peer)
        self.assertGreaterEqual(result["started_unix_s"], start - 0.001)
        self.assertLessEqual(result["started_unix_s"] - start, result["start_late_s"] + 0.001)
        self.assertEqual(result["plateau"]["threads_started"], 2)
        self.assertAlmostEqual(result["plateau"]["start_s"], 0.1, delta=0.01)

    def test_a_moment_that_has_passed_is_told(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = ("--file", "a", "--requests", 3, "--start-at", f"{time.time() - 100:.1f}")
        result = self.result(*GET, *flags, server=peer)
        self.assertEqual(result["requests"], 3)
        self.assertGreaterEqual(result["start_late_s"], 99)

    def test_ctrl_c_ends_the_waiting_at_once(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        for kind in (("--seconds", 5), ("--rate", 5), ("--users", 5, "--pace", 1000)):
            with self.subTest(kind=kind):
                at = ("--start-at", f"{time.time() + 10_000:.0f}")
                running = self.started(*GET, "--file", "a", *kind, *at, server=peer)
                self.addCleanup(running.kill)
                eventually(partial(minds, running.pid, signal.SIGINT), "it minds the signal")
                running.send_signal(signal.SIGINT)
                printed, _ = running.communicate(timeout=20)
                self.assertEqual(running.returncode, 130)
                result = json.loads(printed)
                self.assertFalse(result.get("valid", False))
                self.assertNotIn("start_late_s", result)
        self.assertEqual(peer.lines, [])
