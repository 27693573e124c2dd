"""loadgen that is stopped while a server does not answer, and runs that are of no use."""

import json
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

from loadgen_scene import GET, GET_LINE, LoadgenScene, one_byte_file
from peers import Peer
from programs import BUILD, environment, run
from scene import for_each

LONG_S = 30
WAITING = "loadgen: waiting for 4 requests under way; again to quit without results\n"


class LoadgenInterruptedTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.json = self.scene.folder / "result.json"
        self.answers = threading.Event()
        self.addCleanup(self.answers.set)

    def start(self, *command: str, **streams: Any) -> subprocess.Popen[str]:
        """A run of four threads that are not answered until `answers` is set."""

        def late(line: bytes, connection: socket.socket) -> bytes:
            self.answers.wait(LONG_S)
            return one_byte_file(line, connection)

        peer = self.scene.keep(Peer(late))
        running = subprocess.Popen(
            [
                *(*command, str(BUILD / "loadgen"), *GET, "--file", "a", "--server", str(peer)),
                *("--threads", "4", "--seconds", "3600", "--json", str(self.json)),
                *("--transfers", str(self.scene.folder / "transfers.csv")),
            ],
            env=environment(),
            text=True,
            **streams,
        )
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        peer.wait_for_lines(4)
        return running

    def test_a_signal_is_answered_with_what_the_run_waits_for(self) -> None:
        running = self.start(stderr=subprocess.PIPE)
        assert running.stderr
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.stderr.readline(), WAITING)
        self.answers.set()
        _, told = running.communicate(timeout=LONG_S)
        self.assertEqual(running.returncode, 130, told)
        self.assertNotIn("waiting", told)
        result = json.loads(self.json.read_text())
        self.assertEqual((result["end"], result["requests"]), ("signal", 4))

    def test_a_second_signal_ends_it_without_results(self) -> None:
        running = self.start(stderr=subprocess.PIPE)
        assert running.stderr
        running.send_signal(signal.SIGINT)
        running.stderr.readline()
        running.send_signal(signal.SIGINT)
        self.assertEqual(running.wait(LONG_S), -signal.SIGINT)
        self.assertFalse(self.json.exists())

    def test_no_file_gets_what_a_closed_standard_error_does_not(self) -> None:
        running = self.start("sh", "-c", 'exec "$@" 2>&-', "sh")
        running.send_signal(signal.SIGINT)
        with self.assertRaises(subprocess.TimeoutExpired):
            running.wait(1)  # in which it would tell
        self.answers.set()
        self.assertEqual(running.wait(LONG_S), 130)
        self.assertNotIn("waiting", (self.scene.folder / "transfers.csv").read_text())


class LoadgenHopelessTest(LoadgenScene):
    def ended(self, *flags: object, server: object) -> tuple[dict[str, Any], str]:
        """The result of a run for an hour, which ends earlier, and what it said."""
        done = run(
            "loadgen",
            *(*GET, "--file", "a", "--seconds", 3600, "--server", server, "--json", "-", *flags),
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual((result["end"], result["valid"]), ("failed", False))
        return result, done.stderr

    @for_each(((), ("--rate", 50), ("--warmup", 3600), ("--rate", 50, "--warmup", 3600)))
    def test_a_wrong_password_ends_every_loop(self, flags: tuple[object, ...]) -> None:
        peer = self.scene.keep(Peer(lambda line, connection: b"ERR denied\n"))
        result, told = self.ended(*flags, server=peer)
        self.assertIn("every request failed with `denied`", result["invalid_because"][0])
        self.assertIn("is there an account alice", told)

    def test_a_file_that_is_not_there_ends_the_run(self) -> None:
        self.serve()
        _, told = self.ended(server=self.fileserver)
        self.assertIn('is there a file "a" in the folder of the server?', told)

    def test_a_port_where_nobody_listens_ends_the_run(self) -> None:
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{nobody.getsockname()[1]}"
            _, told = self.ended(server=address)
        self.assertIn("is the server running, and is this its port?", told)

    def test_one_success_is_enough_to_go_on(self) -> None:
        """It was in the warm-up, and counts in no figure."""
        first = threading.Lock()

        def once(line: bytes, connection: socket.socket) -> bytes:
            if line != GET_LINE or first.acquire(blocking=False):
                return one_byte_file(line, connection)
            return b"ERR denied\n"

        path = Path(self.scene.folder / "result.json")
        flags = ("--seconds", 1.5, "--warmup", 0.2, "--json", path)
        peer = self.scene.keep(Peer(once))
        done = run("loadgen", *GET, "--file", "a", "--server", peer, *flags)
        self.assertEqual(done.returncode, 1)
        result = json.loads(path.read_text())
        self.assertEqual((result["end"], result["requests"]), ("time", 0))
