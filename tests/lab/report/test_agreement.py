"""`lab compare`: whether the verdicts of two folders are the same, and their gains overlap."""

import itertools
import unittest
from dataclasses import replace

import examples

from lab.analysis.cells import Analysis
from lab.plan.catalog import Cell
from lab.report import compare
from lab.report.document import Paragraph, Table
from lab.results.records import Run

FINDING = "§4.4: Redis is faster than MySQL for new accounts and small files"
OTHERS = 2  # verdicts on these two stages, about what limits them


def analysis(*redis: float, is_side_by_side: bool = False) -> Analysis:
    """MySQL with 1,000 requests a second in each pass, or block, and Redis with these."""
    cells = [Cell("prefetching", "1KB"), Cell("redis", "1KB")]
    runs: list[Run] = []
    for number, rate in enumerate(redis, start=1):
        sides = [
            replace(examples.run(4, rps, number), cell=cell, store=store)
            for cell, store, rps in zip(cells, ("mysql", "redis"), (1000.0, rate))
        ]
        runs += sides
        if is_side_by_side:
            runs += [replace(one, pair="prefetching:redis") for one in (*sides, *sides)]
    return Analysis(runs, examples.ENVIRONMENT)


FASTER, SLOWER = (1490.0, 1500.0, 1510.0), (690.0, 700.0, 710.0)
UNSURE = (700.0, 1500.0, 1000.0)


class AgreementTest(unittest.TestCase):
    def said(self, first: Analysis, second: Analysis) -> dict[str, tuple[str, list[list[str]]]]:
        """title of a table -> the sentence before it, and its rows."""
        blocks = compare.agreement(first, second)
        return {
            table.title: (sentence.text, table.rows)
            for sentence, table in itertools.pairwise(blocks)
            if isinstance(sentence, Paragraph) and isinstance(table, Table)
        }

    def verdicts(self, first: tuple[float, ...], second: tuple[float, ...]) -> tuple[str, str]:
        """The sentence about all, and the relation of the two verdicts on Redis."""
        sentence, rows = self.said(analysis(*first), analysis(*second))["Findings"]
        (row,) = (row for row in rows if row[:2] == [FINDING, "1KB"])
        return sentence, row[-1]

    def test_the_same_verdict(self) -> None:
        sentence, relation = self.verdicts(FASTER, FASTER)
        self.assertEqual(relation, "the same")
        self.assertIn(f"Of {OTHERS + 1} verdicts, {OTHERS + 1} are the same, 0 flip", sentence)

    def test_seen_in_one_and_not_seen_in_the_other_is_a_flip(self) -> None:
        for first, second in ((FASTER, SLOWER), (SLOWER, FASTER)):
            sentence, relation = self.verdicts(first, second)
            self.assertEqual(relation, "flips")
            self.assertIn(f"{OTHERS} are the same, 1 flip", sentence)

    def test_what_only_one_of_them_can_tell_is_no_flip(self) -> None:
        sentence, relation = self.verdicts(UNSURE, FASTER)
        self.assertEqual(relation, "told from B only")
        self.assertIn(f"{OTHERS} are the same, 0 flip", sentence)
        self.assertIn("1 can be told from one of the two only", sentence)
        self.assertEqual(self.verdicts(SLOWER, UNSURE)[1], "told from A only")

    def overlap(self, first: tuple[float, ...], second: tuple[float, ...]) -> tuple[str, str]:
        both = [analysis(*rates, is_side_by_side=True) for rates in (first, second)]
        sentence, (row,) = self.said(both[0], both[1])["Gains"]
        self.assertEqual(row[:2], ["prefetching → redis", "1KB"])
        self.assertEqual(row[3], "4")  # the N of the blocks of the second
        return sentence, row[-1]

    def test_intervals_of_a_gain_overlap_or_not(self) -> None:
        sentence, relation = self.overlap(FASTER, UNSURE)
        self.assertEqual(relation, "yes")
        self.assertIn("Of 1 gain with an interval in both, 1 have", sentence)
        for first, second in ((FASTER, SLOWER), (SLOWER, FASTER)):
            sentence, relation = self.overlap(first, second)
            self.assertEqual(relation, "no")
            self.assertIn("0 have intervals that overlap", sentence)

    def test_two_blocks_have_no_interval_to_overlap(self) -> None:
        sentence, relation = self.overlap(FASTER[:2], FASTER)
        self.assertEqual(relation, "")
        self.assertIn("Of 0 gains", sentence)

    def test_what_was_not_measured_side_by_side_is_no_gain(self) -> None:
        self.assertNotIn("Gains", self.said(analysis(*FASTER), analysis(*FASTER)))
