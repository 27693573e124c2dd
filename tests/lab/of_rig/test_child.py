"""A child process: its end, its status, and the CPU time that it used."""

import os
import signal
import subprocess
import sys
import unittest

from rig.child import Child

_LONG_S = 60.0
# Uses so much of the CPU, itself or in a child that it waits for.
_WORK = """
import subprocess, sys, time
if sys.argv[1] == 'itself':
    while time.process_time() < 0.3:
        pass
else:
    subprocess.run([sys.executable, '-I', '-S', '-c', sys.argv[2], 'itself'])
"""


def python(*arguments: str) -> Child:
    return Child([sys.executable, "-I", "-S", "-c", *arguments], stdout=subprocess.PIPE)


class ChildTest(unittest.TestCase):
    def test_the_cpu_time_is_known_when_it_has_ended(self) -> None:
        for who in ("itself", "a child"):
            with python(_WORK, who, _WORK) as child:
                self.assertIsNone(child.used_s)
                self.assertEqual(child.wait(_LONG_S), 0)
                assert child.used_s is not None
                self.assertGreaterEqual(child.used_s, 0.3)

    def test_one_that_only_waits_uses_little(self) -> None:
        with python("import time; time.sleep(0.6)") as child:
            child.communicate(timeout=_LONG_S)
            assert child.used_s is not None
            self.assertLess(child.used_s, 0.5)

    def test_its_status_is_that_of_any_child(self) -> None:
        with python("raise SystemExit(7)") as child:
            self.assertEqual((child.wait(), child.poll(), child.returncode), (7, 7, 7))
        with python("import time; time.sleep(3600)") as child:
            self.assertIsNone(child.poll())
            with self.assertRaises(subprocess.TimeoutExpired):
                child.wait(0.01)
            child.send_signal(signal.SIGKILL)
            self.assertEqual(child.wait(), -signal.SIGKILL)
            with self.assertRaises(ChildProcessError):
                os.waitpid(child.pid, os.WNOHANG)  # nobody is left to be waited for
