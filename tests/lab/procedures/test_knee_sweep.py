"""Which points a sweep for the knee measures in its passes, and how many."""

import unittest

import examples

from lab.plan.planned import Sweep
from lab.procedures.sweep import KneeSweep

FIXED = KneeSweep(Sweep(ladder=(1, 2, 4), refinements=0, stops=False), passes=3)
CLIMBING = KneeSweep(Sweep(ladder=(1, 2, 4, 8, 16, 32), refinements=0), passes=2)
FLAT_FROM_2 = [
    examples.run(threads, rate)
    for threads, rate in ((1, 1000.0), (2, 2000.0), (4, 1990.0), (8, 2000.0), (32, 1980.0))
]


class KneeSweepTest(unittest.TestCase):
    def test_the_first_pass_climbs_until_throughput_is_flat(self):
        self.assertEqual(CLIMBING.next_threads(FLAT_FROM_2[:3], 1), 8)
        self.assertEqual(CLIMBING.next_threads(FLAT_FROM_2[:4], 1), 32)
        self.assertIsNone(CLIMBING.next_threads(FLAT_FROM_2, 1))

    def test_a_later_pass_repeats_the_points_that_decide(self):
        runs, repeated = list(FLAT_FROM_2), []
        while (threads := CLIMBING.next_threads(runs, 2)) is not None:
            repeated.append(threads)
            runs.append(examples.run(threads, 1000.0, 2))
        self.assertEqual(repeated, [1, 2, 4])

    def test_numbers_of_threads_that_were_asked_for_are_measured_in_every_pass(self):
        runs = [examples.run(threads) for threads in (1, 2, 4)]
        self.assertEqual(FIXED.next_threads([*runs, examples.run(1, repeat=3)], 3), 2)

    def test_the_number_of_points_is_known_after_the_first_pass(self):
        self.assertIsNone(CLIMBING.points_in_all(FLAT_FROM_2[:3]))
        self.assertEqual(CLIMBING.points_in_all(FLAT_FROM_2), 5 + 3)
        self.assertEqual(FIXED.points_in_all([examples.run(threads) for threads in (1, 2, 4)]), 9)

    def test_an_invalid_point_counts_as_no_throughput(self):
        failed = [
            *FLAT_FROM_2[:2],
            examples.run(4, 9000.0, failures="x"),
            examples.run(8, 100.0),
            examples.run(32, 9000.0, failures="x"),
        ]
        self.assertIsNone(CLIMBING.next_threads(failed, 1))
