"""tests/torture/README.md has each promise, and the tests that it names for defects exist."""

import re
import unittest
from pathlib import Path

from table import MODULES

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS / "torture" / "README.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    """The defects: what was wrong, and the names of the tests."""
    found = re.findall(r"^\| (.+) \| (`.+`) \|$", PAGE, flags=re.MULTILINE)
    return [[wrong, *re.findall(r"`(\w+)`", tests)] for wrong, tests in found]


class TorturePageTest(unittest.TestCase):
    def test_each_promise_has_an_attack_a_figure_and_a_control(self) -> None:
        for name in MODULES:
            with self.subTest(name):
                entry = PAGE.partition(f"(`{name}`)")[2].partition("\n- **")[0]
                for part in ("Attack", "Figure", "Control"):
                    self.assertIn(f"  - {part}: ", entry)

    def test_each_test_that_is_named_for_a_defect_exists(self) -> None:
        names = {path.stem for path in TESTS.rglob("*_test.cpp")}
        names |= {path.stem for path in TESTS.rglob("test_*.py")}
        names |= set(MODULES)
        self.assertGreater(len(rows()), 70)
        for wrong, *tests in rows():
            with self.subTest(wrong):
                self.assertTrue(tests)
                self.assertLessEqual(set(tests), names)
