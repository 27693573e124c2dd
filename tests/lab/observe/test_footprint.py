"""What real servers take for themselves, with sessions open and without."""

import contextlib
import os
import subprocess
import sys
import unittest
from unittest import mock

import ftp_scene
from ftp_scene import RIGHT, session

from lab.observe import footprint
from lab.observe.footprint import Footprint
from lab.systems.peers import known
from rig.errors import Failed
from rig.process_tree import tree

SESSIONS = 5
SHARED_BYTES = 64 * 1024 * 1024
# Fills memory, forks three children that only read it, says so and waits.
FORKING = f"""
import os, sys
held = b"x" * {SHARED_BYTES}
for _ in range(3):
    if os.fork() == 0:
        break
print(end="ready", flush=True)
sys.stdin.read()
"""


class FootprintTest(unittest.TestCase):
    def added(self, name: str) -> dict[str, float]:
        """What each session adds to the server.

        Other programs of the host map the same libraries. When one of them starts, the share of
        everybody else falls, by more than five sessions add within one process.
        """
        ftp_scene.skip_if_left_out(self, name)
        folder = ftp_scene.made_for(self)
        ftp_scene.served(folder)
        with known.running(name, ftp_scene.setting(folder)) as server:
            empty = footprint.of_processes(server.pids())
            with contextlib.ExitStack() as clients:
                for _ in range(SESSIONS):
                    clients.enter_context(session(server.address, RIGHT))
                full = footprint.of_processes(server.pids())
        self.assertGreater(empty.proportional_bytes, 100_000)
        if full.processes > empty.processes:
            self.assertGreater(full.proportional_bytes, empty.proportional_bytes)
        return full.each(empty, SESSIONS)

    def test_a_process_for_each_session(self) -> None:
        added = self.added("proftpd")
        self.assertEqual((added["processes"], added["threads"]), (1, 1))
        self.assertGreaterEqual(added["descriptors"], 1)

    def test_two_processes_for_each_session(self) -> None:
        for name in ("pure-ftpd", "vsftpd"):
            with self.subTest(server=name):
                self.assertEqual(self.added(name)["processes"], 2)

    def test_one_process_for_all_sessions(self) -> None:
        added = self.added("pyftpdlib")
        self.assertEqual((added["processes"], added["threads"]), (0, 0))
        self.assertEqual(added["descriptors"], 1)

    def test_shared_memory_is_counted_once(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as parent:
            self.addCleanup(parent.kill)
            parent.stdout.read(4 * len("ready"))
            used = footprint.of_processes(tree(parent.pid))
            alone = footprint.proportional_bytes(tree(parent.pid))
            parent.stdin.close()
        self.assertEqual(used.processes, 4)
        self.assertGreater(used.proportional_bytes, SHARED_BYTES)
        self.assertLess(used.proportional_bytes, 2 * SHARED_BYTES)
        self.assertGreater(alone, SHARED_BYTES)
        self.assertLess(alone, 2 * SHARED_BYTES)

    def test_a_process_that_has_ended_adds_nothing(self) -> None:
        ended = subprocess.Popen(["true"])
        ended.wait()
        nothing = Footprint(processes=0, threads=0, descriptors=0, proportional_bytes=0)
        self.assertEqual(footprint.of_processes([ended.pid]), nothing)
        self.assertEqual(footprint.proportional_bytes([ended.pid]), 0)

    def test_a_process_that_may_not_be_looked_at_is_told(self) -> None:
        denied = mock.patch("os.listdir", side_effect=PermissionError(13, "Permission denied"))
        with denied, self.assertRaisesRegex(Failed, "cannot be observed: Permission denied"):
            footprint.of_processes([os.getpid()])
