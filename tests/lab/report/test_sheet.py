"""A sheet of results: a table by its columns, and a chart by its curves."""

import unittest

from lab.analysis.intervals import Spread
from lab.report import sheet
from lab.report.sheet import Column

COLUMNS: list[Column[int]] = [
    Column("number", str),
    Column("twice", lambda one: str(2 * one), "times"),
    Column("never", lambda _: "", "times"),
    Column("thrice", lambda one: str(3 * one), "times"),
    Column("remark", lambda one: "even" if one % 2 == 0 else ""),
]


class TableTest(unittest.TestCase):
    def test_each_row_has_the_cells_of_all_columns_that_are_not_empty(self) -> None:
        found = sheet.table("title", "caption", COLUMNS, (1, 2))
        self.assertEqual(found.header, ["number", "twice", "thrice", "remark"])
        self.assertEqual(found.rows, [["1", "2", "3", ""], ["2", "4", "6", "even"]])

    def test_a_group_stands_once_above_neighbours(self) -> None:
        found = sheet.table("title", "caption", COLUMNS, (1, 2))
        self.assertEqual(found.groups, [("", 1), ("times", 2), ("", 1)])
        self.assertEqual(sheet.table("title", "caption", COLUMNS[:1], (1,)).groups, [])

    def test_empty_columns_may_be_kept(self) -> None:
        found = sheet.table("title", "caption", COLUMNS, (1,), keeps_empty=True)
        self.assertEqual(found.header[2], "never")
        self.assertEqual(found.groups, [("", 1), ("times", 3), ("", 1)])


class CurveTest(unittest.TestCase):
    def test_what_was_not_found_interrupts_it(self) -> None:
        found = sheet.curve("name", "ink", [(1, self.spread(4, 5)), (2, None)], factor=10)
        first, second = found.points
        assert first
        self.assertEqual((first.x, first.value, first.low, first.high), (1, 45, 40, 50))
        self.assertIsNone(second)

    def test_an_interval_that_reaches_below_0_ends_above_it(self) -> None:
        (point,) = sheet.curve("name", "ink", [(1, self.spread(-1, 5))]).points
        assert point
        self.assertAlmostEqual(point.low, 0.2)

    def spread(self, low: float, high: float) -> Spread:
        return Spread((low + high) / 2, low, high, 3, True)
