"""Tail curves: their axis, their points, and which runs a report draws."""

import unittest
from dataclasses import replace

import drawings
import examples

from lab.kinds.open_loop import analysis as offered_load
from lab.kinds.open_loop import views
from lab.plan.catalog import Cell
from lab.report.charts import tail_chart
from lab.report.charts.tail_chart import Tail
from lab.results import distributions

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
            evidence = {"loadgen": distributions.packed(result)} if result else {}
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
