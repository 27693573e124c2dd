"""What `make mutants` says of mutations whose tests notice them, do not, or fail anyway."""

import contextlib
import io
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

MUTANTS = Path(__file__).resolve().parents[1] / "mutants"
sys.path.append(str(MUTANTS))

from copies import number_of, plan  # noqa: E402
from place import Mutation, Sources  # noqa: E402
from trial import Bench, try_all  # noqa: E402

# In place of build/unit_tests: a test that sees mutation "seen", one that sees the file of Python,
# one that sees nothing, and one that always fails.
UNIT_TESTS = f"""\
    #!/usr/bin/python3
    import os, sys
    number = os.environ.get("TURNSTILE_MUTATION")
    fails = {{
        "sees": number == "{number_of("seen")}",
        "sees\\\\, too": number == "{number_of("seen")}",
        "sees files": open("lab/a.py").read() != "SIZE = 1",
        "broken": True,
    }}.get(sys.argv[1], False)
    print(f"\\n{{int(not fails)}} passed, {{int(fails)}} failed")
    sys.exit(fails)
"""


class TrialTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-trial-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        files = {
            "build/unit_tests": UNIT_TESTS,
            "lib/a.cpp": "int a() { return 1; }",
            "lab/a.py": "SIZE = 1",
        }
        for path, text in files.items():
            (self.folder / path).parent.mkdir(parents=True)
            (self.folder / path).write_text(textwrap.dedent(text), encoding="utf-8")
        (self.folder / "build/unit_tests").chmod(0o755)

    def try_them(self, *mutations: Mutation) -> tuple[str, tuple[int, int, int]]:
        """Returns what is printed, and how many passed, failed and were skipped."""
        sources = Sources(self.folder)
        build = SimpleNamespace(folder=self.folder, sources=sources, plan=plan(mutations, sources))
        patched = mock.patch("trial.FOLDER", self.folder)
        patched.start()
        self.addCleanup(patched.stop)
        bench = Bench(build, jobs=2)  # type: ignore[arg-type]
        with bench.workers, contextlib.redirect_stdout(io.StringIO()) as said:
            tally = try_all(mutations, bench)
        return said.getvalue(), (tally.passed, tally.failed, tally.skipped)

    def mutation(self, name: str, *tests: str) -> Mutation:
        return Mutation(name, "lib/a.cpp", "1", "2", tests, False, "a")

    def test_one_that_its_test_notices_is_killed_and_another_survives(self) -> None:
        said, counts = self.try_them(
            self.mutation("seen", "unit/sees"), self.mutation("unseen", "unit/sees")
        )
        self.assertIn("no test failed on the unmutated code\n", said)
        self.assertRegex(said, r"(?m)^seen: killed by unit/sees in \d+ s$")
        self.assertRegex(said, r"(?m)^unseen: SURVIVED unit/sees in \d+ s$")
        self.assertEqual(counts, (1, 1, 0))

    def test_a_comma_in_the_name_of_a_test_begins_no_other_name(self) -> None:
        said, counts = self.try_them(self.mutation("seen", "unit/sees, too"))
        self.assertIn("seen: killed by unit/sees, too", said)
        self.assertEqual(counts, (1, 0, 0))

    def test_each_of_its_tests_must_notice_it(self) -> None:
        said, counts = self.try_them(self.mutation("seen", "unit/sees", "unit/blind"))
        self.assertIn("seen: SURVIVED unit/blind", said)
        self.assertEqual(counts, (0, 1, 0))

    def test_a_file_that_is_not_compiled_is_another_one_in_a_copy(self) -> None:
        mutation = Mutation("file", "lab/a.py", "1", "2", ("unit/sees files",))
        said, counts = self.try_them(mutation, self.mutation("unseen", "unit/sees files"))
        self.assertIn("file: killed by unit/sees files", said)
        self.assertIn("unseen: SURVIVED unit/sees files", said)
        self.assertEqual(counts, (1, 1, 0))

    def test_one_whose_test_fails_anyway_is_not_tried(self) -> None:
        said, counts = self.try_them(self.mutation("seen", "unit/broken"))
        self.assertIn("FAILED unmutated: unit/broken\n", said)
        self.assertIn("seen: not tried, as its test fails unmutated\n", said)
        self.assertEqual(counts, (0, 1, 0))
