"""What a report says about an open loop."""

import unittest
from dataclasses import replace
from pathlib import Path

import drawings
import examples

from lab.analysis.cells import Analysis
from lab.kinds.open_loop import analysis as offered_load
from lab.kinds.open_loop import views
from lab.kinds.open_loop.analysis import OfferedLoads
from lab.kinds.open_loop.procedure import Answer
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.report import overview
from lab.report.charts import tail_chart
from lab.report.charts.tail_chart import Tail
from lab.report.document import Figure, Paragraph, Table
from lab.report.scene import Scene
from lab.results import series
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

    def test_the_interval_of_a_percentile_does_not_reach_0(self):
        closed = replace(examples.run(4, 1000.0), cell=CELL)
        offered = [
            examples.run(256, 490.0, repeat, cell=CELL, offered_rps=500.0, p99_ms=p99)
            for repeat, p99 in enumerate((1.0, 2.0, 9.0), 1)
        ]
        _, table = self.blocks(closed, *offered)
        self.assertEqual(table.rows[0][5], "2.00\n0.16–42.7")

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


THOUSAND = [(float(ms), 1) for ms in range(1, 1001)]


class ChartTest(unittest.TestCase):
    def chart(self, *more: Tail):
        return tail_chart.draw("t", [Tail(name="a", colour="stage0", buckets=THOUSAND), *more])

    def test_each_further_nine_has_as_much_room(self):
        places = {
            text.words: (text.left + text.right) / 2
            for text in drawings.texts(self.chart())
            if text.words.endswith("%")
        }
        self.assertEqual(list(places), ["0%", "90%", "99%", "99.9%"])
        gaps = [right - left for left, right in zip([*places.values()], [*places.values()][1:])]
        self.assertAlmostEqual(gaps[0], gaps[1], delta=0.2)
        self.assertAlmostEqual(gaps[1], gaps[2], delta=0.2)

    def test_names_of_percentiles(self):
        named = [tail_chart.percentile_name(power) for power in range(6)]
        self.assertEqual(named, ["0%", "90%", "99%", "99.9%", "99.99%", "99.999%"])

    def test_a_point_is_at_the_percentile_of_its_bucket(self):
        by_x = {round(point.x, 6): point.value for point in tail_chart.points(THOUSAND)}
        self.assertEqual(by_x[100.0], 990.0)
        self.assertEqual(max(by_x), 1000.0)
        self.assertEqual(by_x[1000.0], 1000.0)
        shares = [point.x / 1000 for point in tail_chart.points(THOUSAND)]
        self.assertEqual(shares, sorted(shares))

    def test_few_points_are_drawn_of_many_buckets(self):
        self.assertLess(len(tail_chart.points([(float(ms), 1) for ms in range(10**5)])), 300)

    def test_a_distribution_of_one_bucket_can_be_drawn(self):
        canvas = tail_chart.draw("t", [Tail(name="a", colour="stage0", buckets=[(1.0, 1)])])
        self.assertEqual(drawings.outside(canvas), [])
        self.assertEqual(tail_chart.points([]), [])

    def test_nothing_leaves_the_canvas_and_no_name_covers_another(self):
        slow = [(upper * 3, count) for upper, count in THOUSAND[:500]]
        canvas = self.chart(
            Tail(name="b", colour="stage1", buckets=slow),
            Tail(name="", colour="stage1", buckets=slow[:9], style="dots"),
        )
        self.assertEqual(drawings.outside(canvas), [])
        self.assertEqual(drawings.overlapping(canvas), [])


class ReportTest(unittest.TestCase):
    def figures(self, *stages: str, result=None):
        """Of one run at one rate for each stage."""
        folder = examples.results(self)
        measured = []
        for stage in stages:
            cell = Cell(stage, "1KB", workload="open_loop")
            run = replace(examples.run(4, 490.0, cell=cell, offered_rps=500.0, p99_ms=3.0))
            evidence = {"loadgen": series.packed_distributions(result)} if result else {}
            run = folder.add(run, evidence)
            closed = replace(examples.run(4, 1000.0), cell=cell)
            found = offered_load.of_cell([closed, run], 1, 10.0)
            assert found is not None
            measured.append((cell, found))
        return views.tail_figures(measured, folder)

    def test_the_systems_of_a_row_are_in_one_picture(self):
        result = {"distribution": [[1.5, 90], [2.5, 9], [9.5, 1]]}
        (figure,) = self.figures("turnstile", "prefetching", result=result)
        self.assertEqual(figure.name, "tail-1KB")
        for name in ("turnstile 500/s", "prefetching 500/s", "99%"):
            self.assertIn(f">{name}<", figure.svg)
        self.assertNotIn('class="l dots', figure.svg)

    def test_both_halves_are_drawn_where_they_are_known(self):
        result = {"distribution": [[1.5, 9], [2.5, 9]], "halves": [[[1.5, 9]], [[2.5, 9]]]}
        (figure,) = self.figures("turnstile", result=result)
        self.assertIn('class="l dots', figure.svg)
        self.assertIn('class="l dash', figure.svg)

    def test_runs_of_an_older_load_generator_are_not_drawn(self):
        self.assertEqual(self.figures("turnstile"), [])
        self.assertEqual(self.figures("turnstile", result={"requests": 3}), [])

    def test_the_typical_run_is_the_one_in_the_middle(self):
        runs = [replace(examples.run(4, 1.0), p99_ms=p99) for p99 in (9.0, 1.0, 5.0)]
        self.assertEqual(views.typical(runs).p99_ms, 5.0)
        self.assertEqual(views.typical(runs[:2]).p99_ms, 1.0)
