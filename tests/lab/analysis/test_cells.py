"""Sums up the runs of a cell: maximum, N*, demands, predictions, bottleneck."""

import unittest
from dataclasses import replace

import examples

from lab.analysis.cells import Analysis
from lab.analysis.operational_laws import mean_value_analysis
from lab.analysis.resources import demand_stations

PINS: dict[str, tuple[int, ...]] = dict.fromkeys(
    ("fileserver", "authserver", "store", "loadgen"), (0, 1)
)


class AnalysisTest(unittest.TestCase):
    def result(self, *runs):
        return Analysis(list(runs), examples.ENVIRONMENT).result(examples.CELL)

    def test_components_that_share_cores_are_one_station(self):
        run = examples.run(
            throughput_rps=500.0, used=examples.usage({"fileserver": 0.5, "authserver": 0.5})
        )
        cores, disk = demand_stations(run, PINS)
        self.assertEqual((cores.name, cores.servers), ("cores 0,1", 2))
        self.assertAlmostEqual(cores.demand_s, 0.002)
        self.assertEqual(disk.name, "disk vda")

    def test_pinned_components_are_stations_of_their_own(self):
        run = examples.run(
            throughput_rps=100.0, used=examples.usage({"fileserver": 0.5, "loadgen": 0.25})
        )
        stations = demand_stations(run, {"fileserver": (0,), "loadgen": (1,)})
        self.assertEqual(
            [(one.name, one.demand_s) for one in stations[:2]],
            [("core 0", 0.005), ("core 1", 0.0025)],
        )

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
        result = self.result(
            examples.run(
                1, 1000.0, used=examples.usage({"fileserver": 0.6}, disk=examples.disk_usage(0.1))
            )
        )
        self.assertAlmostEqual(result.model.response_s, 0.001)
        self.assertAlmostEqual(result.model.delay_s, 0.001 - 0.0006 - 0.0001)
        self.assertAlmostEqual(result.model.n_star, 0.001 / 0.0003)

    def test_overlapping_stations_still_predict_what_was_measured_at_n_1(self):
        result = self.result(
            examples.run(1, 1000.0, used=examples.usage({"fileserver": 0.9, "loadgen": 0.9}))
        )
        self.assertLess(result.model.delay_s, 0)
        first = mean_value_analysis(result.model.stations, result.model.delay_s, 1)[0]
        self.assertAlmostEqual(first.throughput_rps, 1000.0)

    def test_full_cores_are_named_after_a_server_even_if_the_load_generator_uses_more(self):
        used = examples.usage({"fileserver": 0.8, "loadgen": 1.1}, core_busy=0.98)
        result = self.result(*(examples.run(threads, 1000.0, used=used) for threads in (1, 2, 4)))
        self.assertEqual(result.verdict.label, "CPU (servers: mostly fileserver)")

    def test_a_busy_disk_is_named_after_whoever_uses_it(self):
        used = examples.usage(core_busy=0.3, disk=examples.disk_usage(0.97, written=50e6))
        used.components["store"] = replace(used.components["store"], write_bytes_per_s=49e6)
        result = self.result(*(examples.run(threads, 1000.0, used=used) for threads in (1, 2, 4)))
        self.assertEqual(result.verdict.label, "MySQL's disk writes")

    def test_full_cores_are_named_after_whoever_fills_them(self):
        used = examples.usage({"fileserver": 1.2, "loadgen": 0.7}, core_busy=0.98)
        result = self.result(*(examples.run(threads, 1000.0, used=used) for threads in (1, 2, 4)))
        self.assertEqual(result.verdict.label, "CPU (servers: mostly fileserver)")
        self.assertIn("cores 0,1: fileserver 63%, loadgen 37%", result.verdict.sentence)

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
        result = self.result(
            *(
                examples.run(
                    threads, rate, used=examples.usage(core_busy=0.97 if threads == 8 else 0.3)
                )
                for threads, rate in rates.items()
            )
        )
        self.assertEqual((result.best.threads, result.at_saturation.threads), (2, 8))
        self.assertIn("97% busy", result.verdict.sentence)

    def test_a_maximum_at_the_last_n_is_not_saturated(self):
        self.assertFalse(self.result(examples.run(1, 100.0), examples.run(2, 200.0)).is_saturated)


if __name__ == "__main__":
    unittest.main()
