"""The memory of loadgen --channels: the pool and a stated rest, and no more for more files."""

import re
import socket
import subprocess
import threading
import time
import unittest
from pathlib import Path

from http_client import FLAG as FRONT
from loadgen_scene import GET, LoadgenScene
from programs import SANITIZED
from range_peer import RangePeer
from waiting import LONG_S

_KIB, _MIB = 1 << 10, 1 << 20
PART = 64 * _KIB
CHANNELS = 32
POOL = 16 * _MIB
SMALL_POOL = (CHANNELS + 1) * PART
CONTENT = bytes(range(256)) * (64 * _MIB // 256)  # of which a channel has a 32nd, in parts of PART
REST = 4 * _MIB  # beyond the pool
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


@unittest.skipIf(SANITIZED, "a sanitizer keeps memory that was given back")
class LoadgenChannelMemoryTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.saved = self.scene.folder / "saved"
        self.saved.mkdir()

    def stuck(self, pool: int, parts: int) -> tuple[int, int]:
        """Sticks the first part until the run gives up.

        Returns the most memory when so many other parts were sent, and the parts that were asked
        for in all.
        """
        is_full, has_ended = threading.Event(), threading.Event()
        self.addCleanup(has_ended.set)

        def stick(first: int, answer: bytes, connection: socket.socket) -> bytes:
            if first == 0:
                has_ended.wait(LONG_S)
            elif peer.sent >= parts:
                is_full.set()
            return answer

        peer = self.scene.keep(RangePeer(CONTENT, stick, etag='"1"'))
        running = self.started(
            *(*GET, "--protocol", "http", "--requests", 1, "--file", "big", "--save", self.saved),
            *("--channels", CHANNELS, "--pool", pool, "--timeout", 8),
            server=peer,
        )
        self.assertTrue(is_full.wait(LONG_S))
        peak = _peak(running)
        _, said = running.communicate(timeout=LONG_S)
        self.assertEqual(running.returncode, 1, said)
        return peak, len(peer.ranges)

    def test_it_is_the_pool_and_a_rest_while_one_of_many_channels_is_stuck(self) -> None:
        small, _ = self.stuck(SMALL_POOL, CHANNELS - 2)
        large, asked = self.stuck(POOL, POOL // PART // 2)
        self.assertGreater(large, small)
        self.assertLessEqual(large - small, POOL - SMALL_POOL + REST)
        self.assertLessEqual(asked, POOL // PART + CHANNELS)  # each asks for one part ahead

    def test_more_files_take_no_more_memory(self) -> None:
        self.scene.write("small", CONTENT[: 4 * PART])
        self.serve(*FRONT)
        front = "{}:{}".format(*self.fileserver.further_address("http"))
        few, many = (self.peak_of(front, files) for files in (50, 1000))
        self.assertLessEqual(many - few, _MIB)

    def peak_of(self, front: str, files: int) -> int:
        flags = (*GET, "--protocol", "http", "--file", "small", "--connection", "keep-alive")
        running = self.started(*flags, "--channels", 4, "--requests", files, server=front)
        peak = 0
        while running.poll() is None:
            peak = max(peak, _peak(running))
            time.sleep(0.002)
        _, said = running.communicate()
        self.assertEqual(running.returncode, 0, said)
        return peak


def _peak(running: subprocess.Popen) -> int:
    """The most memory of a process so far, in bytes; 0 when it has just ended."""
    found = _PEAK.search(Path(f"/proc/{running.pid}/status").read_text())
    return int(found[1]) * _KIB if found else 0
