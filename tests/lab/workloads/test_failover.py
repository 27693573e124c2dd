"""An open loop in which a server is killed: its command line, and what is wrong with its result."""

import unittest
from dataclasses import replace

import examples
import outages

from lab.kinds.failover import load as failover
from lab.workloads.load import Kill
from lab.workloads.outcome import Result
from lab.workloads.series import Series

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
