"""tests/run_unittests.py and the unit tests: what hangs or dies is named, and counts as failed."""

import contextlib
import io
import os
import stat
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS))

from runner import again, temporary  # noqa: E402

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

    def run_them(
        self, *arguments: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        inherited = {name: text for name, text in os.environ.items() if name != again.LATER}
        return subprocess.run(
            [sys.executable, TESTS / "run_unittests.py", self.folder, *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
            cwd=TESTS.parent,
            env=inherited | (env or {}),
        )

    def test_temporary_files_are_in_one_folder_that_nobody_else_has_made(self) -> None:
        folder = self.folder / "turnstile-tests"

        def chosen() -> str | None:
            with (
                mock.patch.dict(os.environ),
                mock.patch("tempfile.tempdir", str(self.folder)),
            ):
                os.environ.pop("TMPDIR", None)
                temporary.use_one_folder()
                return os.environ.get("TMPDIR")

        for _ in range(2):
            self.assertEqual(chosen(), str(folder))
        self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o1777)
        folder.rename(self.folder / "other")
        folder.symlink_to("other")
        self.assertIsNone(chosen())

    def test_a_folder_for_temporary_files_that_was_asked_for_stays(self) -> None:
        self.write(
            "test_asks",
            "def test_it(self):\n    self.fail(tempfile.gettempdir())",
            "import tempfile, unittest",
        )
        ended = self.run_them("--no-second-chance", env={"TMPDIR": str(self.folder)})
        self.assertIn(f"AssertionError: {self.folder}\n", ended.stdout)

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

    def once_bad(self, name: str, complaint: str) -> None:
        """A test that fails at its first run only."""
        body = (
            f"def test_it(self):\n"
            f"    mark = pathlib.Path({str(self.folder / (name + '.ran'))!r})\n"
            f"    first = not mark.exists()\n"
            f"    mark.touch()\n"
            f"    if first:\n"
            f"        {complaint}"
        )
        self.write(name, body, "import os, pathlib, unittest")

    def test_what_passes_alone_is_named_as_unsteady(self) -> None:
        self.once_bad("test_slow", "self.fail('the machine was busy')")
        self.write("test_wrong", "def test_it(self):\n    self.fail('always')")
        ended = self.run_them()
        name = f"{self.folder.name}/test_slow.OneTest.test_it"
        self.assertIn(f"\nUNSTEADY {name}: AssertionError: the machine was busy\n", ended.stdout)
        self.assertEqual(ended.stdout.splitlines()[-1], "1 passed, 1 failed, 0 skipped")
        self.assertEqual(ended.returncode, 1)

    def test_a_class_that_could_not_be_set_up_is_run_again_whole(self) -> None:
        mark = self.folder / "ran"
        body = (
            f"@classmethod\ndef setUpClass(cls):\n"
            f"    mark = pathlib.Path({str(mark)!r})\n"
            f"    if not mark.exists():\n        mark.touch()\n        raise OSError('busy')\n"
            f"def test_one(self):\n    pass\ndef test_two(self):\n    pass"
        )
        self.write("test_class", body, "import pathlib, unittest")
        ended = self.run_them()
        self.assertIn("test_class.OneTest: OSError: busy\n", ended.stdout)
        self.assertEqual(ended.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped")
        self.assertEqual(ended.returncode, 0)

    def test_a_crash_a_report_and_a_wrong_byte_are_not_run_again(self) -> None:
        complaints = {
            "test_crash": "os.abort()",
            "test_server": "self.fail('authserver ended with -11')",
            "test_report": "self.fail('ERROR: AddressSanitizer: heap-use-after-free')",
            "test_status": "self.assertEqual(-11, 0)",
            "test_child": "self.fail('error a child died pid=7 status=0x8b')",
            "test_byte": "self.assertEqual(b'the file as it is', b'the file as it was')",
            "test_answer": "self.assertEqual((200, b'as it is'), (200, b'as it was'))",
            "test_mix": "raise type('WrongBytes', (AssertionError,), {})('a mix')",
        }
        for name, complaint in complaints.items():
            self.once_bad(name, complaint)
        ended = self.run_them()
        self.assertNotIn("UNSTEADY", ended.stdout)
        self.assertEqual(
            ended.stdout.splitlines()[-1], f"0 passed, {len(complaints)} failed, 0 skipped"
        )

    def test_a_part_of_a_file_and_a_refusal_are_no_wrong_bytes(self) -> None:
        self.once_bad("test_cut", "self.assertEqual(b'the file', b'the file whole')")
        self.once_bad("test_busy", "self.assertEqual(b'ERR busy', b'the file')")
        self.once_bad("test_other", "self.assertEqual((503, b'busy'), (200, b'the file'))")
        self.once_bad("test_killed", "self.fail('a child died pid=7 status=0x9')")
        ended = self.run_them()
        self.assertEqual(ended.stdout.splitlines()[-1], "4 passed, 0 failed, 0 skipped")

    def test_more_than_five_unsteady_tests_fail(self) -> None:
        for number in range(6):
            self.once_bad(f"test_{number}", "self.fail('busy')")
        ended = self.run_them()
        self.assertIn("6 tests are unsteady; 5 is the most that a run may have", ended.stdout)
        self.assertEqual(ended.stdout.splitlines()[-1], "0 passed, 6 failed, 0 skipped")
        self.assertEqual(ended.returncode, 1)

    def test_a_test_that_waits_for_the_end_of_a_gate_is_left_to_it(self) -> None:
        self.once_bad("test_slow", "self.fail('busy')")
        later = self.folder / "later"
        ended = self.run_them(env={again.LATER: str(later)})
        self.assertEqual(ended.stdout.splitlines()[-1], "0 passed, 1 failed, 0 skipped")
        (late,) = again.read(later)
        self.assertEqual((late.reason, late.failures), ("AssertionError: busy", 1))
        self.assertTrue(late.passes())

    def test_the_third_time_is_a_failure(self) -> None:
        kept = self.folder / "unsteady.md"
        row = "| 2026-11-{} | `e2e/test_a.A.test_b` | AssertionError: busy | not known |\n"
        for rows, is_third in ((0, False), (1, False), (2, True)):
            kept.write_text("".join(row.format(10 + number) for number in range(rows)))
            with self.subTest(rows), contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(again.is_third_time("e2e/test_a.A.test_b", kept), is_third)
                self.assertFalse(again.is_third_time("e2e/test_a.A.test", kept))

    def test_the_number_of_files_at_once_can_be_given(self) -> None:
        for number in range(3):
            self.write(
                f"test_{number}",
                f"def test_it(self):\n"
                f"    mine = pathlib.Path({str(self.folder / 'now')!r})\n"
                f"    mine.mkdir()\n    time.sleep(0.05)\n    mine.rmdir()",
                "import pathlib, time, unittest",
            )
        ended = self.run_them("--jobs", "1", "--no-second-chance")
        self.assertEqual(ended.stdout.splitlines()[-1], "3 passed, 0 failed, 0 skipped")

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
