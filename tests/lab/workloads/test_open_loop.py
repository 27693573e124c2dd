"""A run by a schedule: its command line, and what is wrong with its result."""

import unittest
from dataclasses import replace

import examples

from lab.observe.usage import Usage
from lab.procedures import checks
from lab.workloads import closed_loop, open_loop
from lab.workloads.outcome import Result

LOAD = open_loop.Load(
    request="get",
    server="127.0.0.1:1",
    threads=256,
    seconds=2.0,
    warmup_s=0,
    user="ann",
    password="secret",
    size_name="1KB",
    size_bytes=1000,
    files_per_thread=10,
    offered_rps=4000.0,
    seed=3,
)
TIMES = {"mean": 1.0, "p50": 0.9, "p90": 1.0, "p99": 3.0, "max": 4.0}
OPEN = {"due": 8000, "given_up": 0, "service_time_ms": TIMES, "lateness_ms": TIMES}


def result(opened=None, **changes) -> Result:
    raw = {**examples.LOADGEN_RESULT, "n_check": None, "open_loop": {**OPEN, **(opened or {})}}
    return closed_loop.parse({**raw, **changes})


class OpenLoopTest(unittest.TestCase):
    def test_requests_are_due_at_random_moments_that_a_seed_fixes(self):
        flags = " ".join(LOAD.command_flags())
        self.assertIn("--threads 256 --seconds 2 --warmup 0 --user ann", flags)
        self.assertTrue(flags.endswith("--rate 4000 --arrivals poisson --seed 3"), flags)

    def test_a_good_result_has_no_failure_and_no_n(self):
        self.assertEqual(open_loop.failures(LOAD, result()), [])
        self.assertIsNone(result().n_check)

    def test_every_request_that_was_due_must_have_ended(self):
        self.assertEqual(
            open_loop.failures(LOAD, result({"due": 8001})),
            ["8001 requests were due, 8000 ended"],
        )

    def test_the_rate_must_be_that_which_was_asked_for(self):
        """The standard deviation of 8000 is 89."""
        self.assertEqual(open_loop.failures(replace(LOAD, offered_rps=4200.0), result()), [])
        self.assertEqual(
            open_loop.failures(replace(LOAD, offered_rps=4250.0), result()),
            ["8000 requests were due, 8500 were wanted"],
        )

    def test_a_late_generator_is_a_failure(self):
        late = result(valid=False, invalid_because=["the load generator itself was late: …"])
        self.assertEqual(
            open_loop.failures(LOAD, late),
            ["load generator: the load generator itself was late: …"],
        )

    def test_a_server_that_is_too_slow_is_a_result(self):
        slow = {"total": 2000, "timeout": 500, "unfinished": 1500}
        self.assertEqual(
            open_loop.failures(LOAD, result({"due": 10_000}, errors=slow)),
            ["10000 requests were due, 8000 were wanted"],
        )
        self.assertEqual(
            open_loop.failures(
                replace(LOAD, offered_rps=5000.0), result({"due": 10_000}, errors=slow)
            ),
            [],
        )

    def test_other_errors_are_a_failure(self):
        denied = {"total": 100, "denied": 100}
        self.assertEqual(
            open_loop.failures(LOAD, result({"due": 8100}, errors=denied)),
            ["1.2% errors (denied 100)"],
        )

    def test_every_byte_must_be_there(self):
        self.assertEqual(
            open_loop.failures(LOAD, result(bytes=7)), ["7 bytes are not 8000 requests of 1000"]
        )

    def test_nothing_succeeded(self):
        nothing = result(requests=0, invalid_because=["no request succeeded"])
        self.assertIn("no request succeeded", open_loop.failures(LOAD, nothing))

    def test_requests_that_were_never_sent_are_none_that_the_servers_could_count(self):
        slow = {"total": 30, "timeout": 10, "unfinished": 20}
        self.assertEqual(result(errors=slow).made_in_all, 8010)

    def test_a_point_is_judged_by_its_own_workload(self):
        quiet: Usage = examples.usage(core_busy=0.1)
        self.assertEqual(checks.failures(LOAD, result(), quiet), [])
        closed = closed_loop.Load(
            request="get", server="", threads=4, seconds=2.0, warmup_s=0, size_bytes=1000
        )
        balanced = closed_loop.parse(examples.LOADGEN_RESULT)
        self.assertEqual(
            checks.failures(replace(closed, threads=5), balanced, quiet), ["X·R is 0.800 of N"]
        )


if __name__ == "__main__":
    unittest.main()
