"""Medians, intervals and ratios of repeated measurements."""

import math
import unittest

import examples

from lab.analysis import intervals
from lab.analysis.intervals import Spread
from lab.analysis.passes import CANNOT_TELL, NOT_SEEN, RATE, SEEN, OfPasses, inside
from lab.results.records import Run


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

    def test_beyond_the_table_t_goes_on_to_the_normal_value(self):
        self.assertEqual(intervals.student_t_95(1), 12.706)
        self.assertEqual(intervals.student_t_95(30), 2.042)
        self.assertAlmostEqual(intervals.student_t_95(31), 2.0395, places=3)
        self.assertEqual(intervals.student_t_99(4), 4.604)
        self.assertAlmostEqual(intervals.student_t_99(31), 2.7440, places=3)
        self.assertAlmostEqual(intervals.student_t_99(99), 2.6264, places=3)
        self.assertAlmostEqual(intervals.student_t_99(10**6), 2.5758, places=3)

    def test_the_interval_of_a_percentile_is_that_of_the_logarithms(self):
        found = intervals.spread_of_percentile([1.0, 2.0, 16.0])
        middle = 32 ** (1 / 3)
        self.assertEqual((found.median, found.is_interval), (2.0, True))
        self.assertGreater(found.low, 0)
        self.assertAlmostEqual(found.low * found.high, middle**2)
        for values in ([0.0, 1.0, 2.0], [1.0, 2.0]):
            self.assertEqual(intervals.spread_of_percentile(values), intervals.spread(values))

    def test_of_the_figures_of_passes_percentiles_have_it(self):
        class Passes(OfPasses):
            runs = [examples.run(1, rate, p99_ms=rate) for rate in (1.0, 2.0, 16.0)]

            def of_run(self, run: Run, name: str) -> float | None:
                return run.throughput_rps

        for name in ("p99_ms", "get_p50_ms", "rtt_p50_ms", "p99_before_ms"):
            self.assertGreater(Passes().figure(name).low, 0, name)
        for name in ("first_byte_ms", RATE, "top99_ms"):
            self.assertLess(Passes().figure(name).low, 0, name)

    def test_a_ratio_adds_the_relative_errors_of_both_sides(self):
        ratio = intervals.ratio([19.0, 20.0, 21.0], [10.0, 10.0, 10.0])
        self.assertAlmostEqual(ratio.median, 2.0)
        self.assertAlmostEqual(ratio.high - 2.0, 9.925 * (1 / math.sqrt(3)) / 20 * 2)
        self.assertTrue(ratio.low < 2.0 < ratio.high)

    def test_a_ratio_of_single_runs_is_a_bare_number(self):
        self.assertEqual(intervals.ratio([30.0], [10.0]), intervals.Spread(3.0, 3.0, 3.0, 1, False))


class ApartTest(unittest.TestCase):
    def test_it_is_welchs_interval_of_the_logarithms(self):
        # Equal spreads of three values each have four degrees of freedom.
        numerator, denominator = [2.0, 4.0, 8.0], [1.0, 2.0, 4.0]
        found = intervals.apart_ratio(numerator, denominator)
        self.assertAlmostEqual(found.median, 2.0)
        half = 4.604 * math.log(2) * math.sqrt(2 / 3)
        self.assertAlmostEqual(found.high / found.median, math.exp(half), places=6)
        self.assertAlmostEqual(found.low * found.high, 4.0)

    def test_two_values_have_no_interval(self):
        found = intervals.apart_ratio([2.0, 4.0], [1.0, 1.0, 1.0])
        self.assertEqual((found.low, found.high, found.is_interval), (2.0, 4.0, False))


class PairedRatioTest(unittest.TestCase):
    def test_a_machine_that_grows_slower_does_not_count(self):
        found = intervals.paired_ratio({1: 200.0, 2: 100.0, 3: 50.0}, {1: 100.0, 2: 50.0, 3: 25.0})
        self.assertAlmostEqual(found.median, 2.0)
        self.assertAlmostEqual(found.low, 2.0)
        self.assertTrue(found.is_interval)

    def test_the_interval_is_that_of_the_ratios_logarithms(self):
        found = intervals.paired_ratio({1: 1.0, 2: 2.0, 3: 4.0}, {1: 1.0, 2: 1.0, 3: 1.0})
        self.assertAlmostEqual(found.median, 2.0)
        self.assertAlmostEqual(
            found.high / found.median, math.exp(9.925 * math.log(2) / math.sqrt(3))
        )
        self.assertAlmostEqual(found.low * found.high, 4.0)

    def test_two_passes_show_their_two_ratios(self):
        found = intervals.paired_ratio({1: 2.0, 2: 4.4}, {1: 1.0, 2: 2.0})
        self.assertEqual((found.low, found.high, found.is_interval), (2.0, 2.2, False))

    def test_without_enough_passes_in_common_it_is_the_plain_ratio(self):
        for one, other in (
            ({1: 2.0, 2: 2.2}, {3: 1.0, 4: 1.1}),
            ({1: 2.0, 2: 2.2, 3: 2.1}, {3: 1.0, 4: 1.1, 5: 1.0}),
        ):
            self.assertEqual(
                intervals.paired_ratio(one, other),
                intervals.ratio(list(one.values()), list(other.values())),
            )


class InsideTest(unittest.TestCase):
    def test_the_whole_interval_must_lie_between_the_bounds(self):
        for low, high, wanted in ((1.1, 1.9, SEEN), (2.1, 3.0, NOT_SEEN), (1.5, 2.5, CANNOT_TELL)):
            self.assertEqual(inside(self.interval(low, high), 1.0, 2.0), wanted)

    def test_what_ends_at_a_bound_is_not_beyond_it(self):
        for low, high, wanted in (
            (0.5, 1.0, NOT_SEEN),
            (2.0, 2.5, NOT_SEEN),
            (1.0, 1.5, CANNOT_TELL),
        ):
            self.assertEqual(inside(self.interval(low, high), 1.0, 2.0), wanted)

    def interval(self, low: float, high: float) -> Spread:
        return Spread((low + high) / 2, low, high, 3, True)
