"""A change is found near its moment, and seldom where there is none."""

import unittest

import simulated_seconds as simulated
from simulated_seconds import FEW, SEEDS

from lab.analysis import change_points
from lab.analysis.change_points import Change


class ChangePointsTest(unittest.TestCase):
    def test_noise_seldom_has_a_change(self):
        for follows in (0.0, 0.5):
            with self.subTest(follows=follows):
                wrong = sum(
                    bool(change_points.of_values(simulated.noisy(seed, follows=follows)))
                    for seed in SEEDS
                )
                self.assertLessEqual(wrong, FEW)

    def test_a_step_is_found_within_two_seconds(self):
        for at, by in ((30, -20.0), (15, 20.0)):
            with self.subTest(at=at):
                right = 0
                for seed in SEEDS:
                    values = simulated.stepping(simulated.noisy(seed), at, by)
                    found = change_points.of_values(values)
                    right += len(found) == 1 and abs(found[0].index - at) <= 2
                self.assertGreaterEqual(right, len(SEEDS) - FEW)

    def test_two_steps_are_found_with_the_means_between(self):
        values = simulated.stepping(simulated.noisy(3), 20, -30.0)
        first, second = change_points.of_values(simulated.stepping(values, 40, 30.0))
        self.assertAlmostEqual(first.index, 20, delta=2)
        self.assertAlmostEqual(second.index, 40, delta=2)
        self.assertEqual(first.after, second.before)
        for mean, level in ((first.before, 100), (first.after, 70), (second.after, 100)):
            self.assertAlmostEqual(mean, level, delta=4)

    def test_a_step_without_noise_is_found_exactly(self):
        values = [100.0] * 12 + [80.0] * 10
        self.assertEqual(change_points.of_values(values), [Change(12, 100.0, 80.0)])

    def test_a_spike_is_no_change(self):
        quiet = simulated.noisy(1)
        for values in (
            simulated.spiking(quiet, at=30, by=500.0),
            simulated.spiking(simulated.spiking(quiet, at=30, by=-100.0), at=31, by=-100.0),
            simulated.spiking(quiet, at=0, by=-90.0),
        ):
            self.assertEqual(change_points.of_values(values), [])

    def test_a_spike_does_not_hide_a_change(self):
        values = simulated.stepping(simulated.noisy(1), 30, -20.0)
        (found,) = change_points.of_values(simulated.spiking(values, at=10, by=500.0))
        self.assertAlmostEqual(found.index, 30, delta=2)
        self.assertAlmostEqual(found.before, 100, delta=4)

    def test_equal_values_have_no_change(self):
        self.assertEqual(change_points.of_values([0.1] * 60), [])
        self.assertEqual(change_points.of_values([0.0] * 60), [])

    def test_of_too_few_values_nothing_is_said(self):
        self.assertEqual(change_points.of_values([100.0] * 9 + [10.0] * 10), [])
        self.assertEqual(len(change_points.of_values([100.0] * 10 + [10.0] * 10)), 1)
        self.assertEqual(change_points.of_values([]), [])

    def test_the_noise_is_that_around_the_steps(self):
        values = simulated.stepping(simulated.noisy(2, count=400), 200, 1000.0)
        self.assertAlmostEqual(change_points.noise(values), simulated.NOISE, delta=0.6)
