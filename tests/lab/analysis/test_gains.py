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
