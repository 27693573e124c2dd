"""The knee is found where there is one, and seldom where there is none."""

import unittest

from simulated import ramps
from simulated_seconds import SEEDS

from lab.analysis import knee
from lab.analysis.knee import CANNOT_TELL, NOT_SEEN, SEEN

LOADS = [float(x) for x in range(100)]


def bent(at: float) -> list[float]:
    return [2 * min(x, at) for x in LOADS]


class KneeTest(unittest.TestCase):
    def test_a_knee_without_noise_is_found_within_a_step(self):
        found = knee.of_values(LOADS, bent(40.0))
        self.assertEqual(found.verdict, SEEN)
        self.assertTrue(found.load.has(40.0))
        self.assertLess(found.load.high - found.load.low, 6.0)
        self.assertAlmostEqual(found.throughput or 0.0, 80.0, delta=2.0)

    def test_the_order_of_the_loads_does_not_matter_without_noise(self):
        found = knee.of_values(LOADS[::-1], bent(40.0)[::-1])
        self.assertEqual(found.load, knee.of_values(LOADS, bent(40.0)).load)

    def test_a_straight_line_has_no_knee(self):
        for slope in (3.0, 0.0, -1.0):
            with self.subTest(slope=slope):
                found = knee.of_values(LOADS, [200 + slope * x for x in LOADS])
                self.assertEqual((found.verdict, found.load), (NOT_SEEN, None))

    def test_what_falls_first_has_no_knee(self):
        falling = [200 - value for value in bent(40.0)]
        self.assertEqual(knee.of_values(LOADS, falling).verdict, NOT_SEEN)

    def test_noise_seldom_has_a_knee(self):
        for follows in (0.0, 0.8):
            with self.subTest(follows=follows):
                seen = sum(
                    knee.of_values(
                        ramps.rising(), ramps.throughputs(ramps.rising(), 1e9, seed, follows)
                    ).verdict
                    == SEEN
                    for seed in SEEDS[:15]
                )
                self.assertEqual(seen, 0)

    def test_few_values_or_one_load_tell_nothing(self):
        self.assertEqual(knee.of_values(LOADS[:19], LOADS[:19]).verdict, CANNOT_TELL)
        self.assertEqual(knee.of_values([5.0] * 50, LOADS[:50]).verdict, CANNOT_TELL)

    def test_the_squares_are_those_of_the_fitted_line(self):
        values = ramps.throughputs(LOADS, 40.0, 1, 0.5)
        pieces = knee._Pieces(LOADS)
        squares = pieces.squares(values)
        for place in (0, 30, 59, 60):
            at = [*pieces.knees, pieces.largest][place]
            fitted = pieces.fitted(values, at)
            by_hand = sum((value - one) ** 2 for value, one in zip(values, fitted))
            self.assertAlmostEqual(squares[place], by_hand, places=6)
