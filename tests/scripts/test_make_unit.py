"""What `make unit` compiles, as `make -n` tells it: for one tag only what that needs."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from host import PROJECT, ScriptTest, run

_COMPILED = re.compile(r"compile (\S+?)\"?$", re.MULTILINE)


class MakeUnitTest(ScriptTest):
    def setUp(self) -> None:
        self.build = self.enterContext(tempfile.TemporaryDirectory())

    def planned(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Each file would be compiled alone, as behind `make`, and nothing is there yet."""
        command = ["make", "-n", f"BUILD={self.build}", "UNITY=", "CXX=g++", "unit", *words]
        own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        return run(*command, cwd=PROJECT, env=own)

    def compiled(self, *words: str) -> set[str]:
        done = self.planned(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = _COMPILED.findall(done.stdout)
        self.assertIn(f"{len(found)} files to compile: about ", done.stdout.splitlines()[0])
        return set(found)

    def test_a_tag_compiles_its_tests_and_the_library(self) -> None:
        compiled = self.compiled("T=[net]")
        tests = {name for name in compiled if name.startswith("tests/")}
        own = {
            str(path.relative_to(PROJECT))
            for path in (PROJECT / "tests").rglob("*_test.cpp")
            if re.search(r'"[^"]*\[net\]', path.read_text(encoding="utf-8"))
        }
        self.assertEqual(tests, own | {"tests/main.cpp"})
        self.assertEqual({Path(name).parts[0] for name in compiled - tests}, {"lib"})
        self.assertLess(3 * len(compiled), len(self.compiled()))

    def test_a_tag_that_no_test_has_is_named(self) -> None:
        done = self.planned("T=[fish]")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("make unit: no unit test has the tag [fish]", done.stderr)
