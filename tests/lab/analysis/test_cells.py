"""Sums up the runs of a cell: maximum, N*, demands, predictions, bottleneck."""

import unittest
from dataclasses import replace

import examples

from lab.analysis.cells import Analysis
from lab.procedures.saturation import NStar


class AnalysisTest(unittest.TestCase):
    def result(self, *runs):
        return Analysis(list(runs), examples.ENVIRONMENT).result(examples.CELL)

    def flat(self, *used, threads=(1, 2, 4)):
        """A sweep without a rise. used is what the machine did in each pass."""
        return self.result(
            *(
                examples.run(n, 1000.0, repeat, one)
                for repeat, one in enumerate(used, 1)
                for n in threads
            )
        )

    def alone(self, **used):
        """One run at N = 1; used is CPU of components."""
        return self.result(examples.run(1, 1000.0, used=examples.usage(used)))

    def test_invalid_runs_enter_nothing(self):
        result = self.result(
            examples.run(1, 1000.0), examples.run(2, 9000.0, failures="X·R is 2.000 of N")
        )
        self.assertEqual(result.best.threads, 1)
        self.assertEqual([run.threads for run in result.invalid], [2])

    def test_a_cell_with_invalid_runs_only_has_no_result(self):
        self.assertIsNone(self.result(examples.run(failures="no request succeeded")))

    def test_repeated_runs_become_their_median(self):
        result = self.result(
            *(
                examples.run(1, rate, repeat)
                for repeat, rate in enumerate((900.0, 1100.0, 1000.0), 1)
            )
        )
        self.assertEqual(result.best.throughput.median, 1000.0)
        self.assertEqual(result.best.typical().throughput_rps, 1000.0)

    def test_what_is_at_no_station_at_n_1_is_delay(self):
        used = examples.usage({"fileserver": 0.6}, disk=examples.disk_usage(0.1))
        result = self.result(examples.run(1, 1000.0, used=used))
        self.assertAlmostEqual(result.model.response_s, 0.001)
        self.assertAlmostEqual(result.model.delay_s, 0.001 - 0.0006 - 0.0001)
        self.assertAlmostEqual(result.crossing, 0.001 / 0.0003)
        self.assertAlmostEqual(result.parallelism, 0.7)

    def test_the_prediction_is_where_the_model_has_95_percent_of_its_asymptote(self):
        result = self.alone(fileserver=0.8, loadgen=0.2)
        most = result.model.bound(1_000_000)
        rates = [one.throughput_rps for one in result.model.predictions(30)]
        first = next(index for index, rate in enumerate(rates, 1) if rate >= 0.95 * most)
        self.assertTrue(first - 1 < result.predicted <= first)
        self.assertGreater(result.predicted, result.crossing)

    def test_overlapping_stations_still_predict_what_was_measured_at_n_1(self):
        result = self.alone(fileserver=0.9, loadgen=0.9)
        self.assertLess(result.model.delay_s, 0)
        self.assertAlmostEqual(result.model.predictions(1)[0].throughput_rps, 1000.0)
        self.assertAlmostEqual(result.parallelism, 1.81)

    def test_without_n_1_nothing_is_predicted(self):
        result = self.result(examples.run(2, 1000.0))
        self.assertEqual(
            (result.predicted, result.crossing, result.parallelism), (None, None, None)
        )

    def test_each_pass_has_its_own_level_in_the_curve_of_n_star(self):
        rates = {
            1: {1: 500.0, 2: 900.0, 4: 1000.0, 8: 1010.0},
            2: {1: 400.0, 2: 780.0, 4: 800.0, 8: 790.0},
            3: {1: 600.0, 2: 1150.0, 4: 1190.0, 8: 1200.0},
        }
        result = self.result(
            *(
                examples.run(threads, rate, repeat)
                for repeat, one in rates.items()
                for threads, rate in one.items()
            )
        )
        self.assertEqual(result.knee, NStar(3, 3, 4))
        self.assertEqual(result.at_n_star.threads, 4)

    def test_points_of_a_fast_pass_are_not_compared_with_those_of_slow_ones(self):
        # N = 4 was measured in the fast pass only, where it had two thirds of the maximum.
        fast = {1: 1000.0, 4: 2050.0, 8: 3000.0}
        runs = [examples.run(threads, rate) for threads, rate in fast.items()]
        runs += [
            examples.run(threads, 0.7 * fast[threads], repeat)
            for repeat in (2, 3)
            for threads in (1, 8)
        ]
        result = self.result(*runs)
        self.assertGreater(result.n_star, 4)

    def test_full_cores_of_which_the_load_generator_uses_over_half_are_its_limit(self):
        used = examples.usage({"fileserver": 0.8, "loadgen": 1.1}, core_busy=0.98)
        result = self.flat(used)
        self.assertEqual((result.verdict.label, result.verdict.named), ("load generator", None))

    def test_nobody_is_named_for_a_shared_cpu_without_over_half_of_it(self):
        used = examples.usage(
            {"fileserver": 0.9, "authserver": 0.5, "loadgen": 0.6}, core_busy=0.98
        )
        result = self.flat(used)
        self.assertEqual((result.verdict.label, result.verdict.named.owners), ("shared CPU", ()))
        self.assertEqual(result.verdict.named.others, ("loadgen", "authserver"))
        self.assertIn("fileserver 45%, loadgen 30%, authserver 25%", result.verdict.sentence)

    def test_over_half_in_one_pass_is_not_enough(self):
        each = [
            examples.usage(
                {"fileserver": cores, "store": 0.5, "loadgen": 1.4 - cores}, core_busy=0.98
            )
            for cores in (1.1, 1.1, 0.9)
        ]
        self.assertEqual(self.flat(*each).verdict.label, "shared CPU")

    def test_all_runs_from_n_star_on_decide_not_the_typical_one(self):
        disks = [examples.disk_usage(busy, read=1e8) for busy in (0.96, 0.74, 0.89)]
        result = self.flat(*(examples.usage(core_busy=0.78, disk=disk) for disk in disks))
        self.assertEqual(result.verdict.label, "disk reads and shared CPU alike (close)")
        self.assertIsNone(result.verdict.named)

    def test_with_one_pass_each_run_must_show_the_lead(self):
        def label(last_disk: float) -> str:
            runs = []
            for n, busy in {1: 0.99, 2: 0.99, 4: 0.99, 8: last_disk}.items():
                disk = examples.disk_usage(busy, read=1e8)
                runs.append(examples.run(n, 1000.0, used=examples.usage(core_busy=0.9, disk=disk)))
            return self.result(*runs).verdict.label

        self.assertEqual(label(0.99), "disk reads")
        self.assertEqual(label(0.92), "disk reads and shared CPU alike")

    def test_one_core_that_is_full_because_all_are_is_no_resource_of_its_own(self):
        cell = replace(examples.CELL, fileserver_cores=1)
        used = examples.usage({"fileserver": 0.6, "loadgen": 0.6, "store": 0.6}, core_busy=0.98)
        runs = [replace(examples.run(n, 1000.0, used=used), cell=cell) for n in (1, 2, 4)]
        found = Analysis(runs, examples.ENVIRONMENT).result(cell)
        self.assertIn("Shared CPU: 98% busy (cores 0,1:", found.verdict.sentence)

    def test_a_busy_disk_is_named_after_whoever_uses_it(self):
        used = examples.usage(core_busy=0.3, disk=examples.disk_usage(0.97, written=50e6))
        used.components["store"] = replace(used.components["store"], write_bytes_per_s=49e6)
        result = self.flat(used)
        self.assertEqual(result.verdict.label, "MySQL's disk writes")

    def test_full_cores_are_named_after_whoever_fills_them(self):
        used = examples.usage({"fileserver": 1.2, "loadgen": 0.7}, core_busy=0.98)
        result = self.flat(used)
        self.assertEqual(result.verdict.label, "CPU (mostly fileserver)")
        self.assertIn("cores 0,1: fileserver 63%, loadgen 37%", result.verdict.sentence)

    def test_loopback_that_carried_more_than_its_probe_is_no_limit(self):
        environment = replace(examples.ENVIRONMENT, loopback_bytes_per_s=1e9)
        for carried, label in ((0.97e9, "the loopback network"), (1.2e9, "none over 70%")):
            used = replace(examples.usage(), loopback_bytes_per_s=carried)
            runs = [examples.run(threads, 1000.0, used=used) for threads in (1, 2, 4)]
            result = Analysis(runs, environment).result(examples.CELL)
            self.assertEqual(result.verdict.label, label)

    def test_points_that_failed_their_checks_still_tell_that_nothing_rises_any_more(self):
        runs = [
            examples.run(1, 100.0),
            examples.run(2, 200.0),
            examples.run(4, 199.0, failures="X·R is 0.950 of N"),
            examples.run(8, 198.0, failures="X·R is 0.900 of N"),
        ]
        self.assertTrue(self.result(*runs).is_saturated)
        disturbed = [
            replace(run, failures="other programs used 90% of the cores") for run in runs[2:]
        ]
        self.assertFalse(self.result(*runs[:2], *disturbed).is_saturated)

    def test_the_maximum_is_one_that_was_repeated(self):
        repeated = [
            examples.run(4, rate, repeat) for repeat, rate in enumerate((1000.0, 1010.0), 1)
        ]
        self.assertEqual(self.result(*repeated, examples.run(8, 1500.0)).best.threads, 4)
        self.assertEqual(
            self.result(examples.run(4, 1000.0), examples.run(8, 1500.0)).best.threads, 8
        )

    def test_the_bottleneck_is_looked_for_at_the_highest_n_that_still_has_the_maximum(self):
        rates = {1: 500.0, 2: 1000.0, 4: 990.0, 8: 980.0, 16: 900.0}
        idle, busy = (examples.usage(core_busy=share) for share in (0.3, 0.97))
        result = self.result(
            *(examples.run(n, rate, used=busy if n > 1 else idle) for n, rate in rates.items())
        )
        self.assertEqual((result.best.threads, result.at_saturation.threads), (2, 8))
        self.assertIn("97% busy", result.verdict.sentence)

    def test_a_maximum_at_the_last_n_is_not_reached(self):
        result = self.result(examples.run(1, 100.0), examples.run(2, 200.0))
        self.assertEqual((result.is_saturated, result.is_lower_bound), (False, True))
        alone = self.result(examples.run(2, 200.0))
        self.assertFalse(alone.is_lower_bound)
