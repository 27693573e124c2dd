"""What bursts say: rates by the number of transfers, and the findings about them."""

import unittest
from dataclasses import replace
from typing import Any

import examples

from lab.analysis import findings, passes
from lab.analysis.cells import Analysis
from lab.kinds.burst import analysis as bursts
from lab.plan.claims import Ratio, Side
from lab.results.records import Run


def trials(stage: str, transfers: int, *rates: float) -> list[Run]:
    return examples.burst_trials(stage, transfers, *rates, simultaneity=0.9)


def verdict(runs: list[Run], **bounds: Any) -> list[str]:
    here, there = Side(stage="a", at=8), Side(stage="b", at=4)
    claim = Ratio(text="", kind="burst", here=here, there=there, rows=("1MiB",), **bounds)
    return [one.verdict for one in findings.judge(claim, Analysis(runs, examples.ENVIRONMENT))]


class BurstsTest(unittest.TestCase):
    def test_a_rate_may_be_held_against_that_of_another_size(self):
        large = [
            replace(run, cell=replace(run.cell, row="4MiB")) for run in trials("a", 8, 20, 21, 20)
        ]
        runs = [*trials("a", 8, 10, 10, 10), *large]
        claim = Ratio(
            text="",
            kind="burst",
            here=Side(stage="a", at=8),
            there=Side(stage="a", at=8, row="1MiB"),
            rows=("4MiB",),
            above=1.5,
        )
        (judged,) = findings.judge(claim, Analysis(runs, examples.ENVIRONMENT))
        self.assertEqual((judged.row, judged.verdict), ("4MiB", passes.SEEN))

    def test_a_drift_within_the_repetitions_is_seen_where_there_are_enough(self):
        def steady(*rates: float) -> bool | None:
            runs = trials("a", 4, *rates)
            runs = [replace(run, started_unix_s=run.repeat) for run in runs]
            (step,) = bursts.of_cell("a", "1MiB", runs)
            return step.is_steady

        self.assertIs(steady(100, 101, 99, 100, 99, 101), True)
        self.assertIs(steady(100, 101, 99, 150, 149, 151), False)
        self.assertIsNone(steady(100, 101, 150, 151))

    def test_steps_are_in_rising_order_and_invalid_trials_are_in_none(self):
        runs = [*trials("a", 6, 10, 12, 14), *trials("a", 1, 20)]
        spoiled = examples.with_figures(runs[0], rate_bytes_s=999.0)
        runs.append(replace(spoiled, failures="spoiled"))
        found = bursts.of_cell("a", "1MiB", runs)
        self.assertEqual([step.transfers for step in found], [1, 6])
        self.assertEqual(found[1].rate.median, 12)

    def test_the_first_repetitions_may_be_left_out(self):
        found = bursts.of_cell("a", "1MiB", trials("a", 6, 1, 2, 30, 40), discard=2)
        self.assertEqual(found[0].rate.median, 35)

    def test_a_ratio_is_within_each_pass_so_a_drift_of_the_machine_is_none_of_it(self):
        slow, fast = (10.0, 20.0, 40.0, 80.0), (20.0, 40.0, 80.0, 160.0)
        one, other = bursts.of_cell("a", "1MiB", [*trials("a", 8, *slow), *trials("a", 4, *fast)])
        found = passes.ratio(other, one, bursts.RATE)
        assert found
        self.assertAlmostEqual(found.median, 0.5)
        self.assertAlmostEqual(found.high, 0.5)

    def test_a_finding_needs_the_whole_interval_on_one_side(self):
        base = trials("b", 4, 100, 100, 100, 100)
        for rates, bounds, expected in (
            ((50, 51, 49, 50), {"below": 0.7}, passes.SEEN),
            ((50, 51, 49, 50), {"above": 0.7}, passes.NOT_SEEN),
            ((50, 90, 60, 80), {"below": 0.7}, passes.CANNOT_TELL),
            ((100, 101, 99, 100), {"above": 0.9, "below": 1.1}, passes.SEEN),
            ((50, 51), {"below": 0.7}, passes.CANNOT_TELL),
        ):
            self.assertEqual(verdict(base + trials("a", 8, *rates), **bounds), [expected], rates)

    def test_bursts_are_in_no_table_of_closed_loops(self):
        self.assertEqual(Analysis(trials("a", 4, 1.0), examples.ENVIRONMENT).results(), [])
