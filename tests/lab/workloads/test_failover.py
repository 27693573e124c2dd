"""An open loop in which a server is killed: its command line, and what is wrong with its result."""

import unittest
from dataclasses import replace

import examples
import outages

from lab.kinds.failover import load
from lab.kinds.failover import load as failover
from lab.workloads import outcome
from lab.workloads.load import Kill
from lab.workloads.outcome import Result, Series

LOAD = failover.Failover(
    **{**vars(examples.GET), "threads": 256, "seconds": 12.0},
    offered_rps=104.0,
    seed=3,
    component="authserver",
)
TIMES = {"mean": 1.0, "p50": 0.9, "p90": 1.0, "p99": 3.0, "max": 4.0}
OPEN = {"due": 1250, "given_up": 0, "service_time_ms": TIMES, "lateness_ms": TIMES}
FAILED = {"total": 450, "unavailable": 450}


def result(series: Series = outages.SERIES, **changes) -> Result:
    usual = {"requests": 800, "bytes": 800_000, "errors": FAILED, "open_loop": OPEN}
    return replace(examples.result(LOAD, **{**usual, **changes}), series=series)


class FailoverTest(unittest.TestCase):
    def test_it_is_an_open_loop_that_needs_a_series(self):
        flags = " ".join(LOAD.command_flags())
        self.assertTrue(flags.endswith("--rate 104 --arrivals poisson --seed 3"))
        self.assertTrue(LOAD.needs_series)
        self.assertFalse(examples.GET.needs_series)

    def test_a_server_is_killed_at_a_third_and_started_again_at_two_thirds(self):
        self.assertEqual(LOAD.kill, Kill("authserver", 4.0, 8.0))
        self.assertIsNone(examples.GET.kill)

    def test_requests_may_fail_once_the_server_was_killed(self):
        self.assertEqual(LOAD.failures(result()), [])

    def test_a_server_that_was_killed_cannot_say_what_it_served(self):
        self.assertIsNotNone(examples.result().made_in_all)
        self.assertIsNone(result().made_in_all)

    def test_what_is_no_failover_is_not_valid(self):
        late = "the load generator itself was late: …"
        early = outages.changed(2, ended=99, failed=1)
        for name, found, expected in (
            ("late", result(valid=False, invalid_because=[late]), f"load generator: {late}"),
            ("bytes", result(bytes=7), "7 bytes are not 800 requests of 1000"),
            ("due", result(open_loop={**OPEN, "due": 1251}), "1251 requests were due, 1250 ended"),
            (
                "early",
                result(early),
                "1 requests failed before the authserver was killed (unavailable 450)",
            ),
            (
                "short",
                result(outages.changed(12, ended=90)),
                "the series has 1240 requests, the result 1250",
            ),
            (
                "nothing killed",
                result(Series(outages.SERIES.seconds)),
                "the authserver was not killed and started again within the run",
            ),
        ):
            with self.subTest(name):
                self.assertEqual(LOAD.failures(found), [expected])

    def test_its_figures_are_those_of_an_open_loop_and_its_own(self):
        figures = LOAD.figures(result())
        self.assertLessEqual({one.name for one in failover.FIGURES}, set(figures))
        self.assertEqual((figures["failed_requests"], figures["first_answer_s"]), (450, 0.6))
        self.assertEqual((figures["p99_before_ms"], figures["p99_after_ms"]), (2.0, 2.0))
        self.assertEqual(figures["offered_rps"], 104.0)


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
        found = outcome.of_words({**counts, **times})
        self.assertEqual((found.t, found.failed, found.p99_ms), (3, 9, None))
        self.assertEqual(outcome.of_words({**counts, "p99_ms": "1.5"}).p99_ms, 1.5)
        with self.assertRaises(KeyError):
            outcome.of_words({"t": "3"})

    def test_events_are_counted_from_the_start_of_the_run(self):
        killed = outcome.Event(1000.25, "x killed")
        (event,) = outcome.Series().with_events([killed], 999.0).events
        self.assertEqual(event, outcome.Event(1.25, "x killed"))
