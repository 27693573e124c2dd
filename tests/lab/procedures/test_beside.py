"""Idle connections beside a load, and what a server takes for them."""

import os
import subprocess
import sys
import threading
import unittest
from dataclasses import replace
from typing import Any
from unittest import mock

import examples

from lab.observe.proc_processes import Switched
from lab.procedures.beside import Beside, Switching
from rig.group_usage import GroupUsage
from rig.idle_connections import Idle, LogIn
from rig.processes import Address

# Serves as our fileserver does, with 100 KB for each connection and a thread for each.
_SERVER = """
import socket, sys, threading
listening = socket.create_server(("127.0.0.1", 0), backlog=64)
print(listening.getsockname()[1], flush=True)
def serve(connection):
    connection.recv(1000)
    kept = bytearray(b"x" * 1_000_000)
    connection.sendall(b"OK\\n")
    connection.recv(1)
while True:
    connection = listening.accept()[0]
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
"""
USED = GroupUsage(
    memory_bytes=5000,
    peak_memory_bytes=None,
    page_cache_bytes=1000,
    mapped_bytes=None,
    refaults=None,
    throttled_s=None,
    cpu_s=None,
    oom_kills=None,
)


class BesideTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        assert self.server.stdout
        self.addCleanup(self.server.stdout.close)
        self.port = int(self.server.stdout.readline())
        self.servers = mock.Mock()
        self.servers.process_ids.return_value = {"fileserver": self.server.pid, "store": 1}

    def load(self, count: int, port: int | None = None) -> mock.Mock:
        address = Address("127.0.0.1", port or self.port)
        return mock.Mock(idle=Idle(address, LogIn.natively("ann", "secret"), count))

    def test_what_each_of_them_adds_to_the_server(self):
        group = mock.Mock()
        group.usage.side_effect = [USED, replace(USED, memory_bytes=45_000)]
        with Beside(self.servers, self.load(4), group) as beside:
            found, refused = beside.found(), beside.failures()
        self.assertEqual(refused, [])
        self.assertEqual(found["idle_held"], 4)
        self.assertEqual(found["threads_each"], 1)
        self.assertEqual(found["processes_each"], 0)
        self.assertEqual(found["descriptors_each"], 1)
        self.assertGreater(found["proportional_bytes_each"], 500_000)
        self.assertEqual(found["group_bytes_each"], 10_000)

    def test_without_a_control_group_only_that_is_not_known(self):
        with Beside(self.servers, self.load(2), None) as beside:
            self.assertNotIn("group_bytes_each", beside.found())
            self.assertIn("proportional_bytes_each", beside.found())

    def test_a_load_without_idle_connections_looks_at_nothing(self):
        with Beside(self.servers, examples.GET, None) as beside:
            self.assertEqual((beside.found(), beside.failures()), ({}, []))
        self.servers.process_ids.assert_not_called()

    def test_a_server_that_has_no_room_is_the_reason_and_nothing_is_said_of_each(self):
        with Beside(self.servers, self.load(2000, port=1), None) as beside:
            self.assertEqual(beside.found(), {"idle_held": 0.0})
            (said,) = beside.failures()
        self.assertIn("no 2,000 idle connections: the server refused one after 0: ", said)

    def test_a_server_that_closes_them_is_told(self):
        with Beside(self.servers, self.load(3), None) as beside:
            self.server.kill()
            self.server.wait()
            self.assertEqual(beside.failures(), ["the server closed 3 of 3 idle connections"])


class SwitchingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.servers = mock.Mock()
        self.servers.process_ids.return_value = {"fileserver": os.getpid()}

    def counted(self, *looks: dict[str, int], group: mock.Mock | None = None) -> dict[str, Any]:
        """With what the looks find of each thread, two seconds apart."""
        switching = Switching(self.servers, mock.Mock(counts_switches_s=(0.0, 0.0)), group)
        for number, look in enumerate(looks):
            seen = {name: Switched(2.0 * number, count) for name, count in look.items()}
            with mock.patch("lab.procedures.beside.context_switches", return_value=seen):
                thread = threading.Thread(target=switching._look, args=(number,))
                thread.start()
                thread.join()
        return switching.found(end_s=2.0)

    def test_the_rate_is_that_between_the_looks(self):
        found = self.counted({"1": 100, "2": 5}, {"1": 700, "2": 15})
        self.assertEqual(found, {"server_switches_per_s": 305.0, "server_group_bytes": None})

    def test_memory_is_that_of_the_group_without_page_cache(self):
        group = mock.Mock()
        group.usage.return_value = USED
        self.assertEqual(self.counted({"1": 1}, {"1": 2}, group=group)["server_group_bytes"], 4000)

    def test_threads_that_had_ended_at_the_second_look_did_as_much_as_the_others(self):
        found = self.counted({"1": 100, "2": 100, "3": 100}, {"1": 300, "2": 300})
        self.assertEqual(found["server_switches_per_s"], 300.0)

    def test_threads_that_came_after_the_first_look_did_as_much_as_the_others(self):
        found = self.counted({"1": 100}, {"1": 300, "2": 9})
        self.assertEqual(found["server_switches_per_s"], 200.0)
        self.assertEqual(self.counted({"1": 100}, {"1": 300, "2": 9, "3": 9}), {})

    def test_what_was_seen_after_the_end_of_the_load_does_not_count(self):
        first = {"1": Switched(0.0, 100), "2": Switched(0.1, 100)}
        last = {"1": Switched(1.0, 200), "2": Switched(2.1, 101)}  # the second waits for its end
        switching = Switching(self.servers, examples.GET, None)
        switching._seen = {0: first, 1: last}
        self.assertEqual(switching.found(end_s=2.0)["server_switches_per_s"], 200.0)

    def test_a_load_that_ended_before_the_second_look_has_no_rate(self):
        self.assertEqual(self.counted({"1": 100}), {})
        self.assertEqual(self.counted({"1": 1, "2": 1, "3": 1}, {"1": 5}), {})
        self.assertEqual(self.counted({"1": 1}, {}), {})

    def test_it_looks_while_the_load_is_under_way(self):
        switching = Switching(self.servers, mock.Mock(counts_switches_s=(0.0, 0.0)), None)
        looks = threading.Semaphore(0)

        def look(pid: int) -> dict[str, Switched]:
            self.assertEqual(pid, os.getpid())
            looks.release()
            return {}

        with mock.patch("lab.procedures.beside.context_switches", look), switching.counted():
            self.assertTrue(looks.acquire(timeout=60) and looks.acquire(timeout=60))

    def test_a_load_that_does_not_say_is_not_looked_at(self):
        switching = Switching(self.servers, examples.GET, None)
        with switching.counted():
            pass
        self.assertEqual(switching.found(end_s=0.0), {})
        self.servers.process_ids.assert_not_called()
