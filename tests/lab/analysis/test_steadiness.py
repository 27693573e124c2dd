"""A run is steady if none of its whole seconds has far fewer requests than usual, or a failure."""

import unittest
from dataclasses import replace

from lab.analysis import over_time
from lab.analysis.over_time import Steadiness
from lab.workloads.series import Second, Series


def second(t: int, ended: int, failed: int = 0, max_ms: float | None = 5.0) -> Second:
    return Second(
        t=t,
        under_way=8,
        started=ended,
        ended=ended,
        failed=failed,
        bytes=0,
        max_ms=max_ms if ended else None,
    )


def seen(*ended: int, elapsed_s: float = 0.0, **failed: int) -> Steadiness:
    """failed are those of second sN."""
    seconds = [second(t, n, failed.get(f"s{t}", 0)) for t, n in enumerate(ended, start=1)]
    found = over_time.steadiness_of(Series(tuple(seconds)), elapsed_s or len(ended))
    assert found
    return found


class SteadinessTest(unittest.TestCase):
    def test_seconds_that_are_alike_are_steady(self):
        found = seen(1000, 900, 1100, 600)
        self.assertTrue(found.is_steady)
        self.assertEqual((found.median, found.first, found.least), (950, 1000, 600))

    def test_a_stall_is_a_weak_second_and_perhaps_a_silent_one(self):
        found = seen(1000, 0, 1000, 400, 1000)
        self.assertEqual((found.weak, found.silent, found.is_steady), ((2, 4), 1, False))

    def test_a_warm_up_that_was_too_short_is_a_weak_first_second(self):
        self.assertEqual(seen(300, 1000, 1000).weak, (1,))

    def test_a_request_that_failed_makes_a_run_unsteady(self):
        found = seen(1000, 1000, 1000, s2=3, s3=1)
        self.assertEqual((found.failed, found.failed_in, found.is_steady), (4, (2, 3), False))

    def test_few_requests_may_differ_by_chance(self):
        self.assertTrue(seen(10, 3, 10).is_steady)
        self.assertFalse(seen(200, 90, 200).is_steady)

    def test_the_last_part_of_a_second_does_not_count(self):
        self.assertTrue(seen(1000, 1000, 100, elapsed_s=2.1).is_steady)
        self.assertEqual(seen(1000, 1000, 100, elapsed_s=2.999).seconds, 3)
        self.assertIsNone(over_time.steadiness_of(Series((second(1, 9),)), 0.4))
        self.assertIsNone(over_time.steadiness_of(Series(), 2.0))

    def test_the_slowest_request_is_known_by_its_second(self):
        seconds = (second(1, 9, max_ms=4.0), second(2, 9, max_ms=90.0), second(3, 0))
        found = over_time.steadiness_of(Series(seconds), 3.0)
        assert found and found.slowest
        self.assertEqual((found.slowest.t, found.slowest.max_ms), (2, 90.0))
        silent = over_time.steadiness_of(Series((replace(seconds[2], t=1),)), 1.0)
        assert silent
        self.assertIsNone(silent.slowest)

    def test_failures_are_worse_than_weak_seconds_and_those_than_small_differences(self):
        failed, weak, uneven = seen(100, 100, s1=1), seen(100, 0, 100), seen(100, 80, 100)
        ordered = sorted((uneven, failed, weak), key=lambda one: one.badness)
        self.assertEqual(ordered, [uneven, weak, failed])
