"""A run by a schedule: its command line, and what is wrong with its result."""

import unittest
from dataclasses import replace

import examples

from lab.kinds.open_loop import load as open_loop
from lab.observe.usage import Usage
from lab.procedures import checks
from lab.workloads.outcome import Result

LOAD = open_loop.OpenLoop(
    **{**vars(examples.GET), "threads": 256, "files_per_thread": 10}, offered_rps=4000.0, seed=3
)
TIMES = {"mean": 1.0, "p50": 0.9, "p90": 1.0, "p99": 3.0, "max": 4.0}
OPEN = {"due": 8000, "given_up": 0, "service_time_ms": TIMES, "lateness_ms": TIMES}


def result(opened=None, **changes) -> Result:
    scheduled = {**OPEN, **(opened or {})}
    return examples.result(LOAD, **{"n_check": None, "open_loop": scheduled, **changes})


class OpenLoopTest(unittest.TestCase):
    def test_requests_are_due_at_random_moments_that_a_seed_fixes(self):
        flags = " ".join(LOAD.command_flags())
        self.assertIn("--threads 256 --seconds 2 --warmup 0 --user ann", flags)
        self.assertTrue(flags.endswith("--rate 4000 --arrivals poisson --seed 3"), flags)

    def test_its_figures_are_of_the_schedule_and_none_is_of_n(self):
        self.assertEqual(set(LOAD.figures(result())), {one.name for one in open_loop.FIGURES})

    def test_a_result_is_none_of_its_load_when_something_of_it_does_not_fit(self):
        denied = {"total": 100, "denied": 100}
        late, nothing = "the load generator itself was late: …", "no request succeeded"
        empty = result(requests=0, invalid_because=[nothing])
        for name, found, expected in (
            ("good", result(), []),
            ("late", result(valid=False, invalid_because=[late]), [f"load generator: {late}"]),
            ("errors", result({"due": 8100}, errors=denied), ["1.2% errors (denied 100)"]),
            ("bytes", result(bytes=7), ["7 bytes are not 8000 requests of 1000"]),
            ("nothing", empty, [f"load generator: {nothing}", nothing]),
        ):
            with self.subTest(name):
                self.assertEqual(LOAD.failures(found), expected)

    def test_every_request_that_was_due_must_have_ended(self):
        found = LOAD.failures(result({"due": 8001}))
        self.assertEqual(found, ["8001 requests were due, 8000 ended"])

    def test_the_rate_must_be_that_which_was_asked_for(self):
        """The standard deviation of 8000 is 89."""
        for rate, expected in (
            (4200.0, []),
            (4250.0, ["8000 requests were due, 8500 were wanted"]),
        ):
            self.assertEqual(replace(LOAD, offered_rps=rate).failures(result()), expected)

    def test_a_server_that_is_too_slow_is_a_result(self):
        slow = {"total": 2000, "timeout": 500, "unfinished": 1500}
        found = result({"due": 10_000}, errors=slow)
        self.assertEqual(LOAD.failures(found), ["10000 requests were due, 8000 were wanted"])
        self.assertEqual(replace(LOAD, offered_rps=5000.0).failures(found), [])

    def test_requests_that_were_never_sent_are_none_that_the_servers_could_count(self):
        slow = {"total": 30, "timeout": 10, "unfinished": 20}
        self.assertEqual(result(errors=slow).made_in_all, 8010)

    def test_a_point_is_judged_by_its_own_workload(self):
        quiet: Usage = examples.usage(core_busy=0.1)
        self.assertEqual(checks.failures(LOAD, result(), quiet), [])
        five = replace(examples.GET, threads=5)
        found = checks.failures(five, examples.result(), quiet)
        self.assertEqual(found, ["X·R is 0.800 of N"])
