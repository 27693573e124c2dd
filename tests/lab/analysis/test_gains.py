"""The one estimator of a gain."""

import unittest
from dataclasses import replace

import examples

from lab.analysis import gains
from lab.analysis.cells import Analysis
from lab.plan.catalog import Cell

DRIFT = (1.0, 0.7, 1.1, 0.8, 1.2)  # the speed of the machine in each pass


def runs(stage: str, rate: float, drift: tuple[float, ...] = DRIFT) -> list:
    return [
        replace(examples.run(threads, share * rate * speed, repeat), cell=Cell(stage, "1KB"))
        for repeat, speed in enumerate(drift, 1)
        for threads, share in ((1, 0.4), (2, 0.97), (4, 1.0), (8, 0.99))
    ]


class GainsTest(unittest.TestCase):
    def analysis(self, *found) -> Analysis:
        return Analysis([run for one in found for run in one], examples.ENVIRONMENT)

    def test_a_drift_of_the_machine_cancels_out(self):
        found = gains.gain(
            self.analysis(runs("ph2", 1000.0), runs("redis", 1300.0)), "ph2", "redis", "1KB"
        )
        self.assertAlmostEqual(found.spread.median, 1.3)
        self.assertAlmostEqual(found.spread.low, 1.3)
        self.assertFalse(found.is_lower_bound)

    def test_what_was_not_measured_has_no_gain(self):
        self.assertIsNone(gains.gain(self.analysis(runs("ph2", 9.0)), "ph2", "redis", "1KB"))

    def test_a_cell_against_itself_is_exactly_one_without_width(self):
        noisy = [
            replace(run, throughput_rps=run.throughput_rps * (1 + 0.03 * (index % 3)))
            for index, run in enumerate(runs("ph2", 1000.0))
        ]
        result = self.analysis(noisy).results()[0]
        spread = gains.between(result, result).spread
        self.assertEqual((spread.low, spread.median, spread.high), (1.0, 1.0, 1.0))

    def test_the_whole_plateau_decides_and_not_its_luckiest_point(self):
        lucky = [
            replace(run, throughput_rps=1.2 * run.throughput_rps)
            if (run.threads, run.repeat) == (4, 3)
            else run
            for run in runs("redis", 1000.0)
        ]
        found = gains.gain(self.analysis(runs("ph2", 1000.0), lucky), "ph2", "redis", "1KB")
        self.assertLess(found.spread.median, 1.02)

    def test_a_maximum_that_was_not_reached_makes_a_lower_bound(self):
        rising = [run for run in runs("redis", 2000.0) if run.threads < 4]
        found = gains.gain(self.analysis(runs("ph2", 1000.0), rising), "ph2", "redis", "1KB")
        self.assertTrue(found.is_lower_bound)

    def test_on_a_shared_machine_it_is_that_in_the_cpu_time_of_the_servers(self):
        environment = replace(
            examples.ENVIRONMENT, options=replace(examples.ENVIRONMENT.options, is_shared=True)
        )

        def shared(stage: str, cpu_s: float, slower: tuple[float, ...]) -> list:
            return [
                replace(run, usage=examples.usage({"fileserver": cores, "loadgen": 0.9}))
                for run in runs(stage, 1000.0, slower)
                if (cores := run.throughput_rps * cpu_s)
            ]

        before = shared("ph2", 0.003, (1.0, 0.2, 0.7, 0.4, 0.9))  # by what others take
        found = Analysis([*before, *shared("redis", 0.002, DRIFT)], environment)
        gain = gains.gain(found, "ph2", "redis", "1KB")
        self.assertAlmostEqual(gain.spread.median, 1.5)
        self.assertAlmostEqual(gain.spread.low, 1.5)
        self.assertFalse(gain.is_lower_bound)
        self.assertEqual(found.results()[0].verdict.label, "not judged")
