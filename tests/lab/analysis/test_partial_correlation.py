"""What the CPU goes with, when the other of the two is held fast."""

import math
import statistics
import unittest

import simulated_seconds as simulated
from simulated import ramps

from lab.analysis import regression

GIVEN = [float(x) for x in range(60)]
_FEW = range(8)  # seeds; `make lab-proof` has more
_TRUTH = 2 / math.sqrt(5)


class PartialCorrelationTest(unittest.TestCase):
    def test_it_is_the_correlation_of_what_three_plain_ones_leave(self):
        one = [x + deviation for x, deviation in zip(GIVEN, simulated.noisy(1))]
        other = [2 * a + b for a, b in zip(one, simulated.noisy(2))]
        ab, ac, bc = (
            statistics.correlation(*both) for both in ((one, other), (one, GIVEN), (other, GIVEN))
        )
        by_hand = (ab - ac * bc) / math.sqrt((1 - ac**2) * (1 - bc**2))
        found = regression.of_values(one, other, GIVEN)
        self.assertAlmostEqual(found.value, by_hand)
        self.assertTrue(found.low < by_hand < found.high < 1)

    def test_its_sign_is_that_of_the_relation(self):
        one = simulated.noisy(1)
        found = regression.of_values(one, [-value for value in one], GIVEN)
        self.assertAlmostEqual(found.value, -1.0)

    def test_the_interval_is_symmetric_by_fishers_z(self):
        found = ramps.correlations(1, 0.5).with_throughput
        low, middle, high = map(math.atanh, (found.low, found.value, found.high))
        self.assertAlmostEqual(middle - low, high - middle)

    def test_both_truths_are_held_however_seconds_follow(self):
        for follows in (0.0, 0.8):
            found = [ramps.correlations(seed, follows) for seed in _FEW]
            with self.subTest(follows=follows):
                self.assertTrue(all(one.with_throughput.has(_TRUTH) for one in found))
                self.assertTrue(all(one.with_clients.has(0.0) for one in found))

    def test_of_few_seconds_there_is_none(self):
        few = simulated.noisy(1, 19)
        self.assertIsNone(regression.of_values(few, few, GIVEN[:19]))

    def test_where_the_given_one_explains_all_there_is_none(self):
        line = [3 * x + 0.1 for x in GIVEN]
        found = regression.of_cpu(simulated.noisy(1), line, GIVEN)
        self.assertIsNone(found.with_throughput)
        self.assertIsNone(found.with_clients)

    def test_a_given_one_that_never_changes_takes_nothing_off(self):
        one, other = simulated.noisy(1), simulated.noisy(2)
        found = regression.of_values(one, other, [5.0] * 60)
        self.assertAlmostEqual(found.value, statistics.correlation(one, other))
