"""The memory of servers over time, and what it costs to know it."""

import os
import subprocess
import sys
import time
import unittest
from unittest import mock

from lab.observe import server_memory
from lab.observe.server_memory import ServerMemory, pause_s
from lab.rig.errors import Failed

_LIMIT_S = 60.0
_HELD_BYTES = 32 * 1024 * 1024
# A child of it has the memory.
_PARENT = f"""
import subprocess, sys
child = "import sys; held = bytearray({_HELD_BYTES}); print(flush=True); sys.stdin.read()"
subprocess.run([sys.executable, "-c", child])
"""


class ServerMemoryTest(unittest.TestCase):
    def read_again(self, memory: ServerMemory) -> dict[str, float]:
        """What is found at the next reading."""
        deadline = time.monotonic() + _LIMIT_S
        while not (found := memory.found()):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        return found

    def started(self, process_ids: dict[str, int]) -> ServerMemory:
        memory = ServerMemory(lambda: process_ids)
        memory.start()
        self.addCleanup(memory.stop)
        return memory

    def test_it_is_there_at_the_start_and_read_again_and_again(self) -> None:
        with mock.patch.object(server_memory, "EVERY_S", 0.01):
            memory = self.started({"server": os.getpid()})
            self.assertGreater(memory.found()["server"], 1_000_000)
            self.assertGreater(self.read_again(memory)["server"], 1_000_000)
            self.assertGreater(self.read_again(memory)["server"], 1_000_000)

    def test_what_was_read_is_found_once(self) -> None:
        memory = ServerMemory(lambda: {"server": os.getpid()})
        with mock.patch("threading.Thread.start"):
            memory.start()
        self.assertEqual(list(memory.found()), ["server"])
        self.assertEqual(memory.found(), {})

    def test_the_memory_of_children_counts(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as parent:
            self.addCleanup(parent.kill)
            parent.stdout.readline()
            found = self.started({"server": parent.pid}).found()
            parent.stdin.close()
        self.assertGreater(found["server"], _HELD_BYTES)

    def test_a_server_that_is_gone_has_none(self) -> None:
        ended = subprocess.Popen(["true"])
        ended.wait()
        memory = self.started({"server": os.getpid(), "other": ended.pid})
        self.assertEqual(list(memory.found()), ["server"])

    def test_its_cost_is_known(self) -> None:
        with mock.patch.object(server_memory, "EVERY_S", 0.01):
            memory = self.started({"server": os.getpid()})
            first = memory.cpu_s or 0.0
            self.assertGreater(first, 0)
            memory.found()
            self.read_again(memory)
            self.assertGreater(memory.cpu_s or 0.0, first)

    def test_its_cost_is_bounded(self) -> None:
        self.assertEqual(pause_s(0.0, 0.0), 1.0)
        self.assertEqual(pause_s(0.02, 0.25), 0.75)
        self.assertAlmostEqual(pause_s(0.6, 2.0), 4.0)
        self.assertEqual(pause_s(0.6, 7.0), 0.0)  # it had to wait for a core itself
        for cost_s in (0.0, 0.01, 0.05, 0.2, 5.0):
            period_s = 2 * cost_s + pause_s(cost_s, 2 * cost_s)
            self.assertLessEqual(cost_s / period_s, 0.1000001)

    def test_it_pauses_after_what_a_round_has_cost(self) -> None:
        with mock.patch.object(server_memory, "pause_s", return_value=0.01) as pause:
            memory = self.started({"server": os.getpid()})
            memory.found()
            self.read_again(memory)
            memory.found()
            self.read_again(memory)
            memory.stop()
        costs = [call.args for call in pause.call_args_list]
        self.assertEqual(costs[0], (0.0, 0.0))
        self.assertTrue(all(0 < cost_s < 60 and lasted_s > 0 for cost_s, lasted_s in costs[1:]))

    def test_nobody_asks_nothing_is_read(self) -> None:
        memory = self.started({})
        self.assertEqual(memory.found(), {})
        self.assertIsNone(memory.cpu_s)

    def test_a_server_that_may_not_be_looked_at_is_told_at_the_start(self) -> None:
        memory = ServerMemory(lambda: {"server": os.getpid()})
        denied = mock.patch("pathlib.Path.read_text", side_effect=PermissionError(13, "no"))
        with (
            mock.patch("lab.observe.server_memory.tree", return_value=[os.getpid()]),
            denied,
            self.assertRaisesRegex(Failed, "cannot be observed"),
        ):
            memory.start()
        memory.stop()
