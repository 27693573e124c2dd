"""loadgen --users: crowds of slow users, with real servers and with peers that are too slow."""

import json
import os
import socket
import subprocess
import threading
from typing import Any

from http_client import FLAG as FRONT
from loadgen_scene import GET, GET_LINE, LoadgenScene
from peers import HangUp, Peer
from programs import BUILD, run
from scene import for_each
from waiting import eventually

ENGINES = ("epoll", "poll", "sigio", "io_uring")
REFUSED = "the system refuses --engine io_uring"
SMALL = 500  # bytes; at 1,000 B/s a fetch takes half a second


class LoadgenCrowdTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.lock = threading.Lock()
        self.is_first: bool = True

    def crowd(self, *flags: object, server: object, status: int = 0) -> dict[str, Any]:
        """Runs a crowd and returns its JSON. Skips the test if the system has no io_uring.

        On a loaded machine loadgen may be late, and says so. Then the status is 1.
        """
        ended = run(
            "loadgen",
            *(*GET, "--file", "file", *flags),
            *("--server", server, "--json", "-"),
        )
        if REFUSED in ended.stderr:
            self.assertEqual(ended.returncode, 1)
            self.skipTest(ended.stderr.strip())
        result = json.loads(ended.stdout)
        self.assertEqual(ended.returncode, status or int(not result["valid"]), ended.stderr)
        users = result["users"]
        for why in result["invalid_because"] if users["held"] else ():
            self.assertIn("loadgen itself was late", why)
        self.assertEqual(users["started"], users["held"] + users["dropped"])
        self.assertEqual(sum(result["drop_outs"]["causes"].values()), users["dropped"])
        self.assertEqual(len(result["drop_outs"]["times"]), users["dropped"])
        return result

    def serve_file(self, size: int, *flags: object) -> None:
        self.scene.write("file", bytes(size))
        self.serve("--max-connections", 300, *flags)

    def test_two_hundred_users_hold_their_rate(self) -> None:
        self.serve_file(SMALL)
        flags = ("--users", 200, "--pace", 1000, "--ramp", 0.5, "--until-stable", 1)
        result = self.crowd(*flags, "--least-rate", 20, server=self.fileserver)
        self.assertEqual((result["end"], result["users"]["held"]), ("stable", 200))
        self.assertEqual(result["users"]["without_fetch"], 0)
        self.assertLessEqual(result["run_delay"]["share"], 1)
        self.assertEqual(result["rate_error"]["users"], 200)
        self.assertGreaterEqual(result["requests"], 200)
        self.assertEqual(result["bytes"], result["requests"] * SMALL)
        # No user may be faster than its rate, however loaded the machine is.
        self.assertLessEqual(result["requests"], 200 * result["elapsed_s"] * 1000 / SMALL)
        self.assertEqual(result["pacing"]["name"], "paced reading")

    @for_each(ENGINES)
    def test_each_engine_carries_the_same_load(self, engine: str) -> None:
        """Each user fetches at least once, never faster than its rate, and logs in once."""
        lines: list[bytes] = []

        def answer(line: bytes, connection: socket.socket) -> bytes:
            lines.append(line)
            return b"OK\n" if line == GET_LINE else b"OK %d\n%s" % (SMALL, bytes(SMALL))

        peer = self.scene.keep(Peer(answer))
        flags = ("--users", 20, "--pace", 1000, "--ramp", 0, "--until-stable", 2)
        result = self.crowd(
            *flags, "--least-rate", 10, "--engine", engine, "--threads", 2, server=peer
        )
        self.assertEqual((result["engine"], result["users"]["held"]), (engine, 20))
        self.assertEqual(lines.count(GET_LINE), 20)
        self.assertGreaterEqual(result["requests"], 20)
        self.assertLessEqual(result["requests"], 20 * result["elapsed_s"] * 1000 / SMALL)
        self.assertGreaterEqual(lines.count(b"file\n"), result["requests"])

    @for_each(ENGINES)
    def test_a_server_that_sends_in_pieces_wakes_each_engine(self, engine: str) -> None:
        """The reply comes in two pieces, and the file behind them."""
        gate = threading.Event()

        def answer(line: bytes, connection: socket.socket) -> bytes:
            if line == GET_LINE:
                return b"OK\n"
            connection.sendall(b"OK 1")
            gate.wait(0.05)
            connection.sendall(b"00\n" + bytes(60))
            gate.wait(0.3)
            return bytes(40)

        peer = self.scene.keep(Peer(answer))
        flags = ("--users", 3, "--pace", 1000, "--ramp", 0, "--until-stable", 1)
        result = self.crowd(*flags, "--least-rate", 1, "--engine", engine, server=peer)
        self.assertEqual(result["users"]["held"], 3)
        self.assertGreater(result["wakeups"]["useful_reads"], 0)
        self.assertEqual(result["bytes"], 100 * result["requests"])

    def test_a_small_signal_queue_loses_no_user(self) -> None:
        self.serve_file(SMALL)
        flags = ("--users", 100, "--pace", 1000, "--ramp", 0, "--until-stable", 1)
        sigio = ("--engine", "sigio", "--signal-queue", 1, "--least-rate", 10)
        result = self.crowd(*flags, *sigio, server=self.fileserver)
        self.assertEqual(result["users"]["held"], 100)
        self.assertGreater(result["wakeups"]["signal_overflows"], 0)

    def slow_for_one(self, line: bytes, connection: socket.socket) -> bytes | None:
        """The first user that asks gets half of its file and no more."""
        if line == GET_LINE:
            return b"OK\n"
        with self.lock:
            is_first, self.is_first = self.is_first, False
        if is_first:
            return b"OK %d\n%s" % (SMALL, bytes(SMALL // 2))
        return b"OK %d\n%s" % (SMALL, bytes(SMALL))

    def test_a_user_that_is_too_slow_drops_out_and_the_others_go_on(self) -> None:
        peer = self.scene.keep(Peer(self.slow_for_one))
        flags = ("--users", 5, "--pace", 1000, "--ramp", 0, "--until-stable", 1)
        result = self.crowd(*flags, "--least-rate", 10, server=peer, status=1)
        self.assertEqual((result["users"]["held"], result["end"]), (4, "stable"))
        self.assertEqual(result["errors"], {"total": 1, "too-slow": 1})
        (drop_out,) = result["drop_outs"]["times"]
        self.assertEqual((drop_out["cause"], drop_out["in_first_fetch"]), ("too-slow", True))
        # 500 bytes at 10% of 1,000 B/s
        self.assertGreaterEqual(drop_out["t_s"], 5)

    def test_one_user_that_is_too_slow_fails_the_run(self) -> None:
        peer = self.scene.keep(Peer(self.slow_for_one))
        flags = ("--users", 5, "--pace", 1000, "--ramp", 0, "--seconds", 15, "--too-slow", "fail")
        result = self.crowd(*flags, "--least-rate", 20, server=peer, status=1)
        self.assertEqual(result["end"], "failed")

    def test_a_server_that_stands_still_loses_its_users(self) -> None:
        self.serve_file(SMALL)
        flags = ("--users", 20, "--pace", 1000, "--ramp", 0, "--timeout", 2, "--seconds", 60)
        running = subprocess.Popen(
            [
                *(str(BUILD / "loadgen"), *GET, "--file", "file", "--json", "-"),
                *("--server", str(self.fileserver), *map(str, flags)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(running.kill)
        connections = f"/proc/{self.fileserver.pid}/fd"
        eventually(lambda: len(os.listdir(connections)) > 20, "the users are connected")
        self.fileserver.pause()
        self.addCleanup(self.fileserver.resume)
        result = json.loads(running.communicate()[0])
        self.assertEqual((result["end"], result["users"]["held"]), ("failed", 0))
        self.assertEqual(result["users"]["dropped"], 20)
        self.assertLessEqual(set(result["drop_outs"]["causes"]), {"timeout", "too-slow"})

    def test_a_wrong_password_is_told(self) -> None:
        self.serve_file(SMALL)
        flags = ("--users", 3, "--pace", 1000, "--ramp", 0, "--password", "wrong")
        result = self.crowd(*flags, server=self.fileserver, status=1)
        self.assertEqual(result["drop_outs"]["causes"], {"denied": 3})

    def test_a_connection_that_is_refused_or_closed_is_told(self) -> None:
        def hang_up(line: bytes, connection: socket.socket) -> bytes:
            raise HangUp

        peer = self.scene.keep(Peer(hang_up))
        flags = ("--users", 3, "--pace", 1000, "--ramp", 0)
        result = self.crowd(*flags, server=peer, status=1)
        self.assertEqual(result["drop_outs"]["causes"], {"closed": 3})
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{nobody.getsockname()[1]}"
            result = self.crowd(*flags, server=address, status=1)
        self.assertEqual(result["drop_outs"]["causes"], {"connect": 3})

    def test_http_users_keep_their_connections(self) -> None:
        self.scene.write("file", bytes(SMALL))
        self.serve(*FRONT)
        _, port = self.fileserver.further_address("http")
        flags = ("--users", 20, "--pace", 1000, "--ramp", 0, "--until-stable", 1)
        result = self.crowd(
            *flags, "--protocol", "http", "--least-rate", 20, server=f"127.0.0.1:{port}"
        )
        self.assertEqual(result["users"]["held"], 20)
        self.assertEqual(result["bytes"], result["requests"] * SMALL)

    def test_a_pace_needs_users_and_no_rate(self) -> None:
        for flags, named in (
            (("--pace", 5), "--pace needs --users"),
            (("--users", 2, "--pace", 5, "--rate", 5), "--rate has no effect"),
        ):
            with self.subTest(named=named):
                ended = run("loadgen", *GET, "--file", "file", *flags)
                self.assertEqual(ended.returncode, 2)
                self.assertIn(named, ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1)

    def test_more_users_than_descriptors_are_not_started(self) -> None:
        ended = run("loadgen", *GET, "--file", "file", "--users", 999_999, "--pace", 1)
        if ended.returncode == 1 and "descriptors" in ended.stderr:
            self.assertIn("999999 users need 1000031 descriptors", ended.stderr)
        else:
            self.skipTest("this system gives a process a million descriptors")
