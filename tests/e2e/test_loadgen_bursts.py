"""loadgen --release transfer: all threads are ready, then all ask for their files."""

import json
import signal
import socket
import subprocess
import threading
import time

from ftp_peer import FILE, FtpPeer
from http_client import FLAG
from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file
from peers import Peer
from programs import BUILD, environment, run

_BURST = (*GET, "--release", "transfer")
_THREADS = 3


def _is_in_rounds(seen: list[str], opening: str, asking: str, rounds: int) -> bool:
    """Whether in each round all have sent `opening` before the first sends `asking`."""
    return seen == ([opening] * _THREADS + [asking] * _THREADS) * rounds


class LoadgenBurstsTest(LoadgenScene):
    def burst(self, *flags: object, server: object, status: int = 0) -> dict:
        flags = ("--threads", _THREADS, *flags)
        return self.result(*_BURST, *flags, server=server, status=status)

    def one_stays_silent(self, at: bytes) -> dict:
        """Three rounds against a server that never answers one of the lines of the first."""
        lock = threading.Lock()
        silent: list[socket.socket] = []

        def answer(line: bytes, connection: socket.socket) -> bytes | None:
            with lock:
                if line == at and not silent:
                    silent.append(connection)
                    return None
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(answer))
        flags = ("--file", "a", "--requests", 3, "--timeout", 1.5)
        return self.burst(*flags, server=peer, status=1)

    def test_nobody_asks_before_all_have_logged_in(self) -> None:
        for connection in ("per-request", "keep-alive"):
            peer = self.scene.keep(Peer(one_byte_file))
            flags = ("--file", "a", "--requests", 4, "--connection", connection)
            result = self.burst(*flags, server=peer)
            lines = [line.decode() for line in peer.lines]
            self.assertTrue(_is_in_rounds(lines, GET_LINE.decode(), "a\n", 4), lines)
            self.assertEqual((result["requests"], result["burst"]["rounds"]), (12, 4))

    def test_ftp_data_connections_are_there_before_all_ask(self) -> None:
        for connection in ("per-request", "keep-alive"):
            peer = self.scene.keep(FtpPeer())
            ftp = ("--protocol", "ftp", "--connection", connection)
            result = self.burst(*ftp, "--file", "a", "--requests", 2, server=peer)
            verbs = [verb for verb in peer.verbs() if verb in ("EPSV", "RETR")]
            self.assertTrue(_is_in_rounds(verbs, "EPSV", "RETR", 2), verbs)
            self.assertEqual(result["burst"]["bytes"], 6 * len(FILE))
            self.assertEqual(list(result["phases_ms"]), ["first_byte", "data_end", "last_byte"])

    def test_our_fileserver_natively_and_by_http(self) -> None:
        self.serve(*FLAG)
        http = self.fileserver.further_address("http")
        verify = ("--verify", "--verify-root", self.scene.root)
        for server, flags in ((self.fileserver, ()), (http, ("--protocol", "http"))):
            files = ("--file", "file%d", "--unique", 4, "--requests", 8)
            result = self.burst(*flags, *files, *verify, server=server)
            self.check_figures(result)

    def check_figures(self, result: dict) -> None:
        """Each round asks for one of the four files of each thread; two rounds take each once."""
        burst = result["burst"]
        self.assertEqual(burst["bytes"], 2 * sum(self.sizes.values()))
        self.assertEqual((burst["transfers"], burst["failed"]), (24, 0))
        rounds = burst["per_round"]
        self.assertEqual([each["round"] for each in rounds], list(range(1, 9)))
        self.assertEqual(sum(each["bytes"] for each in rounds), burst["bytes"])
        self.assertAlmostEqual(sum(each["span_s"] for each in rounds), burst["span_s"], places=4)
        for each in rounds:
            self.assertTrue(0 < each["simultaneity"] <= 1, each)
            rate = each["bytes"] / each["span_s"]
            self.assertAlmostEqual(each["rate_bytes_s"], rate, delta=rate / 100)
        self.assertTrue(result["valid"], result["invalid_because"])
        self.assertIsNone(result["n_check"])
        self.assertNotIn("connect", result["phases_ms"])

    def test_a_log_in_that_is_never_answered_does_not_hold_up_the_others(self) -> None:
        """They are released when it has failed, and have all of --timeout for their files."""
        result = self.one_stays_silent(GET_LINE)
        self.assertEqual(self.errors(result), {"timeout": 1})
        failed = [each["failed"] for each in result["burst"]["per_round"]]
        self.assertEqual((failed, result["requests"]), ([1, 0, 0], 8))

    def slow_log_in(self, log_in_s: float, file_s: float) -> Peer:
        """The first log-in takes `log_in_s`, and each file `file_s`."""
        first = threading.Lock()

        def answer(line: bytes, connection: socket.socket) -> bytes | None:
            if line != GET_LINE:
                time.sleep(file_s)
            elif first.acquire(blocking=False):
                time.sleep(log_in_s)
            return one_byte_file(line, connection)

        return self.scene.keep(Peer(answer))

    def test_waiting_at_the_release_takes_nothing_of_the_time_limit(self) -> None:
        peer = self.slow_log_in(2, 2)
        flags = ("--file", "a", "--requests", 1, "--timeout", 3)
        self.assertEqual(self.burst(*flags, server=peer)["requests"], _THREADS)

    def test_the_response_time_starts_at_the_release(self) -> None:
        peer = self.slow_log_in(1, 0)
        result = self.burst("--file", "a", "--requests", 1, server=peer)
        span_ms = result["burst"]["span_s"] * 1000
        self.assertLessEqual(result["response_time_ms"]["max"], 1.01 * span_ms)

    def test_a_transfer_that_never_comes_ends_its_round_after_the_time_limit(self) -> None:
        result = self.one_stays_silent(b"a\n")
        self.assertEqual(self.errors(result), {"timeout": 1})
        first = result["burst"]["per_round"][0]
        self.assertEqual((first["transfers"], first["failed"]), (2, 1))
        self.assertEqual(result["requests"], 8)

    def test_a_signal_ends_a_burst_with_the_rounds_so_far(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = ("--file", "a", "--requests", 100_000, "--threads", 2, "--json", "-")
        running = subprocess.Popen(
            [str(BUILD / "loadgen"), *map(str, (*_BURST, *flags, "--server", peer))],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(running.kill)
        peer.wait_for_lines(40)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate()
        result = json.loads(output)
        self.assertEqual(running.returncode, 128 + signal.SIGINT)
        self.assertEqual(2 * result["burst"]["rounds"], result["requests"])

    def test_what_a_burst_has_not_is_wrong_usage(self) -> None:
        for flags, named in (
            ((), "needs --requests"),
            (("--requests", 100_001), "at most 100000"),
            (("--requests", 1, "--rate", 5), "--rate has no effect in a burst"),
            (("--users", 2, "--pace", 5), "--release has no effect in a crowd"),
            (("--requests", 1, "--warmup", 1), "--warmup has no effect"),
            (("--requests", 1, "--pipeline"), "--pipeline has no effect"),
        ):
            with self.subTest(named=named):
                ended = run("loadgen", *_BURST, "--file", "a", *flags)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(named, ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1)
