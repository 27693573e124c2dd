"""How many threads a host has room for, on hosts made by hand."""

import os
import resource
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab.observe import limits, thread_room
from lab.observe.thread_room import Room


class ThreadRoomTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.be(0)

    def be(self, user: int) -> None:
        patched = mock.patch.object(os, "geteuid", return_value=user)
        patched.start()
        self.addCleanup(patched.stop)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="ascii")

    def assert_room(self, count: int, limit: str) -> None:
        self.assertEqual(thread_room.smallest(self.root), Room(count, limit))

    def test_all_threads_of_the_system_share_its_limits(self) -> None:
        self.write("proc/loadavg", "0.25 0.10 0.05 2/30 4567")
        self.write("proc/sys/kernel/threads-max", "42")
        self.assert_room(12, "kernel.threads-max is 42")
        self.write("proc/sys/kernel/pid_max", "41")
        self.assert_room(11, "kernel.pid_max is 41")

    def test_of_nested_control_groups_the_one_with_the_least_room_counts(self) -> None:
        self.write("proc/self/cgroup", "0::/outer/inner")
        self.write("sys/fs/cgroup/outer/pids.max", "20")
        self.write("sys/fs/cgroup/outer/pids.current", "10")
        self.write("sys/fs/cgroup/outer/inner/pids.max", "max")
        self.assert_room(10, "pids.max of the control group is 20")

    def test_a_control_group_of_version_1_counts(self) -> None:
        self.write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:pids:/one\n1:name=systemd:/x")
        self.write("sys/fs/cgroup/pids/one/pids.max", "7")
        self.write("sys/fs/cgroup/pids/one/pids.current", "9")
        self.write("sys/fs/cgroup/cpu,cpuacct/x/pids.max", "1")
        self.assert_room(0, "pids.max of the control group is 7")

    def test_the_limit_of_the_user_is_not_for_root(self) -> None:
        with mock.patch.object(resource, "getrlimit", return_value=(50, 60)):
            self.assertGreater(thread_room.smallest(self.root).count, 50)
            self.be(1000)
            self.assert_room(50, "ulimit -u is 50")

    def test_this_host_has_room(self) -> None:
        self.assertGreater(thread_room.smallest().count, 0)

    def test_a_finding_says_what_to_raise(self) -> None:
        self.assertEqual(limits.of_threads(Room(500, "x is 9"), 500).fix, "")
        found = limits.of_threads(Room(499, "kernel.pid_max is 700"), 500)
        self.assertEqual(found.fix, "raise it: kernel.pid_max is 700")
        self.assertEqual((found.value, found.wanted), ("499", "at least 500"))


if __name__ == "__main__":
    unittest.main()
