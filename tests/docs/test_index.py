"""The README is short and shows what one gets; the index leads to every page."""

import re
import unittest

from shell import PROJECT

MOST_README_LINES = 100


class IndexTest(unittest.TestCase):
    def test_each_page_of_docs_is_in_the_index(self) -> None:
        index = (PROJECT / "docs" / "README.md").read_text(encoding="utf-8")
        linked = set(re.findall(r"\]\(([\w.-]+\.md)\)", index))
        names = {path.name for path in (PROJECT / "docs").glob("*.md")} - {"README.md"}
        self.assertEqual(names - linked, set())

    def test_the_readme_is_short_and_shows_two_pictures(self) -> None:
        text = (PROJECT / "README.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.splitlines()), MOST_README_LINES)
        self.assertEqual(len(re.findall(r"!\[[^]]{10,}\]\(([^)]+)\)", text)), 2)
