"""A server looks up no names for a connection, and asks nobody who the user is (Ident)."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

_OWN_NETWORK = ["unshare", "--map-root-user", "--net"]
_INSIDE = Path(__file__).with_name("look_ups_inside.py")


class NoLookUpsTest(unittest.TestCase):
    def test_a_connection_makes_no_datagram_and_no_connection_to_port_113(self) -> None:
        if subprocess.run([*_OWN_NETWORK, "true"], capture_output=True).returncode:
            self.skipTest("no network namespace permitted here")
        ended = subprocess.run(
            [*_OWN_NETWORK, sys.executable, _INSIDE],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
        )
        self.assertEqual(ended.returncode, 0, ended.stderr)
