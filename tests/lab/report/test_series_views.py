"""What the report says about runs over time, where the lab was asked to keep their series."""

import unittest
from dataclasses import replace
from typing import Any

import examples
import outages

from lab.plan import catalog
from lab.plan.catalog import FAILOVER, Cell
from lab.report import page
from lab.results import series as kept
from lab.results.records import Run
from lab.workloads.series import Series

STEADY = Series(outages.SERIES.seconds[-3:] * 4)
STEADY = Series(tuple(replace(one, t=t) for t, one in enumerate(STEADY.seconds, start=1)))
UNSTEADY = Series(outages.SERIES.seconds)


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
        cell = Cell("failover-kept", "1KB", workload=FAILOVER)
        text, _ = self.written((trial(cell=cell), UNSTEADY))
        self.assertNotIn("Runs over time", text)
