"""How files are opened: once with O_DIRECT by prefetching, and for each request in disk mode.

Also in which order a start binds its address, prefetches, and lets clients connect.
"""

import os
import re
import subprocess
import unittest
from typing import ClassVar

from client import grant
from needs import missing
from programs import SANITIZED
from scene import Scene, SceneTest


def why_not_traced() -> str | None:
    if reason := missing("strace"):
        return reason
    if SANITIZED:
        return "a sanitizer and strace do not go together"
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True)
    return None if probe.returncode == 0 else f"strace does not work here: {probe.stderr.strip()}"


def takes_direct_io(scene: Scene) -> bool:
    path = scene.folder / "probe"
    path.write_bytes(b"x")
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
        return True
    except OSError:
        return False


@unittest.skipIf(why_not_traced(), why_not_traced() or "")
class DirectIoTest(SceneTest):
    SIZES: ClassVar = {"odd": 5000, "block": 4096, "empty": 0, "one": 1, "sub/large": 3_000_000}

    def setUp(self) -> None:
        super().setUp()
        self.trace = self.scene.folder / "trace"
        for name, size in self.SIZES.items():
            os.utime(self.scene.write(name, b"x" * size), (1, 1))
        self.authserver = self.scene.authserver_of_alice()

    def opened_by_serving(self, mode: str) -> list[str]:
        """Gets every file three times and returns the calls that opened files since the start."""
        # With -D the program itself has the pid that was started, not strace.
        calls = ("-s", "4096", "-e", "trace=open,openat,openat2,fcntl,bind,listen")
        strace = ["strace", "-D", "-f", "-qq", *calls, "-o", str(self.trace)]
        fileserver = self.scene.fileserver(self.authserver, "--files", mode, prefix=strace)
        client = self.scene.client(fileserver)
        grant(client)
        before = len(self.calls())
        for name, size in list(self.SIZES.items()) * 3:
            self.assertEqual(client.ask(name), b"x" * size)
        self.calls_of_requests = self.calls()[before:]
        return self.calls()

    def calls(self) -> list[str]:
        lines = self.trace.read_text().splitlines()
        return [
            line
            for line in lines
            if re.search(r"/proc/self/fd/|/files/", line)
            and "O_RDONLY" in line
            and "O_DIRECTORY" not in line
            and "O_PATH" not in line
        ]

    def test_prefetching_reads_each_file_once_with_o_direct_and_no_request_opens_any(self) -> None:
        if not takes_direct_io(self.scene):
            self.skipTest("the file system of the temporary folder refuses O_DIRECT")
        calls = self.opened_by_serving("prefetch")
        self.assertEqual(len(calls), len(self.SIZES), calls)
        self.assertTrue(all("O_DIRECT" in call for call in calls), calls)
        self.assertEqual(self.calls_of_requests, [])

    def test_a_start_binds_then_prefetches_and_then_listens(self) -> None:
        self.opened_by_serving("prefetch")
        lines = self.trace.read_text().splitlines()
        bound, listening = (
            [at for at, line in enumerate(lines) if re.search(call, line)]
            for call in (r"\bbind\(.*AF_INET", r"\blisten\(")
        )
        read = [at for at, line in enumerate(lines) if "/proc/self/fd/" in line]
        self.assertEqual((len(bound), len(listening)), (1, 1), lines)
        self.assertGreaterEqual(len(read), len(self.SIZES))
        self.assertLess(bound[0], read[0])
        self.assertGreater(listening[0], read[-1])

    def test_disk_mode_opens_the_file_for_each_request_in_the_ordinary_way(self) -> None:
        self.opened_by_serving("disk")
        self.assertEqual(len(self.calls_of_requests), 3 * len(self.SIZES), self.calls_of_requests)
        self.assertFalse(any("O_DIRECT" in call for call in self.calls_of_requests))
