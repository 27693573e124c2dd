"""`lab limits` finds the limits that it was given."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OPEN_FILES = 100
QUEUED = 50
PORTS = (20_000, 20_059)
_PRINT_COUNTS = """
import json
from lab.observe.tried_limits import try_all
print(json.dumps({one.name: one.count for one in try_all()}))
"""


def limits(*before: str) -> dict[str, dict]:
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
        tried = limits("prlimit", f"--nofile={OPEN_FILES}", f"--sigpending={QUEUED}")
        inherited = 10  # standard input, output and error, and those of Python
        for name in ("descriptors", "connections to one address"):
            self.assertLess(tried[name]["count"], OPEN_FILES)
            self.assertGreater(tried[name]["count"], OPEN_FILES - inherited)
            self.assertEqual(tried[name]["ended_by"], os.strerror(24))
        self.assertEqual(tried["entries in one poll()"]["count"], OPEN_FILES)
        # Signals that wait for other processes of the user count too.
        self.assertLessEqual(tried["queued signals"]["count"], QUEUED)

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
        tried = json.loads(done.stdout)
        ports = PORTS[1] - PORTS[0] + 1
        self.assertEqual(tried["ephemeral ports"], ports)
        self.assertEqual(tried["explicit ports"], 65535)
        # The kernel gives those who connect no port that another one listens on.
        self.assertIn(tried["connections to one address"], (ports - 1, ports))
