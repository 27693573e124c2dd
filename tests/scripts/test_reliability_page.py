"""docs/reliability.md names a test for each defect, and each test that it names exists."""

import re
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "reliability.md"

_MODULE_OR_TEST = re.compile(r"`(?:[a-z0-9/]*/)?(test_\w+|\w+_test)(?:\.py|\.cpp)?(?:\.\.\.)?`")
_UNIT_TEST = re.compile(r'"([^"]+?)(?:\.\.\.)?"')


def entries() -> list[str]:
    """What stands behind each dash of the first level that is not a promise with a figure."""
    found = re.split(r"^- ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    bodies = [re.split(r"\n(?=\S)|\n\n", entry)[0] for entry in found]
    return [
        " ".join(body.split()) for body in bodies if "\n  - " in body and "- Figure: " not in body
    ]


def test_of(entry: str) -> str:
    return entry.partition(" - Test: ")[2]


class ReliabilityPageTest(unittest.TestCase):
    def test_each_entry_names_its_test(self) -> None:
        self.assertGreater(len(entries()), 100)
        for entry in entries():
            with self.subTest(entry[:80]):
                self.assertIn(" - Now: ", entry)
                named = re.search(r"by reading|`make torture T=\w+`", test_of(entry))
                self.assertTrue(named or _MODULE_OR_TEST.search(test_of(entry)))

    def test_each_test_that_is_named_exists(self) -> None:
        stems = {path.stem for path in TESTS.rglob("*_test.cpp")}
        stems |= {path.stem for path in TESTS.rglob("test_*.py")}
        python = "".join(path.read_text() for path in TESTS.rglob("test_*.py"))
        cases = "".join(path.read_text() for path in TESTS.rglob("*_test.cpp"))
        for entry in entries():
            for name in _MODULE_OR_TEST.findall(test_of(entry)):
                self.assertTrue(name in stems or f"def {name}" in python, name)
            for name in _UNIT_TEST.findall(test_of(entry)):
                self.assertIn(f'TEST_CASE("{name}', re.sub(r"\(\s+", "(", cases))


if __name__ == "__main__":
    unittest.main()
