"""What a report says about an open loop."""

import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.analysis.cells import Analysis
from lab.kinds.open_loop import views
from lab.kinds.open_loop.analysis import OfferedLoads
from lab.kinds.open_loop.procedure import Answer
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.report import overview
from lab.report.document import Figure, Paragraph, Table
from lab.report.scene import Scene
from lab.results.records import Folder

CELL = Cell("turnstile", "1KB", workload="open_loop")


def said(keeps: float, fails: float | None, has_failed: bool = True) -> str:
    found = OfferedLoads(1000.0, [], Answer(keeps, fails, has_failed, 2))
    return views.answer(found, 10)


class AnswerTest(unittest.TestCase):
    def test_the_answer_names_both_rates(self):
        self.assertEqual(
            said(700, 730),
            "The most that keeps p99 under 10 ms is between 700 requests/s (70% of the maximum), "
            "which keeps it, and 730 requests/s (73% of the maximum), which does not (2 runs at "
            "each agree).",
        )

    def test_a_limit_that_no_rate_keeps(self):
        self.assertIn("No rate keeps p99 under 10 ms: not even 100 requests/s", said(0, 100))

    def test_a_limit_that_every_rate_keeps_is_not_said_to_be_found(self):
        self.assertIn("The limit was not reached: 950 requests/s (95%", said(950, None))

    def test_a_rate_whose_runs_were_invalid_is_not_said_to_fail(self):
        self.assertEqual(
            said(700, 730, has_failed=False),
            "700 requests/s (70% of the maximum) keeps p99 under 10 ms. More is not known, as runs "
            "at 730 requests/s (73% of the maximum) were invalid.",
        )

    def test_a_search_that_was_interrupted(self):
        found = OfferedLoads(1000.0, [], None)
        self.assertIn("did not end", views.answer(found, 10))


class ViewTest(unittest.TestCase):
    def blocks(self, *runs, experiment="knee"):
        return views.offered_loads(self.scene(*runs, experiment=experiment))

    def scene(self, *runs, experiment="knee"):
        experiment = catalog.experiments()[experiment]
        stages = [catalog.stages()["turnstile"]]
        analysis = Analysis(list(runs), examples.ENVIRONMENT)
        return Scene(
            experiment, stages, ["1KB"], analysis, examples.ENVIRONMENT, Folder(Path("none"))
        )

    def test_a_line_for_each_rate_with_the_medians_of_the_passes(self):
        closed = replace(examples.run(4, 1000.0), cell=CELL)
        offered = [
            examples.run(
                256,
                490.0,
                repeat,
                cell=CELL,
                offered_rps=500.0,
                p50_ms=1.0,
                p90_ms=2.0,
                p99_ms=p99,
                service_p99_ms=3.0,
                lateness_p99_ms=0.2,
            )
            for repeat, p99 in ((1, 4.0), (2, 6.0))
        ]
        figure, table = self.blocks(closed, *offered)
        self.assertIsInstance(figure, Figure)
        for name in ("p50", "p99", "p99 from sent", "limit 10 ms", "% of maximum"):
            self.assertIn(f">{name}<", figure.svg)
        self.assertIsInstance(table, Table)
        self.assertEqual(
            [cell.split("\n")[0] for cell in table.rows[0]],
            ["500", "50%", "490", "1.00", "2.00", "5.00", "3.00", "0.20"],
        )

    def test_a_percentile_that_no_run_knows_is_no_point(self):
        closed = replace(examples.run(4, 1000.0), cell=CELL)
        few = examples.run(256, 50.0, cell=CELL, offered_rps=50.0, p99_ms=None)
        figure, table = self.blocks(closed, few)
        self.assertIsInstance(figure, Figure)
        self.assertIsInstance(table, Table)
        self.assertEqual(table.rows[0][5], "")

    def test_the_overview_of_an_open_loop_is_its_answer(self):
        closed = replace(examples.run(4, 1000.0), cell=CELL)
        scene = self.scene(closed)
        said = overview.blocks(scene.stages, ["1KB"], [scene], scene.analysis)
        texts = [block.text for block in said if isinstance(block, Paragraph)]
        self.assertEqual(len(texts), 1)
        self.assertIn("turnstile, get 1KB, open loop: The search for the most", texts[0])

    def test_experiments_of_closed_loops_do_not_show_it(self):
        closed = replace(examples.run(4, 1000.0), cell=CELL)
        scene = self.scene(closed, experiment="turnstile")
        self.assertEqual((scene.answers(), scene.figures()), ([], []))
        for name, one in catalog.experiments().items():
            shows = "offered_load" in one.views
            self.assertEqual(shows, one.workload == "open_loop", name)

    def test_nothing_is_said_when_nothing_was_measured(self):
        self.assertEqual(self.blocks(examples.run(1)), [])

    def test_an_open_loop_is_in_no_table_of_closed_ones(self):
        analysis = Analysis([replace(examples.run(1), cell=CELL)], examples.ENVIRONMENT)
        self.assertEqual(analysis.results(), [])
