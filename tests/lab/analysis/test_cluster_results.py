"""What trials over hosts behind a proxy come to, and what their demands say of more hosts."""

import unittest
from dataclasses import replace
from typing import Any

import examples

from lab.analysis.cells import Analysis
from lab.analysis.findings import judge
from lab.analysis.passes import CANNOT_TELL, NOT_SEEN, RATE, SEEN
from lab.kinds.scale_out import analysis as hosts
from lab.kinds.scale_out.analysis import HostsResult
from lab.plan import catalog, claims
from lab.plan.catalog import Cell
from lab.plan.claims import Ratio
from lab.results.records import Run

RATES = (1000.0, 1020.0, 980.0)
# Cores at 1,000 requests in a second: 100 µs of a host, 200 µs of the proxy, 50 of the authserver.
USED = {"fileserver": 0.1, "proxy": 0.2, "authserver": 0.05, "loadgen": 0.1}


def trials(stage: str, *rates: float, **changes: Any) -> list[Run]:
    """One in each pass."""
    usual = {"cell": Cell(stage, "10KB", workload="scale_out"), "used": examples.usage(USED)}
    made = [
        examples.run(96, rate, repeat=repeat, **{**usual, **changes})
        for repeat, rate in enumerate(rates, start=1)
    ]
    return [replace(one, bytes=10_000 * one.requests) for one in made]


def times(factor: float) -> list[float]:
    return [factor * one for one in RATES]


def result(*runs: Run) -> HostsResult:
    stage = catalog.stages()[runs[0].cell.stage]
    (found,) = hosts.of_stages(runs, [stage], "10KB")
    return found


def finding(part: str) -> Ratio:
    """That of the data with these words."""
    (found,) = (one for one in claims.claims("002") if part in one.text)
    assert isinstance(found, Ratio)
    return found


class ResultTest(unittest.TestCase):
    def test_only_valid_runs_of_the_stage_count(self):
        runs = trials("scale-out-1", *RATES)
        bad = trials("scale-out-1", 9000.0, failures="late")
        other = trials("scale-out-2", 5000.0)
        self.assertEqual(result(*runs, *bad, *other).median(RATE), 1000)
        stages = [catalog.stages()["scale-out-3"]]
        self.assertEqual(hosts.of_stages(runs, stages, "10KB"), [])

    def test_a_demand_is_that_of_all_hosts_for_a_request(self):
        used = {**USED, "fileserver-2": 0.3, "store": 0.01}
        found = result(*trials("scale-out-2", 1000.0, used=examples.usage(used)))
        self.assertAlmostEqual(found.demand_s("fileserver") or 0.0, 400e-6)
        self.assertAlmostEqual(found.demand_s("authserver") or 0.0, 60e-6)
        self.assertAlmostEqual(found.busy, 0.4 / (2 * found.cluster.cores))
        self.assertIsNone(found.demand_s("nobody"))


class PaperTest(unittest.TestCase):
    def setUp(self) -> None:
        found = hosts.on_paper(result(*trials("scale-out-3", 1000.0)))
        assert found
        self.paper = found

    def test_a_host_answers_its_share_of_a_core_over_its_demand(self):
        self.assertAlmostEqual(self.paper.host_rps, 1000)  # 0.1 / 100 µs
        self.assertAlmostEqual(self.paper.core_rps, 10_000)

    def test_the_station_with_the_largest_demand_is_full_first(self):
        told = [(one.name, one.full_at, one.full_at_cores) for one in self.paper.stations]
        self.assertEqual(
            told,
            [
                ("the proxy, one core", 5, 1),
                ("its link, 1gbit", 13, 2),  # 80 kbit a file: 12,500 in a second
                ("the authserver with its store, one core", 20, 2),
            ],
        )

    def test_more_hosts_than_that_bring_nothing(self):
        rates = [self.paper.at_most_rps(n, has_whole_cores=False) for n in (1, 4, 5, 100)]
        for rate, wanted in zip(rates, (1000, 4000, 5000, 5000)):
            self.assertAlmostEqual(rate, wanted)
        self.assertAlmostEqual(self.paper.at_most_rps(100, has_whole_cores=True), 5000)

    def test_how_many_stations_a_rate_needs(self):
        needed = [one.needed(1_000_000) for one in self.paper.stations]
        self.assertEqual(needed, [200, 80, 50])

    def test_without_a_proxy_in_the_samples_nothing_is_said(self):
        used = examples.usage({"fileserver": 0.1, "authserver": 0.1})
        self.assertIsNone(hosts.on_paper(result(*trials("scale-out-3", 1000.0, used=used))))


class FindingsTest(unittest.TestCase):
    def verdict(self, part: str, runs: list[Run]) -> str | None:
        judged = judge(finding(part), Analysis(runs, examples.ENVIRONMENT))
        return judged[0].verdict if judged else None

    def test_three_hosts_answer_2_7_times_the_requests_or_not(self):
        one = trials("scale-out-1", *RATES)
        for factor, wanted in ((2.8, SEEN), (2.6, NOT_SEEN)):
            runs = one + trials("scale-out-3", *times(factor))
            self.assertEqual(self.verdict("three hosts answer", runs), wanted)
        wide = one + trials("scale-out-3", 1500.0, 2800.0, 4900.0)
        self.assertEqual(self.verdict("three hosts answer", wide), CANNOT_TELL)
        self.assertIsNone(self.verdict("three hosts answer", one))

    def test_one_pass_tells_nothing(self):
        runs = trials("scale-out-1", 1000.0) + trials("scale-out-3", 9000.0)
        self.assertEqual(self.verdict("three hosts answer", runs), CANNOT_TELL)

    def test_the_files_in_memory_are_those_that_are_held(self):
        one = trials("scale-out-1", *RATES, files_held=1000.0, files_in_memory=1000.0)
        for held, wanted in ((2950.0, SEEN), (2800.0, NOT_SEEN)):
            three = trials("scale-out-3", *RATES, files_held=held, files_in_memory=3000.0)
            self.assertEqual(self.verdict("with their own files hold", one + three), wanted)
        same = trials("scale-out-3-same", *RATES, files_held=1010.0, files_in_memory=3000.0)
        self.assertEqual(self.verdict("read the same files first", one + same), SEEN)

    def test_names_of_other_hosts_must_not_move(self):
        for moved, wanted in ((990.0, SEEN), (2000.0, NOT_SEEN)):
            runs = trials("scale-out-3-lost", *RATES, names_moved=moved, names_of_lost=990.0)
            self.assertEqual(self.verdict("only its own names move", runs), wanted)

    def test_without_the_lost_host_the_rate_is_that_of_two(self):
        two = trials("scale-out-2", *times(2))
        for left, wanted in ((1.95, SEEN), (1.5, NOT_SEEN)):
            runs = trials("scale-out-3-lost", *RATES)
            lost = [
                examples.with_figures(one, rate_without_rps=left * one.throughput_rps)
                for one in runs
            ]
            self.assertEqual(self.verdict("without the lost host", two + lost), wanted)
