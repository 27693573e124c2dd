import math
import unittest

from lab import intervals


class IntervalsTest(unittest.TestCase):
    def test_five_values_have_the_t_interval_of_four_degrees_of_freedom(self):
        spread = intervals.spread([8.0, 9.0, 10.0, 11.0, 12.0])
        half = 2.776 * math.sqrt(2.5) / math.sqrt(5)
        self.assertEqual(spread.median, 10.0)
        self.assertAlmostEqual(spread.low, 10 - half)
        self.assertAlmostEqual(spread.high, 10 + half)
        self.assertTrue(spread.is_interval)

    def test_two_values_show_their_range_and_say_that_it_is_no_interval(self):
        self.assertEqual(intervals.spread([3.0, 5.0]), intervals.Spread(4.0, 3.0, 5.0, 2, False))

    def test_equal_values_have_no_width(self):
        spread = intervals.spread([7.0, 7.0, 7.0])
        self.assertEqual((spread.low, spread.high), (7.0, 7.0))

    def test_the_t_table_ends_in_the_normal_value(self):
        self.assertEqual(intervals.student_t_95(1), 12.706)
        self.assertEqual(intervals.student_t_95(30), 2.042)
        self.assertEqual(intervals.student_t_95(31), 1.960)

    def test_a_ratio_adds_the_relative_errors_of_both_sides(self):
        ratio = intervals.ratio([19.0, 20.0, 21.0], [10.0, 10.0, 10.0])
        self.assertAlmostEqual(ratio.median, 2.0)
        self.assertAlmostEqual(ratio.high - 2.0, 4.303 * (1 / math.sqrt(3)) / 20 * 2)
        self.assertTrue(ratio.low < 2.0 < ratio.high)

    def test_a_ratio_of_single_runs_is_a_bare_number(self):
        self.assertEqual(intervals.ratio([30.0], [10.0]), intervals.Spread(3.0, 3.0, 3.0, 1, False))


if __name__ == "__main__":
    unittest.main()
