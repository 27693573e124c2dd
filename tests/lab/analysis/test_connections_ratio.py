"""What trials over many connections come to, and findings about them."""

import unittest
from typing import Any

import examples

from lab.analysis.cells import Analysis
from lab.analysis.findings import judge
from lab.analysis.passes import CANNOT_TELL, NOT_SEEN, RATE, SEEN
from lab.kinds.connections import analysis as connections
from lab.plan.catalog import Cell
from lab.plan.claims import Ratio, Side
from lab.results.records import Run

RATES = (1000.0, 1020.0, 980.0)


def trials(stage: str, n: int, *rates: float, **changes: Any) -> list[Run]:
    """One in each pass."""
    cell = Cell(stage, "1KB", workload="connections")
    return [
        examples.run(n, rate, repeat=repeat, cell=cell, **changes)
        for repeat, rate in enumerate(rates, start=1)
    ]


def finding(**changes: Any) -> Ratio:
    usual: dict[str, Any] = {
        "text": "events keep the rate of threads",
        "kind": "connections",
        "here": Side(stage="models-event", at=64),
        "there": Side(stage="models-thread", at=64),
        "rows": ("1KB",),
        "above": 0.97,
    }
    return Ratio(**{**usual, **changes})


def twice(of: tuple[float, ...]) -> list[float]:
    return [2 * one for one in of]


class StepsTest(unittest.TestCase):
    def test_they_are_in_the_order_of_n_with_those_that_are_not_valid(self):
        runs = trials("models-event", 64, *RATES) + trials("models-event", 8, 900, failures="late")
        eight, many = connections.of_cell("models-event", "1KB", runs)
        self.assertEqual((eight.connections, many.connections), (8, 64))
        self.assertEqual((eight.why_not, many.why_not), ("late", ""))
        self.assertIsNone(eight.figure(RATE))
        self.assertEqual(many.median(RATE), 1000)

    def test_another_workload_of_the_same_stage_is_none_of_them(self):
        run = examples.run(8, cell=Cell("models-event", "1KB"))
        self.assertEqual(connections.of_cell("models-event", "1KB", [run]), [])

    def test_other_programs_are_the_reason_only_where_there_is_no_other(self):
        others = "other programs used 40% of the cores"
        for failures, told in (
            (f"24.6% errors (busy 9); {others}", "24.6% errors (busy 9)"),
            (others, others),
            ("X·R is 0.5 of N; 3% errors (busy 9)", "3% errors (busy 9)"),
        ):
            (step,) = connections.of_cell(
                "models-event", "1KB", trials("models-event", 8, 900, failures=failures)
            )
            self.assertEqual(step.why_not, told)

    def test_figures_of_a_request_are_divided_by_the_rate(self):
        (run,) = trials("models-event", 8, 1000.0, server_switches_per_s=250.0)
        self.assertEqual(connections.value_of(run, connections.SWITCHES), 0.25)
        self.assertEqual(connections.value_of(run, connections.CPU), 0.0004)
        self.assertEqual(connections.value_of(run, connections.RESIDENT), 5e6)
        self.assertEqual(connections.value_of(run, "n_check"), 1.0)
        (silent,) = trials("models-event", 8, 1000.0)
        self.assertIsNone(connections.value_of(silent, connections.SWITCHES))


class JudgeTest(unittest.TestCase):
    def verdict(self, runs: list[Run], **changes: Any) -> str | None:
        judged = judge(finding(**changes), Analysis(runs, examples.ENVIRONMENT))
        return judged[0].verdict if judged else None

    def test_the_whole_interval_decides(self):
        threads = trials("models-thread", 64, *RATES)
        faster = threads + trials("models-event", 64, *twice(RATES))
        self.assertEqual(self.verdict(faster), SEEN)
        slower = threads + trials("models-event", 64, *(one / 2 for one in RATES))
        self.assertEqual(self.verdict(slower), NOT_SEEN)
        wide = threads + trials("models-event", 64, 500.0, 1000.0, 2000.0)
        self.assertEqual(self.verdict(wide), CANNOT_TELL)
        self.assertEqual(self.verdict(faster, above=0.0, below=0.97), NOT_SEEN)

    def test_one_pass_tells_nothing(self):
        runs = trials("models-thread", 64, 1000.0) + trials("models-event", 64, 9000.0)
        self.assertEqual(self.verdict(runs), CANNOT_TELL)

    def test_the_ratio_is_told_with_its_interval(self):
        runs = trials("models-thread", 64, *RATES) + trials("models-event", 64, *twice(RATES))
        (judged,) = judge(finding(), Analysis(runs, examples.ENVIRONMENT))
        self.assertEqual(judged.remark, "×2.00 (2.00–2.00)")

    def test_a_point_that_was_not_measured_or_is_not_valid_is_not_judged(self):
        threads = trials("models-thread", 64, *RATES)
        self.assertIsNone(self.verdict(threads))
        self.assertIsNone(self.verdict(threads + trials("models-event", 8, *RATES)))
        failed = trials("models-event", 64, *RATES, failures="late")
        self.assertIsNone(self.verdict(threads + failed))

    def test_a_figure_that_is_not_above_0_has_no_ratio(self):
        runs = [
            run
            for stage, figure in (("models-thread", 5e3), ("models-event", 0.0))
            for run in trials(stage, 64, *RATES, proportional_bytes_each=figure)
        ]
        self.assertIsNone(self.verdict(runs, figure="proportional_bytes_each"))
        self.assertIsNone(self.verdict(runs, figure="group_bytes_each"))
