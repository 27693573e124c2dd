"""What the report says about hosts behind a proxy."""

import unittest
from dataclasses import replace

import examples

from lab.plan.catalog import Cell
from lab.report import page
from lab.results import series as kept
from lab.results.environment import Environment
from lab.results.records import Folder, Run
from lab.workloads.outcome import Event, Second, Series

USED = {"fileserver": 0.1, "proxy": 0.2, "authserver": 0.05, "loadgen": 0.1}
SERIES = Series(
    tuple(
        Second(
            t=t, under_way=9, started=rate, ended=rate, failed=int(t == 4), bytes=rate, p50_ms=2.0
        )
        for t, rate in enumerate((300, 300, 300, 90, 200, 200, 200, 300, 300), 1)
    ),
    (Event(3.5, "fileserver-3 killed"), Event(6.5, "fileserver-3 started again")),
)


def trial(stage: str, rate: float, repeat: int, **figures: float) -> Run:
    made = examples.run(
        96,
        rate,
        repeat=repeat,
        cell=Cell(stage, "10KB", workload="scale_out"),
        used=examples.usage(USED),
        **figures,
    )
    return replace(made, bytes=10_000 * made.requests)


def runs(passes: int = 3) -> list[Run]:
    found = []
    for repeat in range(1, passes + 1):
        drift = 1 + repeat / 100
        found += [
            trial("scale-out-1", 1000 * drift, repeat, files_held=1000.0, files_in_memory=1002.0),
            trial("scale-out-3", 2800 * drift, repeat, files_held=2950.0, files_in_memory=3006.0),
            trial("scale-out-3-same", 1500, repeat, files_held=1001.0, files_in_memory=3006.0),
            trial(
                "scale-out-3-lost",
                2400,
                repeat,
                failed_requests=2.0,
                names_moved=990.0,
                names_of_lost=990.0,
                taken_over_s=2.5,
                rate_before_rps=2700.0,
                rate_without_rps=1800.0,
            ),
        ]
    return found


class ReportTest(unittest.TestCase):
    def test_rates_and_files_are_held_against_one_host(self):
        _, text = examples.written(self, "scale-out", runs())
        self.assertIn("3 hosts, each with files of its own first, answer ×2.80 the requests", text)
        self.assertIn("of one, and hold ×2.95 the files in memory.", text)
        self.assertIn("each with the same files first", text)
        self.assertIn("and hold ×1.00 the files in memory.", text)

    def test_what_a_lost_host_cost(self):
        _, text = examples.written(self, "scale-out", runs())
        self.assertIn("When one of 3 hosts was lost, 6 requests failed, 990 names moved,", text)
        self.assertIn("the others had taken over after 2.50 s", text)
        self.assertIn("with 67% of the rate before.", text)

    def test_on_paper_the_station_with_the_largest_demand_is_full_first(self):
        _, text = examples.written(self, "scale-out", runs(passes=1))
        self.assertIn("By the demands, its link, 1gbit, is full at host", text)
        page_text, _ = examples.written(self, "scale-out", runs(passes=1))
        self.assertIn("On paper: what is full first", page_text)
        self.assertIn("On paper: the most that n hosts answer", page_text)

    def test_the_findings_are_judged(self):
        _, text = examples.written(self, "scale-out", runs())
        for line in text.splitlines():
            if "three hosts answer 2.7 times" in line:
                self.assertIn("✓", line)
                return
        self.fail(text)

    def test_each_second_of_a_loss_is_drawn(self):
        made: Folder = examples.results(self, environment=self.environment())
        made.add(runs()[3], kept.packed(SERIES))
        page.write(made)
        names = {one.name for one in (made.path / "figures").iterdir()}
        self.assertIn("series-scale-out-3-lost-10KB-hosts.svg", names)

    def test_runs_that_are_not_valid_are_in_no_table(self):
        bad = [replace(one, failures="other programs used 40% of the cores") for one in runs()]
        _, text = examples.written(self, "scale-out", bad)
        self.assertNotIn("On paper", text)
        self.assertNotIn("×2.80", text)

    def environment(self) -> Environment:
        return replace(examples.ENVIRONMENT, options=examples.options("scale-out"))
