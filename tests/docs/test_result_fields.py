"""The page of the fields of a result has the list from which loadgen writes and merges results."""

import re
import unittest

from shell import PROJECT

SCHEMA = PROJECT / "loadgen" / "figures" / "schema.cpp"
PAGE = PROJECT / "docs" / "result-fields.md"
# The words of the page for how several results add up. A field that does not say it is none.
SUMS = {
    "kAdded": "added",
    "kMost": "largest",
    "kAgain": "again",
    "kSame": "same",
    "kNone": "–",
}
WHEN = re.compile(r'constexpr When (k\w+){"([^"]+)"')
# `shown<...>("name", "unit", kAll, kAdded, ...`, or the same in braces.
FIELD = re.compile(
    r'^    (?:(?:shown|kept)<[^"]*>\(|{)\s*"([\w.]+)",\s*(?:"([^"]+)"|kCounts),\s*(k\w+)'
    r"(?:,\s*(k\w+))?",
    re.MULTILINE,
)


def listed() -> list[list[str]]:
    """Of each field of schema.cpp: its name, its unit, its runs, and how it adds up."""
    text = SCHEMA.read_text(encoding="utf-8")
    runs = dict(WHEN.findall(text))
    fields = FIELD.findall(text[text.index("constexpr Field kFields[]") :])
    return [
        [f"`{name}`", unit or "counts", runs[when], SUMS[in_sum or "kNone"]]
        for name, unit, when, in_sum in fields
    ]


def described() -> list[list[str]]:
    """The same of the page."""
    lines = re.findall(r"^\| (`[\w.]+` \|.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    rows = [line.split(" | ") for line in lines]
    return [row[:4] for row in rows if len(row) == 5]


class ResultFieldsTest(unittest.TestCase):
    maxDiff = None

    def test_the_page_has_all_fields_in_the_order_of_a_result(self) -> None:
        self.assertEqual(described(), listed())

    def test_every_field_of_the_list_is_read_here(self) -> None:
        text = SCHEMA.read_text(encoding="utf-8")
        rows = text[text.index("constexpr Field kFields[]") :].split("\n};", 1)[0]
        starts = re.findall(r"^    (?:shown<|kept<|{)", rows, re.MULTILINE)
        self.assertEqual(len(listed()), len(starts))
        self.assertGreater(len(starts), 100)
