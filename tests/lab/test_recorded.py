"""The rules, applied to points of a real run (docs/results) whose counters show the answer."""

import unittest
from pathlib import Path

from lab.analysis.cells import Analysis
from lab.observe import usage
from lab.observe.moment import Sample
from lab.plan.catalog import Cell
from lab.results.records import Folder

RECORDED = Folder(Path(__file__).parent / "recorded")


class RecordedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.analysis = Analysis(RECORDED.runs(), RECORDED.environment())

    def test_large_files_from_a_cold_disk_fill_disk_and_cores_alike(self):
        result = self.analysis.result(Cell("ph2", "10MB"))
        self.assertEqual((result.n_star, result.at_saturation.threads), (4, 4))
        self.assertEqual(
            {one.kind for one in result.verdict.alike}, {"disk", "cpu"}
        )  # 0.7856 and 0.7852 in one of the runs
        self.assertIsNone(result.verdict.named)

    def test_small_files_with_a_database_connection_each_are_limited_by_no_single_server(self):
        result = self.analysis.result(Cell("prefetching", "1KB"))
        self.assertEqual((result.verdict.named.kind, result.verdict.named.owners), ("cpu", ()))
        self.assertEqual(result.verdict.named.others, ("fileserver", "loadgen"))
        self.assertIn("cores 0,1: authserver 3", result.verdict.sentence)

    def test_where_all_else_is_kept_half_of_the_cpu_is_not_the_fileservers(self):
        result = self.analysis.result(Cell("turnstile", "1KB"))
        self.assertEqual(result.verdict.label, "shared CPU")
        self.assertEqual(result.n_star, 4)
        self.assertAlmostEqual(result.predicted, 4.2, delta=0.3)
        self.assertAlmostEqual(result.crossing, 2.6, delta=0.3)

    def test_no_maximum_is_far_above_the_bound_of_its_demands(self):
        for result in self.analysis.results():
            with self.subTest(cell=str(result.cell)):
                self.assertLess(result.best.throughput.median, 1.05 * result.model.bound(1_000_000))

    def test_a_maximum_beyond_the_last_valid_point_is_told_as_not_reached(self):
        result = self.analysis.result(Cell("multithreaded", "100MB"))
        self.assertTrue(result.is_lower_bound)
        self.assertEqual((result.verdict.label, result.verdict.named), ("not saturated", None))

    def test_every_point_obeys_littles_law_and_the_utilisation_law(self):
        for run in (run for run in RECORDED.runs() if run.is_valid):
            with self.subTest(point=run.name):
                self.assertAlmostEqual(
                    run.throughput_rps * run.mean_ms / 1000 / run.threads, 1, delta=0.03
                )
                ours = sum(component.cpu_cores for component in run.usage.components.values())
                self.assertLessEqual(
                    ours, sum(core.busy for core in run.usage.cores.values()) + 0.15
                )

    def test_the_samples_of_a_point_give_the_usage_that_stands_beside_it(self):
        run = next(run for run in RECORDED.runs() if run.old_name == "ph2-10MB-N4-run2")
        samples = [
            Sample(one["time_s"], {name: value for name, value in one.items() if name != "time_s"})
            for one in RECORDED.evidence(run)["samples"]
        ]
        found = usage.between(samples)
        self.assertAlmostEqual(found.disks["vda"].busy, run.usage.disks["vda"].busy, delta=0.01)
        for name, component in run.usage.components.items():
            self.assertAlmostEqual(
                found.components[name].cpu_cores, component.cpu_cores, delta=0.01
            )
        bytes_read = found.disks["vda"].read_bytes_per_s * run.elapsed_s
        self.assertAlmostEqual(bytes_read / run.bytes, 1, delta=0.1)
