"""A run that drifted is told from one that changed, and both from one in which nothing happened."""

import math
import unittest
from dataclasses import replace

import simulated_seconds as simulated
from simulated_seconds import FEW, SEEDS

from lab.analysis import over_time
from lab.analysis.over_time import Course, Shift, Steadiness
from lab.workloads.outcome import Second, Series


def course(values: list[float]) -> Course:
    return over_time.of_values(range(1, len(values) + 1), values)


def second(t: int, ended: int, mean_ms: float | None) -> Second:
    return Second(t=t, under_way=8, started=9, ended=ended, failed=0, bytes=0, mean_ms=mean_ms)


class CourseTest(unittest.TestCase):
    def test_nothing_happened(self):
        for follows in (0.0, 0.5):
            with self.subTest(follows=follows):
                flat = sum(course(simulated.noisy(seed, follows=follows)).is_flat for seed in SEEDS)
                self.assertGreaterEqual(flat, len(SEEDS) - FEW)

    def test_a_drift_is_no_staircase(self):
        found = [course(simulated.drifting(simulated.noisy(seed), -20.0)) for seed in SEEDS]
        self.assertGreaterEqual(
            sum(one.drift < 0 and not one.shifts for one in found), len(SEEDS) - FEW
        )
        self.assertAlmostEqual(sum(one.drift for one in found) / len(found), -0.2, delta=0.02)

    def test_a_step_is_no_drift(self):
        found = [course(simulated.stepping(simulated.noisy(seed), 30, -20.0)) for seed in SEEDS]
        steps = [one.shifts[0] for one in found if len(one.shifts) == 1 and not one.drift]
        self.assertGreaterEqual(len(steps), len(SEEDS) - FEW)
        self.assertGreaterEqual(sum(abs(one.from_s - 30) <= 2 for one in steps), len(SEEDS) - FEW)
        self.assertAlmostEqual(sum(one.share for one in steps) / len(steps), -0.2, delta=0.01)

    def test_three_steps_down_are_no_drift(self):
        values = [100.0 + one % 2 for one in range(60)]
        for at in (15, 30, 45):
            values = simulated.stepping(values, at, -20.0)
        self.assertEqual([one.from_s for one in course(values).shifts], [15, 30, 45])

    def test_what_is_small_is_not_worth_a_word(self):
        calm = [1000.0 + one % 2 for one in range(60)]
        self.assertTrue(course(simulated.stepping(calm, 30, 45.0)).is_flat)
        self.assertTrue(course(simulated.drifting(calm, 45.0)).is_flat)
        self.assertEqual(len(course(simulated.stepping(calm, 30, 55.0)).shifts), 1)
        self.assertGreater(course(simulated.drifting(calm, 55.0)).drift, 0)

    def test_a_change_after_nothing_has_no_share(self):
        self.assertEqual(course([0.0] * 10 + [50.0] * 20).shifts, (Shift(10, math.inf),))

    def test_a_line_that_starts_below_zero_is_compared_with_its_middle(self):
        values = [max(0.0, one - 10.0) for one in range(60)]  # about 1 a second; the median is 19.5
        self.assertAlmostEqual(course(values).drift, 59 / 19.5, delta=0.2)

    def test_a_run_without_a_request_is_flat(self):
        self.assertTrue(course([0.0] * 60).is_flat)


class OverTimeTest(unittest.TestCase):
    def test_requests_and_response_times_have_a_course_each(self):
        series = Series(tuple(second(t, 100, 1.0 if t <= 12 else 1.5) for t in range(1, 31)))
        found = over_time.of_series(series, 30.0)
        self.assertTrue(found.requests.is_flat)
        ((shift),) = found.mean_ms.shifts
        self.assertEqual(shift.from_s, 12)
        self.assertAlmostEqual(shift.share, 0.5)

    def test_seconds_without_an_answer_have_no_response_time_and_keep_their_number(self):
        seconds = [
            second(t, 0, None) if t in (3, 4) else second(t, 100, 1.0 if t <= 12 else 1.5)
            for t in range(1, 31)
        ]
        found = over_time.of_series(Series(tuple(seconds)), 30.0)
        self.assertEqual([one.from_s for one in found.mean_ms.shifts], [12])

    def test_the_last_part_of_a_second_does_not_count(self):
        seconds = tuple(second(t, 100 if t <= 15 else 50, 1.0) for t in range(1, 21))
        self.assertEqual(len(over_time.of_series(Series(seconds), 20.0).requests.shifts), 1)
        self.assertTrue(over_time.of_series(Series(seconds), 19.5).requests.is_flat)

    def test_a_run_without_a_series_is_flat(self):
        found = over_time.of_series(Series(), 30.0)
        self.assertTrue(found.requests.is_flat and found.mean_ms.is_flat)


def second_at(t: int, ended: int, failed: int = 0, max_ms: float | None = 5.0) -> Second:
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
    seconds = [second_at(t, n, failed.get(f"s{t}", 0)) for t, n in enumerate(ended, start=1)]
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
        self.assertIsNone(over_time.steadiness_of(Series((second_at(1, 9),)), 0.4))
        self.assertIsNone(over_time.steadiness_of(Series(), 2.0))

    def test_the_slowest_request_is_known_by_its_second(self):
        seconds = (second_at(1, 9, max_ms=4.0), second_at(2, 9, max_ms=90.0), second_at(3, 0))
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
