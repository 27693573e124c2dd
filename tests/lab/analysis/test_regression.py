"""A line through samples, and how far it can be trusted."""

import math
import statistics
import unittest
from dataclasses import replace

import simulated_seconds as simulated
from simulated import ramps

from lab.analysis import regression

_FEW = range(15)  # seeds; `make lab-proof` has more
XS = [float(x) for x in range(40)]
LINE = regression.Line(
    slope=2.0,
    intercept=10.0,
    middle=20.0,
    points=40,
    r_squared=0.9,
    level_variance=1.0,
    slope_variance=0.01,
    covariance=0.0,
    width=3.0,
)


class FitTest(unittest.TestCase):
    def test_a_line_without_noise_is_found(self):
        found = regression.fit(XS, [5 + 3 * x for x in XS])
        self.assertAlmostEqual(found.slope, 3.0)
        self.assertAlmostEqual(found.intercept, 5.0)
        self.assertAlmostEqual(found.r_squared, 1.0)
        self.assertEqual(found.points, 40)
        estimate = found.slope_estimate
        self.assertAlmostEqual(estimate.low, 3.0)
        self.assertAlmostEqual(estimate.high, 3.0)

    def test_slope_and_r_squared_by_hand(self):
        ys = [x + (4.0 if index % 2 else -4.0) for index, x in enumerate(XS)]
        found = regression.fit(XS, ys)
        expected = statistics.linear_regression(XS, ys)
        self.assertAlmostEqual(found.slope, expected.slope)
        self.assertAlmostEqual(found.intercept, expected.intercept)
        self.assertAlmostEqual(found.r_squared, statistics.correlation(XS, ys) ** 2)

    def test_too_few_samples_or_one_load_only_give_no_line(self):
        self.assertIsNone(regression.fit(XS[:19], XS[:19]))
        self.assertIsNotNone(regression.fit(XS[:20], XS[:20]))
        self.assertIsNone(regression.fit([0.1] * 40, XS))
        self.assertIsNone(regression.fit([0.0] * 40, XS))
        self.assertIsNone(regression.fit([0.3, 0.1 + 0.2] * 20, XS))  # but for rounding

    def test_equal_values_have_a_flat_line(self):
        found = regression.fit(XS, [7.0] * 40)
        self.assertEqual((found.slope, found.r_squared), (0.0, 1.0))

    def test_the_same_samples_give_the_same_line(self):
        self.assertEqual(ramps.line(5, 1.0, 0.5), ramps.line(5, 1.0, 0.5))

    def test_more_samples_than_are_needed_are_averaged_and_counted(self):
        xs = [float(x) for x in range(1000)]
        found = regression.fit(xs, [2 * x for x in xs])
        self.assertAlmostEqual(found.slope, 2.0)
        self.assertEqual(found.points, 1000)

    def test_the_interval_is_wider_where_seconds_follow_each_other(self):
        widths = []
        for follows in (0.0, 0.8):
            estimate = ramps.line(1, 1.0, follows).slope_estimate
            widths.append(estimate.high - estimate.low)
        self.assertGreater(widths[1], 2 * widths[0])
        self.assertLess(widths[1], 6 * widths[0])

    def test_the_interval_holds_the_slope_however_seconds_follow(self):
        for follows in (0.0, 0.5, 0.8, 0.95):
            with self.subTest(follows=follows):
                held = sum(ramps.line(seed, 1.0, follows).slope_estimate.has(1.0) for seed in _FEW)
                self.assertEqual(held, len(_FEW))


class PredictTest(unittest.TestCase):
    def test_it_is_narrowest_in_the_middle(self):
        middle, away = LINE.predict(20.0), LINE.predict(40.0)
        self.assertEqual((middle.value, middle.low, middle.high), (50.0, 47.0, 53.0))
        self.assertEqual(away.value, 90.0)
        self.assertAlmostEqual(away.high - away.value, 3 * math.sqrt(1 + 400 * 0.01))

    def test_level_and_slope_may_depend_on_each_other(self):
        tied = replace(LINE, covariance=0.05)
        self.assertAlmostEqual(tied.predict(40.0).high - 90.0, 3 * math.sqrt(1 + 2 * 20 * 0.05 + 4))

    def test_the_interval_holds_the_level_far_beyond_the_samples(self):
        held = sum(ramps.line(seed, 1.0, 0.5).predict(300.0).has(350.0) for seed in _FEW)
        self.assertEqual(held, len(_FEW))


class ReachesTest(unittest.TestCase):
    def test_the_ends_are_where_the_interval_of_the_line_has_the_value(self):
        found = LINE.reaches(90.0)
        self.assertAlmostEqual(found.value, 40.0)
        self.assertAlmostEqual(LINE.predict(found.low).high, 90.0)
        self.assertAlmostEqual(LINE.predict(found.high).low, 90.0)

    def test_so_are_they_if_level_and_slope_depend_on_each_other(self):
        tied = replace(LINE, covariance=0.05)
        found = tied.reaches(90.0)
        self.assertAlmostEqual(tied.predict(found.low).high, 90.0)
        self.assertAlmostEqual(tied.predict(found.high).low, 90.0)

    def test_a_slope_that_may_be_none_has_no_upper_end(self):
        unsure = replace(LINE, slope_variance=1.0)
        found = unsure.reaches(90.0)
        self.assertAlmostEqual(found.value, 40.0)
        self.assertEqual(found.high, math.inf)
        self.assertAlmostEqual(unsure.predict(found.low).high, 90.0)

    def test_a_line_that_does_not_rise_never_comes_there(self):
        flat = replace(LINE, slope=0.0, intercept=50.0).reaches(90.0)
        self.assertEqual((flat.value, flat.high), (math.inf, math.inf))
        self.assertGreater(flat.low, 40.0)  # its interval still widens
        falling = replace(LINE, slope=-2.0, intercept=90.0).reaches(90.0)
        self.assertEqual(falling.low, math.inf)

    def test_without_noise_a_flat_line_never_comes_there(self):
        flat = regression.fit(XS, [7.0] * 40).reaches(90.0)
        self.assertEqual((flat.value, flat.low, flat.high), (math.inf,) * 3)

    def test_a_level_that_may_be_there_already_has_no_ends(self):
        found = replace(LINE, slope_variance=1.0).reaches(52.0)
        self.assertEqual((found.low, found.high), (-math.inf, math.inf))


GIVEN = [float(x) for x in range(60)]
_FEWER = range(8)  # seeds; `make lab-proof` has more
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
            found = [ramps.correlations(seed, follows) for seed in _FEWER]
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
