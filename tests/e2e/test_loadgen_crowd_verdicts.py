"""loadgen --users: who is to blame for users that do not hold, and what no run can tell."""

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import time
from typing import Any

from ftp_peer import FtpPeer, Script
from loadgen_scene import GET, GET_LINE, LoadgenScene
from peers import Peer
from programs import BUILD, run
from scene import for_each
from waiting import LONG_S, eventually

SIZE = 20_000  # bytes; more than a receive buffer holds
CROWD = (*GET, "--file", "file", "--ramp", 0)
FTP = ("--protocol", "ftp", "--users", 2, "--pace", 8, "--until-stable", 1)


class LoadgenCrowdVerdictsTest(LoadgenScene):
    def crowd(self, *flags: object, server: object) -> tuple[dict[str, Any], str]:
        """The JSON and the table of a run that must end with status 1."""
        ended = run("loadgen", *CROWD, *flags, "--server", server, "--json", "-")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        return json.loads(ended.stdout), ended.stderr

    def start(self, *flags: object, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        self.scene.write("file", bytes(SIZE))
        self.serve()
        started = subprocess.Popen(
            [
                *(str(BUILD / "loadgen"), *map(str, (*CROWD, *flags))),
                *("--server", str(self.fileserver), "--json", "-"),
            ],
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
        self.addCleanup(started.kill)
        return started

    def wait_for_line(self, screen: int, line: bytes) -> None:
        """Waits until this has been shown on the terminal. It is a regular expression."""
        seen = b""

        def look() -> bool:
            nonlocal seen
            if select.select([screen], [], [], 0)[0]:
                seen += os.read(screen, 1000)
            return re.search(line, seen) is not None

        eventually(look, "a line of progress")

    @for_each(("epoll", "poll", "sigio"))
    def test_a_stall_of_loadgen_is_not_blamed_on_the_server(self, engine: str) -> None:
        """It is stopped for longer than a fetch may take; nobody drops out for that."""
        flags = ("--users", 20, "--pace", SIZE, "--least-rate", 40, "--seconds", 7)
        screen, terminal = pty.openpty()
        self.addCleanup(os.close, screen)
        running = self.start(*flags, "--engine", engine, stderr=terminal)
        os.close(terminal)
        self.wait_for_line(screen, rb" 20 users +0 dropped out +\d[^ ]* KB/s")
        running.send_signal(signal.SIGSTOP)
        time.sleep(3)
        running.send_signal(signal.SIGCONT)
        result = json.loads(running.communicate(timeout=2 * LONG_S)[0])
        self.assertEqual(running.returncode, 1)
        self.assertFalse(result["valid"])
        self.assertIn("loadgen itself was late", " ".join(result["invalid_because"]))
        self.assertEqual(result["drop_outs"]["causes"], {})
        self.assertGreater(result["wakeups"]["most_late_ms"], 2000)

    def test_users_without_a_whole_file_do_not_hold(self) -> None:
        mute = self.scene.keep(Peer(lambda line, connection: None))
        result, table = self.crowd("--users", 5, "--pace", 1000, "--seconds", 1, server=mute)
        self.assertEqual(result["users"]["held"], 0)
        self.assertEqual(result["users"]["without_fetch"], 5)
        self.assertIsNone(result["rate_error"]["worst"])
        self.assertEqual(result["invalid_because"], ["nobody ever got a whole file"])
        self.assertIn("5 started, 0 hold, 5 without a whole file, 0 dropped out", table)
        self.assertIn("rate error", table)
        self.assertNotIn("worst", table)

    def test_a_limit_that_loadgens_clock_would_decide_blames_nobody(self) -> None:
        self.scene.write("file", bytes(1000))
        self.serve()
        for flags in (
            ("--pace", 100_000),
            ("--pace", 5000, "--least-rate", 99),
        ):
            with self.subTest(flags=flags):
                result, table = self.crowd("--users", 20, *flags, server=self.fileserver)
                (reason,) = result["invalid_because"]
                self.assertIn("loadgen's own clock would decide who is too slow", reason)
                self.assertIn("lower --least-rate", table.splitlines()[-1])
                self.assertEqual((result["end"], result["users"]["dropped"]), ("failed", 0))

    def test_what_the_server_said_is_quoted_and_not_its_file(self) -> None:
        for reply, quoted in ((b"OK -5", '"OK -5"'), (b"OK", '"OK"'), (b"ERR what", '"ERR what"')):
            with self.subTest(reply=reply):

                def answer(line: bytes, connection: socket.socket, reply: bytes = reply) -> bytes:
                    return b"OK\n" if line == GET_LINE else reply + b"\n" + b"q" * 1000

                peer = self.scene.keep(Peer(answer))
                result, _ = self.crowd("--users", 2, "--pace", 1000, server=peer)
                self.assertEqual(result["drop_outs"]["causes"], {"protocol": 2})
                self.assertEqual(result["drop_outs"]["first_reasons"], {"protocol": quoted})

    def test_a_size_that_no_file_has_is_no_slow_user(self) -> None:
        def answer(line: bytes, connection: socket.socket) -> bytes:
            return b"OK\n" if line == GET_LINE else b"OK 9000000000000000000\n" + b"q" * 1000

        peer = self.scene.keep(Peer(answer))
        result, table = self.crowd("--users", 2, "--pace", 1000, server=peer)
        self.assertEqual(result["drop_outs"]["causes"], {"protocol": 2})
        self.assertIn("a file of 9000000000000000000 bytes", table)

    def test_ftp_says_behind_a_short_file_why_it_is_short(self) -> None:
        for done, cause, why in (
            (b"426 cut\r\n", "protocol", "cut"),
            (b"451 disk\r\n", "protocol", "disk"),
            (b"226 well\r\n", "protocol", "fewer bytes came than announced"),
        ):
            with self.subTest(done=done):
                script = Script(replies={"DONE": done}, data=b"the", size=8)
                peer = self.scene.keep(FtpPeer(script))
                result, _ = self.crowd(*FTP, server=peer)
                self.assertEqual(result["drop_outs"]["causes"], {cause: 2})
                self.assertIn(why, result["drop_outs"]["first_reasons"][cause])

    def test_a_terminal_sees_users_and_bytes_each_second(self) -> None:
        screen, terminal = pty.openpty()
        self.addCleanup(os.close, screen)
        running = self.start("--users", 5, "--pace", SIZE, "--seconds", 3, stderr=terminal)
        os.close(terminal)
        self.wait_for_line(screen, rb" 5 users +0 dropped out +\d[^ ]* KB/s")
        running.kill()
        running.communicate()
