"""The memory of servers over time, and what it costs to know it."""

import os
import subprocess
import sys
import time
import unittest
from unittest import mock

from lab.observe import server_memory
from lab.observe.server_memory import ServerMemory, every_s
from rig.errors import Failed

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
        with mock.patch.object(server_memory, "INTERVAL_S", 0.01):
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
        with mock.patch.object(server_memory, "INTERVAL_S", 0.01):
            memory = self.started({"server": os.getpid()})
            first = memory.cpu_s or 0.0
            self.assertGreater(first, 0)
            memory.found()
            self.read_again(memory)
            self.assertGreater(memory.cpu_s or 0.0, first)

    def test_what_costs_little_is_read_as_often_as_the_host(self) -> None:
        self.assertEqual([every_s(cost_s) for cost_s in (0.0, 0.0002, 0.025)], [0.25] * 3)

    def test_its_cost_is_bounded(self) -> None:
        self.assertEqual(every_s(0.026), 1.0)
        self.assertAlmostEqual(every_s(0.6), 6.0)
        for cost_s in (0.01, 0.025, 0.03, 0.2, 5.0):
            self.assertLessEqual(cost_s / every_s(cost_s), 0.1000001)

    def test_it_pauses_after_what_a_round_has_cost(self) -> None:
        with mock.patch.object(server_memory, "every_s", return_value=0.01) as every:
            memory = self.started({"server": os.getpid()})
            memory.found()
            for _ in range(3):
                self.read_again(memory)
            memory.stop()
        costs = [call.args[0] for call in every.call_args_list]
        self.assertGreaterEqual(len(costs), 2)
        self.assertTrue(all(0 < cost_s < 60 for cost_s in costs))

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
