"""The README is short and shows what one gets; the indexes lead to every page and every folder."""

import re
import unittest
from collections import defaultdict

from shell import PROJECT

MOST_README_LINES = 80
MOST_LINES_OF_ARCHITECTURE = 250
MOST_LINES_OF_A_RELEASE = 60
_TESTS = PROJECT / "tests"
# Files of tests that run side by side on two cores.
_AT_ONCE = 6


class IndexTest(unittest.TestCase):
    def test_each_page_of_docs_is_in_the_index(self) -> None:
        index = (PROJECT / "docs" / "README.md").read_text(encoding="utf-8")
        linked = set(re.findall(r"\]\(([\w.-]+\.md)\)", index))
        names = {path.name for path in (PROJECT / "docs").glob("*.md")} - {"README.md"}
        self.assertEqual(names - linked, set())

    def test_the_architecture_can_be_read_in_one_go(self) -> None:
        text = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.splitlines()), MOST_LINES_OF_ARCHITECTURE)

    def test_what_is_new_is_told_in_a_page(self) -> None:
        text = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
        newest = re.split(r"^## ", text, flags=re.MULTILINE)[1]
        self.assertLessEqual(len(newest.strip().splitlines()), MOST_LINES_OF_A_RELEASE)

    def test_the_readme_is_short_and_shows_two_pictures(self) -> None:
        text = (PROJECT / "README.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.splitlines()), MOST_README_LINES)
        self.assertEqual(len(re.findall(r"!\[[^]]{10,}\]\(([^)]+)\)", text)), 2)


class FoldersOfTestsTest(unittest.TestCase):
    """The table of tests/README.md."""

    def setUp(self) -> None:
        text = (_TESTS / "README.md").read_text(encoding="utf-8")
        self.rows = re.findall(r"^\| (`.*?) \|.*\| (\d+|–) \|$", text, re.MULTILINE)

    def test_each_folder_is_there_once(self) -> None:
        named = [name for names, _ in self.rows for name in re.findall(r"`(\w+)`", names)]
        there = {path.name for path in _TESTS.iterdir() if path.is_dir()} - {"__pycache__"}
        self.assertEqual(sorted(named), sorted(there))

    def test_the_minutes_are_about_those_that_were_recorded(self) -> None:
        files = defaultdict(list)
        for line in (_TESTS / "times.txt").read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                seconds, _, file = line.split()
                files[file.split("/")[0]].append(float(seconds))
        for names, said in self.rows:
            folder = "unit" if "`lib`" in names else names.strip("`")
            if said == "–":
                self.assertNotIn(folder, files)
                continue
            took = max(max(files[folder]), sum(files[folder]) / _AT_ONCE) / 60
            with self.subTest(folder=folder, recorded=f"{took:.1f} minutes"):
                self.assertLess(abs(int(said) - took), max(1.0, took / 2))
