"""What the report says about failovers, and what it draws."""

import unittest
from dataclasses import replace
from typing import Any

import drawings
import examples
import outages

from lab.kinds.failover import views
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.report import page, series_views
from lab.report.charts import series_chart
from lab.report.charts.line_chart import Mark
from lab.results import series as kept
from lab.results.records import Run
from lab.workloads.outcome import Series

CELL = Cell("failover-kept", "1KB", workload="failover")


def trial(**changes: Any) -> Run:
    usual = {"cell": CELL, "offered_rps": 104.0, "first_answer_s": 0.6, "errors": "unavailable 450"}
    return examples.run(256, 66.0, **{**usual, **changes})


class WordsTest(unittest.TestCase):
    def said(self, series: Series = outages.SERIES) -> str:
        return views.sentences(outages.seen(series), "unavailable 450")

    def test_how_many_failed_and_why_and_when_it_was_over(self):
        self.assertEqual(
            self.said(),
            "The authserver was killed after 4.5 s and started again after 8.4 s. "
            "450 of 1,250 requests failed (unavailable 450), the last one in second 9. "
            "The first answer after the start came in second 9: at most 0.6 s later. "
            "Afterwards response times were as before: p50 0.20 ms (0.20 before), "
            "p99 2.00 ms (2.00 before).",
        )

    def test_a_first_answer_that_took_long(self):
        self.assertIn(
            "in second 10: 0.6 to 1.6 s later.", self.said(outages.changed(9, ended=0, failed=100))
        )

    def test_no_answer_at_all(self):
        dead = self.said(Series(outages.SERIES.seconds[:8], outages.SERIES.events))
        self.assertIn("Nothing was answered after the start.", dead)
        self.assertNotIn("Afterwards", dead)

    def test_times_that_are_longer(self):
        slow = outages.SERIES
        for t in (10, 11, 12):
            slow = outages.changed(t, slow, p99_ms=30.0)
        self.assertIn(
            "were longer than before: p50 0.20 ms (0.20 before), p99 30.0 ms", self.said(slow)
        )

    def test_requests_that_had_an_answer_all_the_same(self):
        self.assertIn(
            "While it was away, 5 requests had an", self.said(outages.changed(7, ended=5))
        )

    def test_none_failed(self):
        whole = replace(
            outages.SERIES, seconds=tuple(replace(one, failed=0) for one in outages.SERIES.seconds)
        )
        self.assertIn("None of 800 requests failed.", self.said(whole))
        self.assertIn("3.9 s: no requests failed,", views.summary(outages.seen(whole)))

    def test_a_title_does_not_hide_that_it_never_came_back(self):
        dead = Series(outages.SERIES.seconds[:8], outages.SERIES.events)
        self.assertEqual(
            views.summary(outages.seen(dead)),
            "The authserver was away for 3.9 s, and nothing was answered after its start",
        )


class ChartTest(unittest.TestCase):
    def canvases(self) -> list[Any]:
        seconds = [series_views.drawn(one) for one in outages.SERIES.seconds]
        marks = [Mark(one.t, one.what) for one in outages.SERIES.events]
        return series_chart.draw(seconds, marks)

    def test_nothing_leaves_the_canvas_and_no_text_covers_another(self):
        for canvas in self.canvases():
            self.assertEqual(drawings.outside(canvas), [])
            self.assertEqual(drawings.overlapping(canvas), [])

    def test_failed_requests_have_a_colour_of_their_own_and_events_a_line(self):
        requests, times = self.canvases()
        for name in ("answered", "failed", "authserver killed", "authserver started again"):
            self.assertIn(name, drawings.words(requests))
        self.assertIn('class="l c-failed"', requests.element())
        self.assertEqual(requests.element().count('class="l dash c-soft"'), 2)
        self.assertLessEqual({"p50", "p99", "max", "authserver killed"}, set(drawings.words(times)))

    def test_events_around_a_run_that_began_late_or_ended_early_are_drawn_too(self):
        """As on a busy machine, where the load generator may start after the kill."""
        seconds = [series_views.drawn(one) for one in outages.SERIES.seconds[:1]]
        marks = [Mark(-0.4, "authserver killed"), Mark(1.1, "authserver started again")]
        for canvas in series_chart.draw(seconds, marks):
            self.assertLessEqual({mark.name for mark in marks}, set(drawings.words(canvas)))
            self.assertEqual(drawings.outside(canvas), [])
            self.assertEqual(drawings.overlapping(canvas), [])

    def test_a_second_without_an_answer_interrupts_the_times_and_not_the_counts(self):
        requests, times = self.canvases()
        (answered,) = [
            one for one in drawings.elements(requests) if one.get("class") == "l c-stage1"
        ]
        self.assertEqual(answered.get("d", "").count("M"), 1)
        (p99,) = [one for one in drawings.elements(times) if one.get("class") == "l c-stage1"]
        self.assertEqual(p99.get("d", "").count("M"), 2)

    def test_an_event_stands_between_the_seconds_around_it(self):
        requests, _ = self.canvases()
        drawn = drawings.elements(requests)
        (killed, _) = [one.get("d", "") for one in drawn if one.get("class") == "l dash c-soft"]
        x = float(killed[1:].split(" ")[0])
        dots = [float(one.get("cx", "")) for one in drawn if one.get("class") == "f c-failed"]
        self.assertLess(dots[3], x)
        self.assertAlmostEqual(dots[4], x, delta=0.2)  # second 5 is drawn at 4.5


class PageTest(unittest.TestCase):
    def written(self, *runs: Run) -> tuple[str, str]:
        its_own = replace(
            examples.ENVIRONMENT,
            options=examples.options("failover"),
            mode=catalog.modes()["002", "quick"],
        )
        folder = examples.results(self, environment=its_own)
        for run in runs:
            folder.add(run, kept.packed(outages.SERIES))
        page.write(folder)
        drawn = (folder.path / "figures" / f"series-{CELL.slug}.svg").read_text()
        return (folder.path / "summary.md").read_text(), drawn

    def test_what_was_found_is_said_first_and_drawn(self):
        summary, drawn = self.written(trial())
        self.assertTrue(
            summary.startswith(
                "# The authserver was away for 3.9 s: 36.0% of the requests failed, "
                "first answer at most 0.6 s later\n"
            ),
            summary[:200],
        )
        self.assertIn("failover-kept, get 1KB, a failover: The authserver was killed", summary)
        self.assertRegex(
            summary, r"\| failover-kept \| 1 \| 450 \(36\.0%\) \| unavailable 450 \| at most 0\.6 s"
        )
        self.assertIn(">authserver started again<", drawn)

    def test_a_run_that_is_not_valid_is_drawn_with_the_reason_and_says_nothing(self):
        summary, drawn = self.written(trial(failures="the load generator was late"))
        self.assertIn("This run is not valid: the load generator was late.", summary)
        self.assertNotIn("requests failed (", summary)
        self.assertNotIn("Failovers, run by run", summary)
        self.assertTrue(summary.startswith("# 1 of 1 point failed"), summary[:200])
        self.assertIn(">failed<", drawn)

    def test_the_typical_run_is_the_one_in_the_middle(self):
        runs = [trial(first_answer_s=value) for value in (0.9, None, 0.2)]
        self.assertEqual(views.typical(runs).figure("first_answer_s"), 0.9)
        self.assertEqual(views.typical(runs[1:]).figure("first_answer_s"), 0.2)
