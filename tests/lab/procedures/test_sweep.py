"""The stop rule, the refinement at the knee, and what is repeated."""

import unittest

import examples

from lab.procedures.sweep import (
    KneeSweep,
    Point,
    Sweep,
    has_flattened,
    n_star,
    next_threads,
    worth_repeating,
)

LADDER = Sweep((1, 2, 4, 8, 16, 32), refinements=2)


def points(**throughputs: float) -> list[Point]:
    return [Point(int(name[1:]), value) for name, value in throughputs.items()]


def measured(system, sweep: Sweep) -> list[int]:
    """The N that a sweep visits on a system without noise, in order."""
    found: list[Point] = []
    while (threads := next_threads(sweep, found)) is not None:
        found.append(Point(threads, system(threads)))
    return [point.threads for point in found]


class SweepTest(unittest.TestCase):
    def test_it_climbs_the_ladder_while_throughput_rises(self):
        self.assertEqual(next_threads(LADDER, []), 1)
        self.assertEqual(next_threads(LADDER, points(n1=100, n2=190)), 4)

    def test_it_stops_after_two_points_without_a_rise_and_looks_at_the_knee(self):
        visited = measured(lambda n: min(100.0 * n, 500.0), LADDER)
        self.assertEqual(visited, [1, 2, 4, 8, 16, 32, 6, 5])

    def test_a_flat_system_takes_three_points_and_a_far_one(self):
        self.assertEqual(measured(lambda n: 100.0, LADDER), [1, 2, 4, 16])

    def test_a_rise_behind_a_plateau_is_found(self):
        visited = measured(lambda n: 100.0 if n < 10 else 300.0, Sweep(LADDER.ladder, 0))
        self.assertEqual(visited, [1, 2, 4, 16, 8, 32])

    def test_the_far_point_is_the_highest_n_where_the_ladder_ends(self):
        short = Sweep((1, 2, 4, 8), refinements=0)
        self.assertEqual(measured(lambda n: 100.0, short), [1, 2, 4, 8])

    def test_a_rising_system_is_measured_to_the_end_of_the_ladder(self):
        self.assertEqual(measured(lambda n: 100.0 * n, Sweep((1, 2, 4), refinements=0)), [1, 2, 4])

    def test_without_stopping_exactly_the_ladder_is_measured(self):
        self.assertEqual(
            measured(lambda n: 100.0, Sweep((1, 2, 4, 8), 2, stops=False)), [1, 2, 4, 8]
        )

    def test_a_rise_within_the_noise_is_none(self):
        self.assertTrue(
            has_flattened([Point(1, 100, 0.03), Point(2, 104, 0.03), Point(4, 105, 0.03)])
        )
        self.assertFalse(
            has_flattened([Point(1, 100, 0.01), Point(2, 104, 0.01), Point(4, 105, 0.01)])
        )

    def test_noise_never_excuses_a_large_rise(self):
        self.assertFalse(
            has_flattened([Point(1, 100, 0.5), Point(2, 100, 0.5), Point(4, 120, 0.5)])
        )

    def test_n_star_is_the_smallest_n_within_five_percent_of_the_maximum(self):
        self.assertEqual(n_star(points(n1=100, n2=190, n4=286, n8=300, n16=299)), 4)

    def test_the_points_that_decide_are_repeated(self):
        self.assertEqual(
            worth_repeating(points(n1=100, n2=190, n4=290, n8=300, n16=280, n32=270)), [1, 2, 4, 8]
        )

    def test_an_interrupted_sweep_goes_on_where_it_was(self):
        whole = measured(lambda n: min(100.0 * n, 500.0), LADDER)
        for length in range(len(whole)):
            begun = [Point(n, min(100.0 * n, 500.0)) for n in whole[:length]]
            self.assertEqual(next_threads(LADDER, begun), whole[length])


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
