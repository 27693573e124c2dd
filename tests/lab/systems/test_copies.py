"""A copy through a client is two programs: they fail together, and end together."""

import os
import signal
import time
import unittest
from pathlib import Path

import examples

from lab.systems.clients.copies import piped
from rig import process_tree
from rig.processes import Program

_LONG_S = 60.0
_FAILS = ["sh", "-c", "echo one fails >&2; exit 7"]
_TAKES_ALL = ["sh", "-c", "cat >/dev/null"]


class PipedTest(unittest.TestCase):
    def started(self, get: list[str], put: list[str]) -> Program:
        program = Program("copy", piped(get, put), examples.folder(self) / "log")
        self.addCleanup(program.stop)
        return program

    def test_what_one_prints_the_other_one_reads(self) -> None:
        program = self.started(["printf", "%s", "it's"], ["tr", "a-z", "A-Z"])
        self.assertEqual(program.wait_for_output(_LONG_S), (0, "IT'S"))

    def test_it_fails_if_either_does(self) -> None:
        for get, put in ((_FAILS, _TAKES_ALL), (["true"], _FAILS)):
            program = self.started(get, put)
            self.assertEqual(program.wait_for_output(_LONG_S), (7, ""))
            self.assertEqual(program.last_words(), "one fails")

    def test_neither_outlives_the_end_of_the_program(self) -> None:
        program = self.started(["sleep", "3600"], ["sleep", "3600"])
        deadline = time.monotonic() + _LONG_S
        while len(both := self.sleepers(program.pid)) < 2:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        os.kill(program.pid, signal.SIGKILL)
        program.stop()
        while any(Path(f"/proc/{pid}").exists() for pid in both):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def sleepers(self, pid: int) -> list[int]:
        found = process_tree.tree(pid)[1:]
        return [one for one in found if Path(f"/proc/{one}/comm").read_text() == "sleep\n"]
