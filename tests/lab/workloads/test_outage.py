"""What is said of an outage, from the seconds of a run."""

import unittest
from dataclasses import replace

import outages

from lab.kinds.failover import load
from lab.workloads import series
from lab.workloads.series import Series


class OutageTest(unittest.TestCase):
    def test_what_failed_and_when_the_first_answer_came(self):
        seen = outages.seen(outages.SERIES)
        self.assertEqual((seen.component, seen.killed_s, seen.started_s), ("authserver", 4.5, 8.4))
        self.assertEqual((seen.requests, seen.failed, seen.failed_before), (1250, 450, 0))
        self.assertEqual((seen.last_failed, seen.answered_meanwhile), (9, 0))
        self.assertEqual(seen.first_answered, 9)
        self.assertEqual(seen.waited_s, (0.0, 9 - 8.4))

    def test_the_second_of_the_start_is_passed_without_an_answer(self):
        seen = outages.seen(outages.changed(9, ended=0, failed=100))
        self.assertEqual(seen.first_answered, 10)
        least, most = seen.waited_s or (0.0, 0.0)
        self.assertAlmostEqual(least, 0.6)
        self.assertAlmostEqual(most, 1.6)

    def test_nothing_may_be_answered_after_the_start(self):
        never = Series(outages.SERIES.seconds[:8], outages.SERIES.events)
        seen = outages.seen(never)
        self.assertEqual((seen.first_answered, seen.waited_s), (None, None))
        self.assertEqual((seen.after, seen.is_as_before), (None, None))

    def test_requests_that_failed_or_were_answered_where_they_should_not(self):
        self.assertEqual(outages.seen(outages.changed(4, failed=3)).failed_before, 3)
        self.assertEqual(outages.seen(outages.changed(5, failed=3)).failed_before, 0)
        self.assertEqual(outages.seen(outages.changed(7, ended=5)).answered_meanwhile, 5)

    def test_times_afterwards_are_held_against_those_before(self):
        """Neither the first second of the run nor the first one with an answer counts."""
        seen = outages.seen(outages.SERIES)
        assert seen.before and seen.after
        self.assertEqual((seen.before.p50, seen.before.p99), (0.2, 2.0))
        self.assertEqual((seen.after.p50, seen.after.p99), (0.2, 2.0))
        self.assertIs(seen.is_as_before, True)
        for slow in ({"p99_ms": 3.1}, {"p50_ms": 0.31}):
            slower = outages.SERIES
            for t in (10, 11, 12):
                slower = outages.changed(t, slower, **slow)
            self.assertIs(outages.seen(slower).is_as_before, False, slow)
        self.assertIs(outages.seen(outages.changed(11, p99_ms=50.0)).is_as_before, True)

    def test_times_that_some_seconds_had_before_are_as_before_but_not_those_of_one(self):
        slow = outages.SERIES
        for t in (10, 11, 12):
            slow = outages.changed(t, slow, p99_ms=60.0)
        one = outages.changed(2, slow, p99_ms=90.0)
        self.assertIs(outages.seen(one).is_as_before, False)
        some = outages.changed(3, one, p99_ms=90.0)
        self.assertIs(outages.seen(some).is_as_before, True)

    def test_a_run_in_which_nothing_was_killed_has_no_outage(self):
        self.assertIsNone(load.of_series(Series(outages.SERIES.seconds)))
        self.assertIsNone(load.of_series(replace(outages.SERIES, seconds=())))
        only_killed = replace(outages.SERIES, events=outages.SERIES.events[:1])
        self.assertIsNone(load.of_series(only_killed))


class SeriesTest(unittest.TestCase):
    def test_what_loadgen_writes_is_read_by_the_names_of_its_columns(self):
        counts = {
            "t": "3",
            "under_way": "2",
            "started": "9",
            "ended": "0",
            "failed": "9",
            "bytes": "0",
        }
        times = {"mean_ms": "", "p50_ms": "", "p99_ms": "", "max_ms": "", "later_ms": "1"}
        found = series.of_words({**counts, **times})
        self.assertEqual((found.t, found.failed, found.p99_ms), (3, 9, None))
        self.assertEqual(series.of_words({**counts, "p99_ms": "1.5"}).p99_ms, 1.5)
        with self.assertRaises(KeyError):
            series.of_words({"t": "3"})

    def test_events_are_counted_from_the_start_of_the_run(self):
        killed = series.Event(1000.25, "x killed")
        (event,) = series.Series().with_events([killed], 999.0).events
        self.assertEqual(event, series.Event(1.25, "x killed"))
