"""Two views of one run are compared second by second, and never shifted in silence."""

import unittest

import simulated_seconds as simulated

from lab.analysis import two_views

PLATEAU = range(1, 61)


def view(values: list[float], first: int = 1) -> dict[int, float]:
    return dict(enumerate(values, start=first))


def stairs(count: int = 60) -> list[float]:
    """A load that changes every 10 s."""
    return [(100.0, 200.0, 400.0, 300.0, 50.0, 150.0)[t // 10 % 6] for t in range(count)]


class TwoViewsTest(unittest.TestCase):
    def test_the_same_view_agrees(self):
        clients = view(simulated.noisy(1))
        found = two_views.compare(clients, clients, PLATEAU)
        self.assertEqual((found.mean.value, found.worst, found.best_lag_s), (0.0, 0.0, 0))
        self.assertEqual((found.seconds, found.missing), (60, 0))
        self.assertTrue(found.is_same)

    def test_differences_are_shares_of_the_clients_mean(self):
        server = [100.0 + (10.0 if t == 17 else 0.0) for t in range(60)]
        found = two_views.compare(view([100.0] * 60), view(server), PLATEAU)
        self.assertAlmostEqual(found.mean.value, 0.1 / 60)
        self.assertAlmostEqual(found.worst, 0.1)
        self.assertEqual(found.worst_s, 18)

    def test_the_worst_may_be_below(self):
        server = [100.0 + (10.0 if t == 17 else -20.0 if t == 5 else 0.0) for t in range(60)]
        found = two_views.compare(view([100.0] * 60), view(server), PLATEAU)
        self.assertAlmostEqual(found.worst, -0.2)
        self.assertEqual(found.worst_s, 6)

    def test_three_percent_more_is_not_the_same(self):
        clients = simulated.noisy(1)
        found = two_views.compare(view(clients), view([1.03 * one for one in clients]), PLATEAU)
        self.assertFalse(found.is_same)
        self.assertTrue(found.mean.has(0.03))
        self.assertFalse(found.mean.has(-0.03))

    def test_only_the_plateau_counts(self):
        clients, server = view([100.0] * 60), view([0.0] * 20 + [100.0] * 40)
        self.assertEqual(two_views.compare(clients, server, range(21, 61)).worst, 0.0)
        self.assertEqual(two_views.compare(clients, server, range(20, 61)).worst, -1.0)

    def test_a_second_that_one_view_lacks_is_counted(self):
        clients, server = view([100.0] * 55), view([100.0] * 60, first=3)
        found = two_views.compare(clients, server, PLATEAU)
        self.assertEqual((found.seconds, found.missing), (53, 7))

    def test_of_few_common_seconds_or_none_nothing_is_said(self):
        clients = view([100.0] * 60)
        self.assertIsNone(two_views.compare(clients, view([100.0] * 19), PLATEAU))
        self.assertIsNone(two_views.compare(clients, {}, PLATEAU))
        self.assertIsNone(two_views.compare(view([0.0] * 60), clients, PLATEAU))


class LagTest(unittest.TestCase):
    def test_a_lag_is_told_and_not_applied(self):
        for lag in (3, -3, 10):
            clients, server = view(stairs()), view(stairs(), first=1 + lag)
            with self.subTest(lag=lag):
                found = two_views.compare(clients, server, PLATEAU)
                self.assertEqual(found.best_lag_s, lag)
                self.assertGreater(abs(found.worst), 0.5)

    def test_noise_has_no_lag(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                clients, server = view(simulated.noisy(seed)), view(simulated.noisy(seed + 100))
                self.assertEqual(two_views.best_lag_s(clients, server), 0)

    def test_a_server_that_always_sees_less_has_no_lag(self):
        server = [value - 20 for value in stairs()]
        self.assertEqual(two_views.best_lag_s(view(stairs()), view(server)), 0)

    def test_a_level_that_differs_does_not_hide_a_lag(self):
        server = [value + 400 for value in stairs()]
        self.assertEqual(two_views.best_lag_s(view(stairs()), view(server, first=3)), 2)

    def test_few_common_seconds_show_no_lag(self):
        clients, server = view(stairs(25)), view(stairs(25), first=7)  # 19 are common
        self.assertEqual(two_views.best_lag_s(clients, server), 0)

    def test_constant_views_have_no_lag(self):
        self.assertEqual(two_views.best_lag_s(view([5.0] * 60), view([5.0] * 60)), 0)
