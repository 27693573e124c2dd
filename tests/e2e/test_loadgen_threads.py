"""loadgen: threads that the system does not let it start."""

import os
import subprocess
import unittest

from loadgen_scene import GET
from programs import BUILD, environment

_AS_NOBODY = ("setpriv", "--reuid", "65534", "--clear-groups") if os.geteuid() == 0 else ()


class LoadgenThreadsTest(unittest.TestCase):
    def test_more_threads_than_the_user_may_have_are_not_started(self) -> None:
        for kind in (("--threads", 400), ("--users", 500, "--threads", 400)):
            words = [str(word) for word in (*GET, "--file", "a", "--server", "127.0.0.1:1", *kind)]
            ended = subprocess.run(
                [*_AS_NOBODY, "prlimit", "--nproc=300:300", str(BUILD / "loadgen"), *words],
                env=environment(),
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
            )
            if "Permission denied" in ended.stderr:
                self.skipTest("nobody may run what was built here")
            self.assertEqual((ended.returncode, ended.stderr.count("\n")), (1, 1), ended.stderr)
            self.assertIn("400 threads cannot be started, because `ulimit -u` is 300", ended.stderr)
            self.assertIn("use fewer threads", ended.stderr)
