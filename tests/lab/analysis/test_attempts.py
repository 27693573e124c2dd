"""Attempts that succeeded and failed, for each number of channels."""

import unittest

import examples

from lab.analysis import attempts


class AttemptsTest(unittest.TestCase):
    def test_a_mean_is_of_those_that_succeeded_and_says_so(self) -> None:
        found = attempts.by_channels(
            [
                examples.run(4, repeat=1, rate_bytes_s=100.0, succeeded=1.0),
                examples.run(4, repeat=2, failures="the fetch failed: x", succeeded=0.0),
                examples.run(4, repeat=3, rate_bytes_s=300.0, succeeded=1.0),
                examples.run(1, repeat=1, rate_bytes_s=50.0, succeeded=1.0),
            ]
        )
        self.assertEqual(list(found), [1, 4])
        self.assertEqual((found[4].count, len(found[4].succeeded)), (3, 2))
        self.assertEqual((found[4].mean("rate_bytes_s"), found[4].is_of_survivors), (200.0, True))
        self.assertEqual((found[1].mean("rate_bytes_s"), found[1].is_of_survivors), (50.0, False))

    def test_where_all_failed_there_is_no_mean(self) -> None:
        found = attempts.by_channels([examples.run(2, failures="the fetch failed: x")])
        self.assertEqual((found[2].count, found[2].mean("rate_bytes_s")), (1, None))

    def test_what_other_programs_disturbed_is_no_attempt(self) -> None:
        disturbed = "other programs used 50% of the cores"
        self.assertEqual(
            attempts.by_channels(
                [
                    examples.run(2, failures=disturbed, succeeded=1.0),
                    examples.run(2, failures=f"the fetch failed: x; {disturbed}"),
                ]
            ),
            {},
        )
