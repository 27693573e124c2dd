"""What the report says about runs over time, where the lab was asked to keep their series."""

import math
import re
import unittest
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import drawings
import examples
import outages

from lab.analysis.over_time import Course, OverTime, Shift
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.report import page, series_views
from lab.report.charts import series_chart
from lab.report.charts.series_chart import Averages
from lab.results import series as kept
from lab.results.records import Run
from lab.workloads.outcome import Series

STEADY = Series(outages.SERIES.seconds[-3:] * 4)
STEADY = Series(tuple(replace(one, t=t) for t, one in enumerate(STEADY.seconds, start=1)))
UNSTEADY = Series(outages.SERIES.seconds)
LENGTH_S = 40


def long_run(**changes: Callable[[int], float]) -> Series:
    """All seconds are alike, but for what changes says of second t."""
    usual = STEADY.seconds[0]
    return Series(
        tuple(
            replace(usual, t=t, **{name: of(t) for name, of in changes.items()})  # type: ignore[arg-type]
            for t in range(1, LENGTH_S + 1)
        )
    )


def trial(**changes: Any) -> Run:
    return examples.run(8, 100.0, **{"elapsed_s": 12.0, **changes})


class SeriesViewsTest(unittest.TestCase):
    def written(
        self, *runs: tuple[Run, Series], keeps_series: bool = True
    ) -> tuple[str, list[str]]:
        """The page, and the names of the figures of series."""
        environment = replace(
            examples.ENVIRONMENT,
            options=examples.options("table4", keeps_series=keeps_series),
            mode=catalog.modes()["002", "quick"],
        )
        folder = examples.results(self, environment=environment)
        for run, series in runs:
            folder.add(run, {"command": "loadgen", "samples": [], **kept.packed(series)})
        page.write(folder)
        figures = (folder.path / "figures").glob("series-*.svg")
        text = (folder.path / "report.html").read_text(encoding="utf-8")
        return text, sorted(one.stem for one in figures)

    def test_runs_that_were_not_steady_are_named_with_the_seconds(self):
        text, figures = self.written((trial(), STEADY), (trial(repeat=2), UNSTEADY))
        self.assertIn("1 of 2 runs was steady", text)
        self.assertIn("prefetching-1KB-N8-run2-trial2", text)
        self.assertNotIn("prefetching-1KB-N8-run1-trial1</td>", text)
        self.assertIn("450 in 5, 6, 7 and 2 more", text)
        self.assertIn("180 ms in 1", text)
        self.assertEqual(figures, ["series-prefetching-1KB"])

    def test_the_least_steady_run_of_each_cell_is_drawn(self):
        other = Cell("redis", "1KB")
        runs = (
            (trial(), UNSTEADY),
            (trial(repeat=2), STEADY),
            (trial(cell=other), STEADY),
        )
        text, figures = self.written(*runs)
        self.assertEqual(figures, ["series-prefetching-1KB", "series-redis-1KB"])
        self.assertIn("of the least steady run: prefetching, get 1KB, N=8, pass 1", text)
        self.assertNotIn("prefetching, get 1KB, N=8, pass 2", text)

    def test_where_all_were_steady_there_is_no_table(self):
        text, figures = self.written((trial(), STEADY))
        self.assertIn("1 of 1 run was steady", text)
        self.assertNotIn("Runs that were not steady", text)
        self.assertEqual(len(figures), 1)

    def test_a_run_that_is_not_valid_is_drawn_with_the_reason(self):
        text, _ = self.written((trial(failures="2% errors"), UNSTEADY))
        self.assertIn("This run is not valid: 2% errors.", text)

    def test_nothing_is_said_where_no_series_was_asked_for(self):
        text, figures = self.written((trial(), UNSTEADY), keeps_series=False)
        self.assertNotIn("Runs over time", text)
        self.assertEqual(figures, [])

    def test_a_failover_has_a_view_of_its_own(self):
        cell = Cell("failover-kept", "1KB", workload="failover")
        text, _ = self.written((trial(cell=cell), UNSTEADY))
        self.assertNotIn("Runs over time", text)

    def seen(self, series: Series, **changes: Any) -> tuple[str, str]:
        """The page, and what is said below the figure of the only run."""
        text, _ = self.written((trial(**{"elapsed_s": float(LENGTH_S), **changes}), series))
        (caption,) = re.findall("Each second of the least steady run:.*?</figcaption>", text)
        return text, caption

    def test_a_run_that_changed_says_when_and_by_how_much(self):
        _, said = self.seen(
            long_run(
                ended=lambda t: 100 if t <= 12 else 92, mean_ms=lambda t: 0.5 if t <= 20 else 0.6
            )
        )
        self.assertIn(" From 12 s on there were 8% fewer requests. From 20 s on the mean", said)

    def test_a_run_that_drifted_says_by_how_much(self):
        _, said = self.seen(long_run(ended=lambda t: 1000 - 5 * t))
        self.assertIn("From the start to the end the number of requests fell by 20%.", said)
        self.assertNotIn("the mean response time", said)

    def test_nothing_is_said_of_a_run_in_which_all_seconds_were_alike(self):
        _, said = self.seen(long_run())
        for words in ("From ", "the mean response time"):
            self.assertNotIn(words, said)

    def test_a_moving_average_is_drawn_and_named_where_it_has_enough_seconds(self):
        for elapsed_s, is_drawn in ((float(LENGTH_S), True), (15.0, True), (14.9, False)):
            with self.subTest(elapsed_s=elapsed_s):
                text, said = self.seen(long_run(), elapsed_s=elapsed_s)
                self.assertEqual(text.count(">mean, 5 s</text>"), 2 * is_drawn)
                self.assertEqual("The lines without dots are means of 5 s." in said, is_drawn)


class AveragesTest(unittest.TestCase):
    SECONDS = [series_views.drawn(one) for one in long_run(ended=lambda t: 90 + t % 7).seconds]

    def canvases(self) -> list[Any]:
        means = [None, None, *([93.0] * (LENGTH_S - 4)), None]  # the last second has none at all
        averages = Averages(name="mean, 5 s", answered=means, mean_ms=[None, 0.0, 0.5])
        return series_chart.draw(self.SECONDS, [], averages)

    def test_nothing_leaves_the_canvas_and_no_text_covers_another(self):
        for canvas in self.canvases():
            self.assertEqual(drawings.outside(canvas), [])
            self.assertEqual(drawings.overlapping(canvas), [])

    def test_it_is_a_line_without_dots_at_the_seconds_that_it_is_of(self):
        requests, times = self.canvases()
        lines = [one.get("class") for one in drawings.elements(requests) if one.tag == "path"]
        self.assertEqual(lines.count("l c-ink"), 1)
        dots = [one for one in drawings.elements(requests) if one.tag == "circle"]
        self.assertEqual(len(dots), 2 * LENGTH_S)  # of answered and failed
        (average,) = [one for one in drawings.elements(requests) if one.get("class") == "l c-ink"]
        first = float(average.get("d", "")[1:].split(" ")[0])
        self.assertAlmostEqual(first, float(dots[2].get("cx", "")), delta=0.2)
        self.assertIn("mean, 5 s", drawings.words(times))


class WordsTest(unittest.TestCase):
    FLAT = Course()

    def test_several_changes_are_one_sentence(self):
        course = Course((Shift(12, -0.08), Shift(30, 0.1)))
        self.assertEqual(
            series_views.sentences(OverTime(course, self.FLAT)),
            " From 12 s on there were 8% fewer requests, from 30 s on 10% more requests.",
        )
        self.assertEqual(
            series_views.sentences(OverTime(self.FLAT, course)),
            " From 12 s on the mean response time was 8% shorter, from 30 s on 10% longer.",
        )

    def test_a_drift_has_a_direction(self):
        for drift, requests, times in ((0.2, "rose", "longer"), (-0.2, "fell", "shorter")):
            course = Course(drift=drift)
            self.assertEqual(
                series_views.sentences(OverTime(course, course)),
                f" From the start to the end the number of requests {requests} by 20%."
                f" From the start to the end the mean response time became 20% {times}.",
            )

    def test_there_is_no_share_of_nothing(self):
        course = Course((Shift(12, math.inf),))
        self.assertEqual(
            series_views.sentences(OverTime(course, self.FLAT)),
            " From 12 s on there were more requests than none.",
        )

    def test_where_nothing_happened_nothing_is_said(self):
        self.assertEqual(series_views.sentences(OverTime(self.FLAT, self.FLAT)), "")
