"""Asymptotes, N* and mean value analysis."""

import unittest

from lab.analysis.operational_laws import (
    Station,
    crossing,
    heaviest,
    mean_value_analysis,
    one_after_the_other,
    threads_for_share,
    throughput_bound,
)

# Jain, The Art of Computer Systems Performance Analysis, chapter 34: a timesharing system with
# demands of 2, 3 and 1 seconds at CPU, disk A and disk B, and 4 seconds of think time.
TEXTBOOK = [Station("CPU", 2.0), Station("disk A", 3.0), Station("disk B", 1.0)]
THINK_S = 4.0


class OperationalLawsTest(unittest.TestCase):
    def test_the_heaviest_station_counts_its_servers(self):
        self.assertEqual(
            heaviest([Station("disk", 3.0), Station("cores", 4.0, servers=2)]).name, "disk"
        )

    def test_the_asymptotes_cross_where_one_reaches_the_height_of_the_other(self):
        self.assertAlmostEqual(crossing(TEXTBOOK, THINK_S), 10 / 3)
        self.assertAlmostEqual(crossing(TEXTBOOK, THINK_S) / 10, 1 / 3)  # N / (D + Z) is 1 / Dmax

    def test_the_share_of_the_asymptote_is_reached_between_two_n(self):
        # four balanced stations: N / (N + 3) is 0.95 at N = 57
        balanced = [Station(str(k), 1.0) for k in range(4)]
        self.assertAlmostEqual(threads_for_share(balanced, 0.0, 0.95) or 0, 57.0)
        found = threads_for_share(TEXTBOOK, THINK_S, 0.95) or 0
        below, above = mean_value_analysis(TEXTBOOK, THINK_S, int(found) + 1)[-2:]
        self.assertLess(3 * below.throughput_rps, 0.95)
        self.assertGreaterEqual(3 * above.throughput_rps, 0.95)

    def test_a_share_that_no_sweep_reaches_is_none(self):
        self.assertIsNone(threads_for_share([Station("cores", 1e-6)], 1.0, 0.95))

    def test_the_bound_is_the_lower_of_both_asymptotes(self):
        self.assertAlmostEqual(throughput_bound(1, TEXTBOOK, THINK_S), 0.1)
        self.assertAlmostEqual(throughput_bound(100, TEXTBOOK, THINK_S), 1 / 3)

    def test_mean_value_analysis_agrees_with_the_textbook(self):
        one, two, three = mean_value_analysis(TEXTBOOK, THINK_S, 3)
        self.assertAlmostEqual(one.throughput_rps, 0.1)
        self.assertAlmostEqual(one.residence_s, 6.0)
        self.assertAlmostEqual(two.residence_s, 7.4)
        self.assertAlmostEqual(two.throughput_rps, 2 / 11.4)
        self.assertAlmostEqual(three.residence_s, 9.088, places=3)
        self.assertAlmostEqual(three.throughput_rps, 0.229, places=3)

    def test_mean_value_analysis_of_one_station_is_a_closed_formula(self):
        predictions = mean_value_analysis([Station("disk", 0.5)], 0.0, 10)
        for prediction in predictions:
            self.assertAlmostEqual(prediction.throughput_rps, 2.0)
            self.assertAlmostEqual(prediction.residence_s, 0.5 * prediction.threads)

    def test_balanced_stations_follow_n_over_n_plus_k_minus_1(self):
        stations = [Station(str(k), 1.0) for k in range(4)]
        for prediction in mean_value_analysis(stations, 0.0, 20):
            self.assertAlmostEqual(
                prediction.throughput_rps, prediction.threads / (prediction.threads + 3)
            )

    def test_mean_value_analysis_never_beats_the_bounds(self):
        stations = [Station("cores", 0.003, servers=2), Station("disk", 0.001)]
        for prediction in mean_value_analysis(stations, 0.002, 50):
            self.assertLessEqual(
                prediction.throughput_rps,
                throughput_bound(prediction.threads, stations, 0.002) * (1 + 1e-9),
            )

    def test_stations_that_work_at_one_request_at_once_fit_into_its_response(self):
        sender, receiver = Station("sender", 0.0167), Station("receiver", 0.0259)
        fitted = one_after_the_other([sender, receiver], 0.0282)
        self.assertAlmostEqual(sum(station.demand_s for station in fitted), 0.0282)
        self.assertIs(fitted[1], receiver)
        rates = [one.throughput_rps for one in mean_value_analysis(fitted, 0.0, 8)]
        self.assertEqual(rates, sorted(rates))
        self.assertAlmostEqual(rates[0], 1 / 0.0282)
        self.assertEqual(one_after_the_other(TEXTBOOK, 10.0), TEXTBOOK)

    def test_one_customer_at_many_servers_still_takes_its_whole_demand(self):
        alone = mean_value_analysis([Station("cores", 0.004, servers=4)], 0.0, 1)[0]
        self.assertAlmostEqual(alone.throughput_rps, 250.0)
