"""loadgen: closed loops until all threads have ended, and open loops, which omit no request."""

import json
import signal
import socket
import threading
import time

from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file, slow_file
from peers import Peer
from programs import run
from waiting import LONG_S

_OPEN = (*GET, "--file", "a", "--rate")


class LoadgenLoopsTest(LoadgenScene):
    def open_result(self, *flags: object, server: object) -> dict:
        """A generator that was late on a loaded machine has a result too."""
        result = json.loads(
            run("loadgen", *self.adapted(*_OPEN, *flags), "--server", server, "--json", "-").stdout
        )
        done = result["requests"] + result["errors"]["total"]
        self.assertEqual(done, result["open_loop"]["due"])
        return result

    def test_a_slow_request_is_measured_under_load_and_loses_nothing(self) -> None:
        """One thread has a slow request at the end. The other one goes on until it has ended."""
        peer = self.scene.keep(Peer(slow_file("f1", 1.5)))
        flags = ("--file", "f%d", "--unique", 100_000, "--threads", 2, "--seconds", 0.3)
        result = self.result(*GET, *flags, server=peer)
        self.assertGreaterEqual(result["response_time_ms"]["max"], 1500)
        self.assertGreater(result["n_check"], 0.9)
        self.assertGreater(result["cooldown_requests"], 0)
        asked_for = sum(line.startswith(b"f") for line in peer.lines)
        self.assertEqual(asked_for, result["requests"] + result["cooldown_requests"])

    def test_a_number_of_requests_has_no_cool_down(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        result = self.result(*GET, "--file", "a", "--threads", 3, "--requests", 5, server=peer)
        self.assertEqual((result["requests"], result["cooldown_requests"]), (15, 0))

    def test_requests_are_sent_when_they_are_due(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = (200, "--seconds", 1, "--warmup", 0.5, "--threads", 8)
        result = self.open_result(*flags, server=peer)
        self.assertEqual((result["open_loop"]["due"], result["warmup_requests"]), (200, 100))
        self.assertEqual(peer.lines.count(b"a\n"), 300)
        self.assertEqual((result["elapsed_s"], result["errors"]), (1, {"total": 0}))
        times = result["open_loop"]
        self.assertLessEqual(times["service_time_ms"]["mean"], result["response_time_ms"]["mean"])
        self.assertIsNone(result["n_check"])

    def test_a_seed_gives_the_same_number_of_requests_again(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        flags = (50, "--seconds", 1, "--arrivals", "poisson", "--threads", 4, "--seed")
        due = [
            self.open_result(*flags, seed, server=peer)["open_loop"]["due"] for seed in (5, 5, 6)
        ]
        self.assertEqual(due[0], due[1])
        self.assertNotEqual(due[0], due[2])

    def test_a_closed_loop_omits_what_an_open_loop_sees(self) -> None:
        """A server that stalls delays few requests of a closed loop, and all of an open one."""
        self.serve()
        seen = {}
        for loop, flags in (("closed", ()), ("open", ("--rate", 100))):
            common = (*GET, "--file", "file1", "--threads", 4, "--seconds", 3)
            running = self.started(*common, *flags, server=self.fileserver)
            time.sleep(0.5)
            self.fileserver.pause()
            time.sleep(1)
            self.fileserver.resume()
            seen[loop] = json.loads(running.communicate(timeout=LONG_S)[0])["response_time_ms"]
        self.assertGreater(seen["closed"]["max"], 500)
        self.assertGreater(seen["open"]["max"], 500)
        self.assertLess(seen["closed"]["p90"], 250)
        self.assertGreater(seen["open"]["p90"], 250)

    def test_no_request_is_missing_when_the_server_never_answers(self) -> None:
        """Two time out. The others wait for a thread until the drain is over."""
        peer = self.scene.keep(Peer(lambda _line, _connection: None))
        flags = (40, "--seconds", 0.5, "--timeout", 0.4, "--threads", 1)
        result = self.open_result(*flags, server=peer)
        errors = self.errors(result)
        self.assertEqual(set(errors), {"timeout", "unfinished"})
        self.assertEqual((sum(errors.values()), result["requests"]), (20, 0))
        self.assertEqual(result["open_loop"]["given_up"], 20)
        self.assertGreaterEqual(result["response_time_ms"]["min"], 400)
        self.assertGreater(result["open_loop"]["found_no_thread"], 10)

    def test_waiting_requests_are_still_sent_after_the_window(self) -> None:
        release = threading.Event()

        def when_released(line: bytes, connection: socket.socket) -> bytes:
            release.wait(LONG_S)
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(when_released))
        running = self.started(*_OPEN, 100, "--seconds", 0.2, server=peer)
        peer.wait_for_lines(1)
        time.sleep(0.5)
        release.set()
        result = json.loads(running.communicate(timeout=LONG_S)[0])
        self.assertEqual((result["requests"], result["errors"]["total"]), (20, 0))
        self.assertEqual((result["throughput_rps"], result["elapsed_s"]), (0, 0.2))
        self.assertGreater(result["response_time_ms"]["min"], 300)

    def test_a_backlog_of_the_warm_up_that_the_window_answers_is_throughput(self) -> None:
        """The server answers half of what is due. In the window it is busy with the warm-up."""
        busy = threading.Lock()

        def one_by_one(line: bytes, connection: socket.socket) -> bytes:
            if line == GET_LINE:
                with busy:
                    time.sleep(0.01)
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(one_by_one))
        flags = (200, "--warmup", 1, "--seconds", 1, "--threads", 4)
        result = self.open_result(*flags, server=peer)
        self.assertGreater(result["throughput_rps"], 0)
        in_window = sum(second["requests"] for second in result["per_second"])
        self.assertEqual(in_window, result["throughput_rps"] * result["elapsed_s"])
        self.assertEqual(len(result["per_second"]), 1)
        self.assertGreater(result["cpu"]["us_per_request"], 0)

    def test_a_signal_wakes_threads_that_wait_for_their_next_request(self) -> None:
        peer = self.scene.keep(Peer(one_byte_file))
        running = self.started(*_OPEN, 0.001, "--seconds", 3600, "--threads", 3, server=peer)
        peer.wait_for_lines(2)
        running.send_signal(signal.SIGINT)
        output, told = running.communicate(timeout=LONG_S)
        self.assertEqual(running.returncode, 130, told)
        result = json.loads(output)
        self.assertEqual((result["open_loop"]["due"], result["errors"]["total"]), (1, 0))

    def test_a_connection_for_each_request_is_closed_before_the_next_one_is_due(self) -> None:
        """Otherwise the server would hold a connection that has nothing to do."""
        ended = threading.Event()

        class Watching(Peer):
            def serve(self, connection: socket.socket) -> None:
                super().serve(connection)
                ended.set()

        peer = self.scene.keep(Watching(one_byte_file))
        running = self.started(*_OPEN, 0.001, "--seconds", 3600, server=peer)
        self.assertTrue(ended.wait(LONG_S))
        running.send_signal(signal.SIGINT)
