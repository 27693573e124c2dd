"""`lab limits` finds the limits that it was given."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab.observe import limits, tried_limits
from lab.observe.tried_limits import Room

ROOT = Path(__file__).resolve().parents[3]
OPEN_FILES = 100
QUEUED = 50
PORTS = (20_000, 20_059)
_PRINT_COUNTS = """
import json
from lab.observe.tried_limits import try_all
print(json.dumps({one.name: one.count for one in try_all()}))
"""


def tried(*before: str) -> dict[str, dict]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "limits.json"
        command = [*before, str(ROOT / "scripts/lab"), "limits", "--json", str(file)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        tried: dict[str, dict] = json.loads(file.read_text())["tried"]
        return tried


def may_make_a_namespace() -> bool:
    command = ["unshare", "--net", "true"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


class TriedLimitsTest(unittest.TestCase):
    def test_a_limit_of_the_process_is_found(self) -> None:
        found = tried("prlimit", f"--nofile={OPEN_FILES}", f"--sigpending={QUEUED}")
        inherited = 10  # standard input, output and error, and those of Python
        for name in ("descriptors", "connections to one address"):
            self.assertLess(found[name]["count"], OPEN_FILES)
            self.assertGreater(found[name]["count"], OPEN_FILES - inherited)
            self.assertEqual(found[name]["ended_by"], os.strerror(24))
        self.assertEqual(found["entries in one poll()"]["count"], OPEN_FILES)
        # Signals that wait for other processes of the user count too.
        self.assertLessEqual(found["queued signals"]["count"], QUEUED)

    @unittest.skipUnless(may_make_a_namespace(), "no network namespace is permitted here")
    def test_a_limit_of_the_network_is_found(self) -> None:
        narrow = f"sysctl -qw net.ipv4.ip_local_port_range='{PORTS[0]} {PORTS[1]}'"
        script = f"ip link set lo up && {narrow} && exec {sys.executable} -c '{_PRINT_COUNTS}'"
        done = subprocess.run(
            ["unshare", "-n", "sh", "-c", script],
            cwd=ROOT,
            check=True,
            capture_output=True,
            timeout=300,
        )
        found = json.loads(done.stdout)
        ports = PORTS[1] - PORTS[0] + 1
        self.assertEqual(found["ephemeral ports"], ports)
        self.assertEqual(found["explicit ports"], 65535)
        # The kernel gives those who connect no port that another one listens on.
        self.assertIn(found["connections to one address"], (ports - 1, ports))


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
        self.assertEqual(tried_limits.smallest(self.root), Room(count, limit))

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
            self.assertGreater(tried_limits.smallest(self.root).count, 50)
            self.be(1000)
            self.assert_room(50, "ulimit -u is 50")

    def test_this_host_has_room(self) -> None:
        self.assertGreater(tried_limits.smallest().count, 0)

    def test_a_finding_says_what_to_raise(self) -> None:
        self.assertEqual(limits.of_threads(Room(500, "x is 9"), 500).fix, "")
        found = limits.of_threads(Room(499, "kernel.pid_max is 700"), 500)
        self.assertEqual(found.fix, "raise it: kernel.pid_max is 700")
        self.assertEqual((found.value, found.wanted), ("499", "at least 500"))
