"""The parts of `make ledger`: unit tests that die or hang, what a test enters, what is kept."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

MUTANTS = Path(__file__).resolve().parents[1] / "mutants"
sys.path.append(str(MUTANTS))

import known  # noqa: E402
from known import State  # noqa: E402

# In place of build/unit_tests: what a test does follows from its name and from the mutation.
UNIT_TESTS = """\
    #!/usr/bin/python3
    import os, signal, sys
    NAMES = ["works", "fails", "dies", "dies silently", "hangs", "works too"]
    if sys.argv[1] == "--list-test-names-only":
        sys.exit(print("\\n".join(NAMES)))
    wanted = open(sys.argv[2]).read().splitlines()
    passed = failed = 0
    for name in [name for name in NAMES if name in wanted]:
        if name == os.environ["TURNSTILE_MUTATION"] == "dies silently":
            os.kill(os.getpid(), signal.SIGKILL)
        does = name if name == os.environ["TURNSTILE_MUTATION"] else "works"
        failed += not does.startswith("works")
        passed += does.startswith("works")
        if not does.startswith("works"):
            print(f"\\nFAILED {name}", flush=True)
        if does == "hangs":
            sys.exit(print("no end after 1 s"))
        if does == "dies":
            break
    print(f"\\n{passed} passed, {failed} failed")
"""


class InAFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-ledger-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, path: str, text: str) -> Path:
        written = self.folder / path
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(textwrap.dedent(text), encoding="utf-8")
        return written


class UnitsTest(InAFolder):
    def test_those_behind_a_test_that_ended_the_program_run_too(self) -> None:
        self.write("build/unit_tests", UNIT_TESTS).chmod(0o755)
        # In a process of its own, because what a test has left is ended: all our children.
        program = f"""
            import sys
            from pathlib import Path
            sys.path[:0] = [{str(MUTANTS)!r}, {str(MUTANTS.parents[1])!r}]
            from units import names_of, run_units
            tree = Path({str(self.folder)!r})
            for name in names_of(tree):
                done = run_units(names_of(tree), tree, 60, {{"TURNSTILE_MUTATION": name}})
                print(name, done.failed, done.not_run)
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "works [] []",
                "fails ['fails'] []",
                "dies ['dies'] []",
                "dies silently ['dies silently'] []",
                "hangs ['hangs'] []",
                "works too [] []",
            ],
        )


class EnteredTest(InAFolder):
    def test_a_test_tells_which_functions_and_which_files_of_python_it_enters(self) -> None:
        self.write("lab/loaded.py", "SIZE = 3\n")
        self.write(
            "build/unit_tests",
            """\
            #!/usr/bin/python3
            import os, sys
            sys.path.insert(0, os.getcwd())
            from lab import loaded
            with open(os.environ["TURNSTILE_REACHED"], "r+b") as file:
                file.seek(4711)
                file.write(b"\\1")
            print("1 passed, 0 failed")
            """,
        ).chmod(0o755)
        program = f"""
            import sys
            from pathlib import Path
            sys.path[:0] = [{str(MUTANTS)!r}, {str(MUTANTS.parents[1])!r}]
            from reached import entered
            found = entered("unit/x", Path({str(self.folder)!r}), 60)
            print(found.outcome.verdict.name, sorted(found.points), sorted(found.files))
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        )
        self.assertEqual(done.stdout, "PASSED [4711] ['lab/loaded.py']\n")


class StateTest(InAFolder):
    def setUp(self) -> None:
        super().setUp()
        patched = mock.patch.object(known, "FOLDER", self.folder)
        patched.start()
        self.addCleanup(patched.stop)

    def test_it_goes_on_where_it_stopped_though_a_line_was_cut(self) -> None:
        State("sources").put("units", "one", failed=["a"])
        with (self.folder / "ledger" / "results").open("a") as file:
            file.write('{"what": "uni')
        again = State("sources")
        self.assertEqual(again.get("units", "one")["failed"], ["a"])
        again.put("units", "two", failed=[])
        self.assertEqual(list(State("sources").all_of("units")), ["one", "two"])

    def test_results_of_other_sources_are_gone(self) -> None:
        State("sources").put("units", "one", failed=["a"])
        self.assertIsNone(State("others").get("units", "one"))
        self.assertIsNone(State("sources").get("units", "one"))
