"""A program is stopped with everything that it started, however deep, and whatever it ignores."""

import sys
import time
import unittest
from unittest import mock

import examples

from rig import process_tree
from rig.errors import Failed
from rig.process_tree import stop_with_children, tree
from rig.processes import Program

# A program, its child in a session of its own, and a grandchild that ignores SIGTERM. All wait.
FAMILY = """
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("READY 127.0.0.1:1", flush=True)
while True:
    signal.pause()
"""


class ProcessTreeTest(unittest.TestCase):
    def setUp(self) -> None:
        log = examples.folder(self) / "log"
        self.program = Program("family", [sys.executable, "-c", FAMILY], log)
        self.addCleanup(self.program.kill)
        self.program.wait_ready(60)
        self.members = tree(self.program.pid)
        for orphan in self.members[1:]:
            self.addCleanup(process_tree._send, orphan, 9)

    def test_one_that_ends_while_it_is_looked_at_has_no_children(self) -> None:
        nobody = 2**22 + 1  # above all ids
        with mock.patch.object(process_tree, "_start_of", return_value="1"):
            self.assertEqual(tree(nobody), [nobody])

    def test_children_of_children_belong_to_it(self) -> None:
        self.assertEqual(len(self.members), 3)
        self.assertEqual(self.members[0], self.program.pid)

    def test_all_are_stopped(self) -> None:
        with mock.patch.object(process_tree, "_KILL_AFTER_S", 0.1):
            stop_with_children(self.program)
        self.assertEqual([pid for pid in self.members if tree(pid)], [])

    def test_a_paused_program_is_stopped(self) -> None:
        self.program.pause()
        with mock.patch.object(process_tree, "_KILL_AFTER_S", 0.1):
            stop_with_children(self.program)
        self.assertFalse(self.program.is_running())

    def test_a_child_that_remains_is_told(self) -> None:
        never = mock.patch.object(process_tree, "_KILL_AFTER_S", 1e9)
        short = mock.patch.object(process_tree, "_END_TIMEOUT_S", 0.1)
        with never, short, self.assertRaisesRegex(Failed, "family has ended, but its processes"):
            stop_with_children(self.program)
        process_tree._send(self.members[2], 9)
        while tree(self.members[2]):
            time.sleep(0.01)

    def test_a_program_that_has_ended_has_no_tree(self) -> None:
        self.program.kill()
        self.assertEqual(tree(self.program.pid), [])
