"""Intervals of values that follow each other hold the truth as often as they say."""

import statistics
import unittest
from itertools import pairwise

import simulated_seconds as simulated
from simulated_seconds import LEVEL, SEEDS

from lab.analysis import blocks
from lab.analysis.blocks import Estimate, Noise


class DependenceTest(unittest.TestCase):
    def test_the_share_that_is_kept_is_found(self):
        for follows in (0.0, 0.5, 0.8, 0.95):
            with self.subTest(follows=follows):
                found = [
                    blocks.share_kept([value - LEVEL for value in series])
                    for series in (simulated.noisy(seed, 600, follows) for seed in SEEDS)
                ]
                self.assertAlmostEqual(statistics.fmean(found), follows, delta=0.02)

    def test_what_a_short_series_hides_is_put_back(self):
        deviations = [1.0, 1.0, -1.0, -1.0] * 10  # 20 of 39 neighbours are equal
        self.assertAlmostEqual(blocks.share_kept(deviations), (1 / 40 + 2 / 40) / (1 - 4 / 40))

    def test_a_standard_error_is_added_to_the_share(self):
        deviations = [value - LEVEL for value in simulated.noisy(1, 400, 0.6)]
        kept = blocks.share_kept(deviations)
        error = ((1 - kept**2) / 400) ** 0.5
        self.assertAlmostEqual(blocks.noise(deviations, 1).kept, kept + error)

    def test_news_have_no_mean_and_make_the_same_deviations_again(self):
        found = blocks.noise([1.0, -1.0] * 20, 0)
        self.assertAlmostEqual(sum(found.news), 0.0)
        self.assertLess(found.kept, -0.9)

    def test_a_fit_takes_deviations_away_and_they_are_put_back(self):
        deviations = [value - LEVEL for value in simulated.noisy(1, 41)]
        plain, wider = (blocks.noise(deviations, fitted).news for fitted in (0, 10))
        self.assertAlmostEqual(wider[7] / plain[7], (40 / 30) ** 0.5)

    def test_what_was_kept_is_put_in_again(self):
        made = Noise(0.5, (3.0**0.5 / 2, 4.0)).blackened([0, 1, 1])
        self.assertEqual([round(one, 9) for one in made], [1.0, 4.5, 6.25])

    def test_nothing_deviates(self):
        self.assertEqual(blocks.noise([0.0] * 30, 1).news, (0.0,) * 29)

    def test_blocks_are_longer_where_news_depend_on_each_other(self):
        fresh = [value - LEVEL for value in simulated.noisy(3, 216)]
        slow = [statistics.fmean(fresh[place : place + 30]) for place in range(184)]
        self.assertEqual(blocks.block_length(fresh), 6)
        self.assertEqual(blocks.block_length(slow), 23)  # an eighth

    def test_values_that_depend_on_each_other_are_worth_less(self):
        self.assertEqual(blocks.widening(12, 0.0, 2), 3.169)  # Student's t of 10
        self.assertEqual(blocks.widening(12, -0.5, 2), 3.169)
        self.assertEqual(blocks.widening(36, 0.5, 2), 3.169)
        self.assertEqual(blocks.widening(36, 0.99, 2), 9.925)

    def test_the_spread_of_the_draws_is_an_estimate_however_many_values_there_are(self):
        self.assertEqual(blocks.widening(200, 0.0, 2), 2.947)  # Student's t of 15


class DrawsTest(unittest.TestCase):
    NOISES = (Noise(0.0, tuple(map(float, range(60)))), Noise(0.0, tuple(map(float, range(60)))))

    def test_the_same_noises_give_the_same_draws(self):
        first, second = (blocks.draws(self.NOISES, lambda made: made[0][5]) for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(len(first), blocks.DRAWS)

    def test_all_columns_have_the_news_of_the_same_places(self):
        self.assertTrue(all(blocks.draws(self.NOISES, lambda made: made[0] == made[1])))

    def test_neighbours_stay_together(self):
        made = blocks.draws(self.NOISES[:1], lambda made: made[0])[0]
        together = sum(later - value == 1 for value, later in pairwise(made))
        self.assertEqual(len(made), 61)
        self.assertGreater(together, 40)


class MeanTest(unittest.TestCase):
    def test_the_interval_holds_the_mean_nearly_always(self):
        for follows in (0.0, 0.5, 0.8):
            with self.subTest(follows=follows):
                held = sum(
                    blocks.mean(simulated.noisy(seed, 200, follows)).has(LEVEL)
                    for seed in SEEDS[:30]
                )
                self.assertEqual(held, 30)

    def test_it_is_no_wider_than_it_must(self):
        found = blocks.mean(simulated.noisy(1, 200))
        self.assertAlmostEqual(found.high - found.low, 2 * 2.947 * 5 / 200**0.5, delta=0.4)

    def test_it_is_the_mean_of_all_values(self):
        values = [*range(200), *range(300)]
        self.assertEqual(blocks.mean(values).value, statistics.fmean(values))

    def test_of_few_values_there_is_none(self):
        self.assertIsNone(blocks.mean([1.0] * 19))
        self.assertEqual(blocks.mean([1.0] * 20), Estimate(1.0, 1.0, 1.0))


class ThinnedTest(unittest.TestCase):
    def test_neighbours_are_averaged_where_there_are_many(self):
        (found,) = blocks.thinned([list(range(481))])
        self.assertEqual(len(found), 160)  # of three each, without the first
        self.assertEqual(found[:2], [2.0, 5.0])

    def test_few_values_stay_as_they_are(self):
        self.assertEqual(blocks.thinned([[3.0, 1.0], [2.0, 9.0]]), [[3.0, 1.0], [2.0, 9.0]])
