"""A report of downloads of which some failed."""

import unittest
from dataclasses import replace

import examples
import own_paper

from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.results.records import Run

CELL = Cell("one", own_paper.SIZE, workload="client")


def attempt(channels: int, repeat: int, rate: float | None, why: str = "") -> Run:
    """rate is None for one that failed."""
    made = examples.run(channels, 1.0, repeat, cell=CELL, rate_bytes_s=rate, failures=why)
    return made if rate else replace(made, requests=0, throughput_rps=0.0, errors="failed 1")


class ReportTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = examples.folder(self)
        own_paper.write(folder, {"one": own_paper.stage("curl", [1, 4])})
        own_paper.in_force(self, folder)

    def test_an_attempt_that_failed_is_an_invalid_point_with_its_reason(self) -> None:
        why = "the fetch failed: curl ended with status 18: it said nothing"
        runs = [attempt(1, 1, 1e6), attempt(4, 1, None, why), attempt(4, 2, 2e6)]
        page, summary = examples.written(self, "download", runs, stages=dict(catalog.stages()))
        self.assertIn(why, page)
        self.assertIn("One file over several channels", page)
        self.assertTrue(summary)

    def test_where_all_failed_there_is_a_report_too(self) -> None:
        runs = [attempt(1, 1, None, "the fetch failed: x")]
        page, _ = examples.written(self, "download", runs, stages=dict(catalog.stages()))
        self.assertIn("the fetch failed: x", page)
