"""The transfer log is renamed and opened again, and its disk or its reader fails."""

import os
import re
import signal
import subprocess
import threading
import unittest
from pathlib import Path

from client import Client, grant
from programs import Program, run
from scene import SceneTest
from transfer_lines import lines_of, parse, wait_for_lines, whole_lines_of
from waiting import LONG_S, eventually

AGAIN = "the transfer log was opened again"
CANNOT = "the transfer log cannot be written"


def lost_lines(server: Program) -> int:
    return sum(map(int, re.findall(r"lines were lost lines=(\d+)", server.log())))


class LogFolderTest(SceneTest):
    """Base class: the log is in a folder of its own, beside the served one."""

    def setUp(self) -> None:
        super().setUp()
        self.logs = self.scene.folder / "logs"
        self.logs.mkdir()
        self.log = self.logs / "transfers.json"
        self.authserver = self.scene.authserver_of_alice()

    def serve(self, *flags: object, **options) -> Program:
        flags = ("--transfer-log", self.log, *flags)
        return self.scene.fileserver(self.authserver, *flags, **options)

    def granted(self, server: Program) -> Client:
        client = self.scene.client(server)
        grant(client)
        return client


class RotationTest(LogFolderTest):
    def rotate(self, server: Program, number: int) -> Path:
        """As logrotate does it: renames the file, then says so, and waits for the new one."""
        old = self.log.with_suffix(f".{number}")
        self.log.rename(old)
        server.signal(signal.SIGHUP)
        eventually(self.log.exists, "the file is opened again")
        return old

    def test_no_line_is_lost_and_none_is_torn_under_load(self) -> None:
        self.scene.write("a", b"x" * 1000)
        server = self.serve()
        is_over = threading.Event()
        asked = [0] * 4

        def load(number: int) -> None:
            client = Client(server.address)
            grant(client)
            while not is_over.is_set():
                assert len(client.ask_all([b"a", b"missing"] * 10)) == 20
                asked[number] += 20
            client.close()

        threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        old = []
        try:
            for number in range(20):
                eventually(lambda: self.log.stat().st_size > 0, "lines come")
                old.append(self.rotate(server, number))
        finally:
            is_over.set()
            for thread in threads:
                thread.join()
        self.assertEqual(server.stop(), 0)
        lines = lines_of(*old, self.log)
        # Where the clients are faster than the writer, lines are lost, and the log says how many.
        lost = lost_lines(server)
        self.assertEqual(len(lines) + lost, sum(asked))
        served = sum(line["result"] == "ok" for line in lines)
        self.assertLessEqual(abs(served - sum(asked) // 2), lost)

    def test_a_hangup_is_seen_where_nohup_ignores_it(self) -> None:
        server = self.serve(prefix=["nohup"])
        self.granted(server).ask("one")
        wait_for_lines(self.log, 1)
        old = self.rotate(server, 1)
        self.granted(server).ask("two")
        (line,) = wait_for_lines(self.log, 1)
        self.assertEqual(line["name"], "two")
        self.assertEqual([one["name"] for one in lines_of(old)], ["one"])

    def test_it_goes_on_in_the_old_file_while_the_new_one_cannot_be_opened(self) -> None:
        server = self.serve()
        client = self.granted(server)
        away = self.logs.rename(self.scene.folder / "away")
        server.signal(signal.SIGHUP)
        eventually(lambda: "goes on in its old file" in server.log(), "the log says so")
        client.ask("old")
        wait_for_lines(away / self.log.name, 1)
        self.assertEqual(server.log().count("goes on in its old file"), 1)
        away.rename(self.logs)  # the sandbox allows this folder, and no new one of its name
        eventually(lambda: AGAIN in server.log(), "it is opened as soon as that is possible")
        client.ask("new")
        self.assertEqual([line["name"] for line in wait_for_lines(self.log, 2)], ["old", "new"])

    def test_a_file_that_may_not_grow_has_whole_lines_and_requests_go_on(self) -> None:
        server = self.serve("--transfer-log-queue", 64, prefix=["prlimit", "--fsize=5000"])
        client = self.granted(server)
        asked = 0
        while CANNOT not in server.log():
            self.assertEqual(client.ask("missing"), "not-found")
            asked += 1
        while "lines were lost" not in server.log():
            self.assertEqual(client.ask_all([b"missing"] * 10), ["not-found"] * 10)
            asked += 10
        self.assertEqual(server.log().count(CANNOT), 1)
        written = whole_lines_of(self.log)
        self.assertGreater(len(written), 10)
        old = self.rotate(server, 1)
        wait_for_lines(self.log, 1)
        self.assertEqual(server.stop(), 0)
        self.assertEqual(len(lines_of(old, self.log)) + lost_lines(server), asked)

    def test_a_reader_that_stops_delays_no_request_and_what_is_lost_is_counted(self) -> None:
        os.mkfifo(self.log)
        reader = os.open(self.log, os.O_RDONLY | os.O_NONBLOCK)
        server = self.serve("--transfer-log-queue", 64)
        client = self.granted(server)
        asked = 0
        while "lines were lost" not in server.log():
            self.assertEqual(client.ask_all([b"missing"] * 10), ["not-found"] * 10)
            asked += 10
        received = bytearray()
        os.set_blocking(reader, True)

        def read() -> None:
            while piece := os.read(reader, 1 << 16):
                received.extend(piece)
            os.close(reader)

        thread = threading.Thread(target=read)
        thread.start()
        self.assertEqual(server.stop(), 0)
        thread.join(LONG_S)
        self.assertEqual(len(parse(bytes(received))) + lost_lines(server), asked)
        self.assertGreater(lost_lines(server), 0)


@unittest.skipIf(os.geteuid() != 0, "only root can mount a file system")
class FullDiskTest(LogFolderTest):
    def setUp(self) -> None:
        super().setUp()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(self.logs)]
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            self.skipTest(f"no tmpfs: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(self.logs)], check=True)

    def test_a_full_disk_is_refused_at_start(self) -> None:
        (self.logs / "filler").write_bytes(bytes(64 << 10))
        flags = ("--listen", "127.0.0.1:0", "--root", self.scene.root)
        ended = run("fileserver", *flags, "--transfer-log", self.log)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("No space left on device", ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)

    def test_a_disk_that_fills_up_is_told_once_and_lines_go_on_when_there_is_room(self) -> None:
        server = self.serve()
        client = self.granted(server)
        asked = 0
        while CANNOT not in server.log():
            self.assertEqual(client.ask_all([b"missing"] * 10), ["not-found"] * 10)
            asked += 10
        whole_lines_of(self.log)
        subprocess.run(["mount", "-o", "remount,size=64m", str(self.logs)], check=True)
        eventually(lambda: "can be written again" in server.log(), "the log says so")
        self.assertEqual(server.stop(), 0)
        self.assertEqual(server.log().count(CANNOT), 1)
        self.assertEqual(len(lines_of(self.log)) + lost_lines(server), asked)
