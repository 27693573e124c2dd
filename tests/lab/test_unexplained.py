"""What tests of real runs take for the doing of a busy machine, and what not."""

import unittest

from real_lab import unexplained

STARVED = (
    "load generator: loadgen's threads waited for a core for 1.500 ms of each request, 40% of its "
    "time; use fewer threads, or give loadgen cores of its own (taskset)"
)


class UnexplainedTest(unittest.TestCase):
    def test_a_valid_run_has_no_reason(self) -> None:
        self.assertEqual(unexplained(""), [])

    def test_a_busy_machine_explains_what_it_does(self) -> None:
        busy = "other programs used 31% of the cores"
        stopped = (
            "load generator: loadgen itself stood still for 0.4 s (stopped, or without a core)"
        )
        self.assertEqual(unexplained("; ".join([busy, STARVED, stopped])), [])

    def test_it_does_not_explain_a_wrong_result(self) -> None:
        wrong = "5 bytes are not 4 transfers of 9"
        self.assertEqual(unexplained(f"{STARVED}; {wrong}"), [wrong])
        self.assertEqual(unexplained(f"{wrong}; {STARVED}"), [wrong])

    def test_a_workload_has_reasons_of_its_own(self) -> None:
        said = "a tester began 812 ms late"
        self.assertEqual(unexplained(said), [said])
        self.assertEqual(unexplained(said, r"a tester began \d+ ms late"), [])
