"""N* of systems whose N* is known, with the noise of the recorded runs."""

import unittest
from random import Random

from simulated.cases import _USUAL
from simulated.system import _WAKE_UPS, Machine

from lab.plan.catalog import Cell
from lab.procedures import saturation

CELL = Cell("prefetching", "1KB")
_SEEDS = 12


def truth() -> int:
    cpu_ms = sum(_USUAL.cpu_ms.values())
    rates = [_USUAL.throughput(n, cpu_ms * (1 + _WAKE_UPS / n), 1.0) for n in range(1, 257)]
    return next(n for n, rate in enumerate(rates, 1) if rate >= 0.95 * max(rates))


class NStarTest(unittest.TestCase):
    def test_the_interval_holds_the_truth_and_is_narrow(self):
        found = []
        for seed in range(_SEEDS):
            machine = Machine(Random(f"N* {seed}"), passes=3)
            runs = machine.runs({CELL: _USUAL})
            points = ((run.threads, run.repeat, run.throughput_rps) for run in runs)
            found.append(saturation.of_points(points))
        self.assertGreaterEqual(sum(one.low <= truth() <= one.high for one in found), _SEEDS - 1)
        self.assertLessEqual(max(one.high / one.low for one in found), 2)

    def test_without_noise_it_is_the_truth_of_one_queue(self):
        # A full queue serves 1 a second, a lone request takes 4: 95% is reached at N = 5.
        rates = saturation._one_queue(4.0, 64)
        first = next(n for n, rate in enumerate(rates, 1) if rate >= 0.95 * rates[-1])
        points = [(n, 1, rates[n - 1]) for n in (1, 2, 4, 8, 16, 32, 64)]
        self.assertAlmostEqual(saturation.value_of(points), first, delta=1)

    def test_one_lucky_point_decides_nothing(self):
        points = [(n, repeat, 100.0) for n in (4, 8, 16, 32) for repeat in (1, 2, 3)]
        points += [(n, repeat, 30.0 * n) for n in (1, 2, 3) for repeat in (1, 2, 3)]
        lucky = [(64, 1, 150.0)]
        self.assertLessEqual(saturation.value_of(points + lucky), 5)

    def test_points_that_no_such_curve_describes_are_told(self):
        rates = {1: 50.0, 2: 80.0, 4: 100.0, 8: 100.0, 16: 100.0, 32: 100.0, 64: 250.0}
        points = [(n, repeat, rate) for n, rate in rates.items() for repeat in (1, 2, 3)]
        self.assertFalse(saturation.of_points(points).is_told)
