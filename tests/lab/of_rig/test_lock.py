"""One measurement at a time on a machine: the second is refused, or waits for its turn."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from rig import lock
from rig.errors import Failed

_SECOND = "from rig import lock\nwith lock.only_lab(waits=True): print('its turn')"
ROOT = Path(__file__).resolve().parents[3]


class LockTest(unittest.TestCase):
    def test_a_second_one_is_refused_or_waits_until_the_first_has_ended(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("tempfile.gettempdir", return_value=folder),
        ):
            with lock.only_lab():
                with self.assertRaisesRegex(Failed, r"process \d+\); add --wait"), lock.only_lab():
                    pass
                second = subprocess.Popen(
                    [sys.executable, "-c", _SECOND],
                    cwd=ROOT,
                    env={"TMPDIR": folder},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                assert second.stderr
                self.assertIn("waiting until it ends", second.stderr.readline())
                self.assertIsNone(second.poll())
            out, _ = second.communicate()
            self.assertEqual((second.returncode, out), (0, "its turn\n"))
            kept = (Path(folder) / "turnstile-lab.lock").read_text(encoding="utf-8")
            self.assertEqual(kept, f"{second.pid}\n")
