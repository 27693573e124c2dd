"""A moving average is the mean of a window, and there is none where the window is not whole."""

import unittest

from lab.analysis import trend


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
