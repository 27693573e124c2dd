"""Attempts to fetch a file: what counts, what is a mean of survivors, and the best number."""

import unittest

from made_up_downloads import ROW, attempts, failed

from lab.analysis.passes import ratio
from lab.kinds.client.analysis import RATE, Attempts, best, of_cell
from lab.kinds.client.load import FAILED
from lab.results.records import Run


def found(*runs: Run) -> list[Attempts]:
    return of_cell("lerc-curl", ROW, runs)


class AttemptsTest(unittest.TestCase):
    def test_those_of_other_cells_do_not_count(self):
        runs = [*attempts("lerc-curl", 1, 3.5), *attempts("lerc-lftp", 1, 3.0)]
        (one,) = found(*runs)
        self.assertEqual((one.channels, len(one.runs)), (1, 1))

    def test_they_are_in_rising_order_of_channels(self):
        runs = [*attempts("lerc-curl", 8, 5.0), *attempts("lerc-curl", 2, 5.0)]
        self.assertEqual([one.channels for one in found(*runs)], [2, 8])

    def test_a_mean_is_one_of_those_that_succeeded(self):
        (one,) = found(*attempts("lerc-curl", 4, 5.0, 5.2), failed("lerc-curl", 4, 3))
        self.assertEqual((len(one.valid), len(one.runs), one.are_all_good), (2, 3, False))
        assert one.rate
        self.assertAlmostEqual(one.rate.median * 8e-6, 5.1)

    def test_what_was_measured_badly_is_no_attempt(self):
        for why in ("the link was late", f"{FAILED}: status 1; the link was late"):
            self.assertEqual(found(failed("lerc-curl", 4, 3, why=why)), [])

    def test_without_success_there_is_no_rate_and_no_best(self):
        (one,) = found(failed("lerc-curl", 4))
        self.assertIsNone(one.rate)
        self.assertIsNone(best([one]))


class BestTest(unittest.TestCase):
    def test_others_are_alike_whose_interval_reaches_it(self):
        told = best(
            found(
                *attempts("lerc-curl", 1, 3.5, 3.5, 3.6),
                *attempts("lerc-curl", 4, 5.7, 5.8, 5.7),
                *attempts("lerc-curl", 8, 5.6, 5.8, 5.7),
            )
        )
        assert told
        self.assertEqual((told.attempts.channels, told.channels_alike), (4, [4, 8]))

    def test_of_one_it_is_that_one(self):
        told = best(found(*attempts("lerc-curl", 1, 3.5)))
        assert told
        self.assertEqual(told.channels_alike, [1])

    def test_two_attempts_are_alike_that_the_noise_of_others_could_part(self):
        runs = [*attempts("lerc-curl", 4, 5.7, 5.7), *attempts("lerc-curl", 8, 5.5, 5.5)]
        told = best(found(*runs))
        assert told
        self.assertEqual(told.channels_alike, [4])
        told = best(found(*runs, *attempts("lerc-curl", 1, 3.0, 3.6)))
        assert told
        self.assertEqual(told.channels_alike, [4, 8])

    def test_a_number_with_which_more_than_one_of_five_fails_is_not_the_best(self):
        good = attempts("lerc-curl", 4, 5.0, 5.0, 5.0, 5.0)
        for failures, wanted in ((1, 4), (2, 1)):
            bad = [failed("lerc-curl", 4, 5 + at) for at in range(failures)]
            told = best(found(*attempts("lerc-curl", 1, 3.5), *good, *bad))
            assert told
            self.assertEqual(told.attempts.channels, wanted)
        self.assertIsNone(best(found(*attempts("lerc-curl", 1, 3.5), failed("lerc-curl", 1, 2))))


class RatioTest(unittest.TestCase):
    def test_a_drift_from_pass_to_pass_cancels_out(self):
        one, other = found(
            *attempts("lerc-curl", 1, 1.0, 2.0, 3.0), *attempts("lerc-curl", 2, 2.0, 4.0, 6.0)
        )
        told = ratio(other, one, RATE)
        assert told
        self.assertAlmostEqual(told.low, 2.0)
        self.assertAlmostEqual(told.high, 2.0)

    def test_there_is_none_of_a_figure_that_is_missing(self):
        one, other = found(*attempts("lerc-curl", 1, 1.0), *attempts("lerc-curl", 2, 1.0))
        self.assertIsNone(ratio(one, other, "rtt_p50_ms"))
