"""A trend is found where there is one, and seldom where there is none."""

import unittest
from collections import Counter

import simulated_seconds as simulated
from simulated_seconds import FEW, SEEDS

from lab.analysis import trend
from lab.analysis.trend import CANNOT_TELL, FALLS, NO_TREND, RISES


class TrendTest(unittest.TestCase):
    def test_noise_seldom_has_a_trend(self):
        for follows in (0.0, 0.5):
            with self.subTest(follows=follows):
                seen = Counter(
                    trend.of_values(simulated.noisy(seed, follows=follows)).verdict
                    for seed in SEEDS
                )
                self.assertGreaterEqual(seen[NO_TREND], len(SEEDS) - FEW)

    def test_a_slow_drift_is_found_with_its_sign(self):
        for by, verdict in ((20.0, RISES), (-20.0, FALLS)):
            with self.subTest(by=by):
                found = [
                    trend.of_values(simulated.drifting(simulated.noisy(seed), by)) for seed in SEEDS
                ]
                right = sum(one.verdict == verdict for one in found)
                self.assertGreaterEqual(right, len(SEEDS) - FEW)
                mean_slope = sum(one.slope for one in found) / len(found)
                self.assertAlmostEqual(mean_slope, by / 59, delta=0.02)

    def test_a_spike_is_no_trend(self):
        values = simulated.spiking(simulated.noisy(1), at=57, by=-100.0)
        self.assertEqual(trend.of_values(values).verdict, NO_TREND)

    def test_equal_values_have_no_trend(self):
        found = trend.of_values([7.0] * 60)
        self.assertEqual((found.verdict, found.slope, found.p_value), (NO_TREND, 0.0, 1.0))

    def test_of_too_few_values_nobody_can_tell(self):
        rising = [float(value) for value in range(30)]
        self.assertEqual(trend.of_values(rising[:29]).verdict, CANNOT_TELL)
        self.assertEqual(trend.of_values(rising).verdict, RISES)
        self.assertEqual(trend.of_values([]).verdict, CANNOT_TELL)

    def test_the_p_value_is_that_of_the_test_by_hand(self):
        # S = 15 of 15 pairs, variance 28.33, z = 14 / 5.323 = 2.630
        found = trend.of_values([float(value) for value in range(30)])
        self.assertAlmostEqual(found.p_value, 0.0085, places=4)
        self.assertEqual(found.slope, 1.0)

    def test_ties_are_neither_up_nor_down_and_make_the_variance_smaller(self):
        values = [1.0] * 15 + [2.0] * 15  # three blocks each: S = 9
        self.assertEqual(trend.kendall_score(trend.block_means(values, 5)), 9)
        # variance 28.33 - 2 * 3.667 = 21, z = 8 / 4.583 = 1.746
        self.assertAlmostEqual(trend.of_values(values).p_value, 0.0809, places=4)

    def test_blocks_are_whole_and_the_first_values_are_left_out(self):
        self.assertEqual(trend.block_means([9.0, 1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0])
        self.assertEqual([trend.block_length(count) for count in (20, 100, 101)], [5, 5, 6])

    def test_one_wild_value_does_not_change_the_slope(self):
        self.assertEqual(trend.theil_sen_slope([0.0, 2.0, 4.0, 90.0, 8.0, 10.0, 12.0]), 2.0)


class MovingAverageTest(unittest.TestCase):
    def test_over_points(self):
        found = trend.over_points([1.0, 2.0, 6.0, 4.0, 5.0], 3)
        self.assertEqual(found, [None, 3.0, 4.0, 5.0, None])

    def test_a_window_of_one_point_changes_nothing(self):
        self.assertEqual(trend.over_points([1.0, 5.0], 1), [1.0, 5.0])

    def test_an_even_window_has_one_value_more_before(self):
        found = trend.over_points([1.0, 2.0, 6.0, 4.0, 5.0], 4)
        self.assertEqual(found, [None, None, 3.25, 4.25, None])

    def test_a_hundred_thousand_points_are_no_burden(self):
        count = 100_000
        points = trend.over_points([5.0] * count, 60)
        seconds = trend.over_seconds(
            [float(t) for t in range(count)], [5.0] * count, 20_000.0, float(count)
        )
        self.assertEqual((points[500], seconds[50_000]), (5.0, 5.0))

    def test_a_window_that_is_longer_than_the_values_finds_nothing(self):
        self.assertEqual(trend.over_points([1.0, 5.0], 3), [None, None])

    def test_over_seconds_with_the_same_result(self):
        found = trend.over_seconds([0.5, 1.5, 2.5, 3.5], [1.0, 2.0, 6.0, 4.0], 3.0, 4.0)
        self.assertEqual(found, [None, 3.0, 4.0, None])

    def test_over_seconds_counts_only_what_is_near_and_known(self):
        times_s, values = [0.0, 1.0, 2.0, 9.0, 10.0], [1.0, None, 5.0, 7.0, 9.0]
        found = trend.over_seconds(times_s, values, 2.0, 20.0)
        self.assertEqual(found, [None, 3.0, 5.0, 8.0, 8.0])

    def test_a_window_without_a_value_has_no_mean(self):
        self.assertEqual(trend.over_seconds([1.0, 2.0], [None, None], 2.0, 3.0), [None] * 2)
