"""tests/run_unittests.py and the unit tests: what hangs or dies is named, and counts as failed."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("TURNSTILE_BUILD", TESTS.parent / "build"))


class RunnerTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-runner-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, body: str, imports: str = "import unittest") -> None:
        text = (
            f"{imports}\n\n\nclass OneTest(unittest.TestCase):\n{textwrap.indent(body, '    ')}\n"
        )
        (self.folder / f"{name}.py").write_text(text, encoding="utf-8")

    def run_them(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, TESTS / "run_unittests.py", self.folder, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
            cwd=TESTS.parent,
        )

    def test_a_test_that_hangs_is_named_and_its_clean_up_is_done(self) -> None:
        left = self.folder / "left"
        self.write(
            "test_waits",
            f"def test_for_ever(self):\n"
            f"    self.addCleanup(open({str(left)!r}, 'w').close)\n"
            f"    threading.Event().wait()\n"
            f"def test_short(self):\n    pass",
            "import threading, unittest",
        )
        ended = self.run_them("--limit", "1")
        self.assertIn("FAILED test_for_ever (test_waits.OneTest", ended.stdout)
        self.assertIn("threading.Event().wait()", ended.stdout)
        self.assertIn("no end after 1 s", ended.stdout)
        self.assertEqual(ended.stdout.splitlines()[-1], "1 passed, 1 failed, 0 skipped")
        self.assertEqual(ended.returncode, 1)
        self.assertTrue(left.exists())

    def test_a_process_that_dies_or_hears_no_alarm_fails_the_test_that_ran(self) -> None:
        self.write("test_dies", "def test_it(self):\n    os._exit(7)", "import os, unittest")
        deaf = (
            "def test_it(self):\n    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
        )
        self.write("test_deaf", deaf + "    time.sleep(99)", "import signal, time\nimport unittest")
        ended = self.run_them("--limit", "1")
        self.assertIn("FAILED test_dies.OneTest.test_it\nits process ended with 7", ended.stdout)
        self.assertIn("FAILED test_deaf.OneTest.test_it\nits process was killed", ended.stdout)
        self.assertEqual(ended.stdout.splitlines()[-1], "0 passed, 2 failed, 0 skipped")

    def test_a_test_counts_once_however_many_of_its_parts_are_skipped(self) -> None:
        parts = (
            "def test_parts(self):\n"
            "    for part in range(3):\n"
            "        with self.subTest(part):\n"
            "            self.skipTest('missing')\n"
            "def test_whole(self):\n    pass"
        )
        self.write("test_parts", parts)
        never = "@classmethod\ndef setUpClass(cls):\n    raise unittest.SkipTest('missing')\n"
        self.write("test_never", never + "def test_it(self):\n    pass")
        ended = self.run_them()
        self.assertEqual(ended.stdout.splitlines()[-1], "1 passed, 0 failed, 4 skipped")
        self.assertEqual(ended.returncode, 0)

    def test_a_part_of_a_name_is_enough_and_a_wrong_one_is_answered(self) -> None:
        for name in ("test_idle", "test_idle_long", "test_other", "test_lab"):
            self.write(name, "def test_it(self):\n    pass")
        for wanted, ran in (
            (["idle"], ["test_idle"]),
            (["test_idle.OneTest.test_it"], ["test_idle"]),
            (["long"], ["test_idle_long"]),
            (["idl"], ["test_idle", "test_idle_long"]),
            (["other", "test_idle"], ["test_idle", "test_other"]),
            (["lab"], ["test_lab"]),  # a folder of the project has this name too
        ):
            with self.subTest(wanted):
                ended = self.run_them(*wanted)
                self.assertEqual(ended.returncode, 0, ended.stderr)
                lines = [line for line in ended.stdout.splitlines() if " s" in line]
                self.assertEqual(sorted(line.split(":")[0] for line in lines if ":" in line), ran)
        ended = self.run_them("idel")
        self.assertEqual(ended.returncode, 2)
        self.assertIn("no file of tests has 'idel' in its name; did you mean", ended.stderr)

    @unittest.skipUnless((BUILD / "unit_tests").exists(), "the unit tests are not built")
    def test_a_unit_test_that_hangs_is_named(self) -> None:
        ended = subprocess.run(
            [BUILD / "unit_tests", "[.hangs]"],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | {"TURNSTILE_TEST_LIMIT_S": "1"},
        )
        self.assertEqual(ended.returncode, 1)
        self.assertIn("FAILED a test that hangs\nno end after 1 s\n", ended.stdout)
