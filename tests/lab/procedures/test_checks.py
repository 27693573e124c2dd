"""What makes a point invalid, and what is only a remark."""

import copy
import unittest

import examples

from lab.procedures import checks
from lab.workloads import closed_loop


def result(**changes) -> closed_loop.Result:
    raw = copy.deepcopy(examples.LOADGEN_RESULT)
    raw.update(changes)
    return closed_loop.parse(raw)


class ChecksTest(unittest.TestCase):
    def test_a_good_point_has_no_failure(self):
        self.assertEqual(checks.failures(result(), 4, 1000, examples.usage()), [])

    def test_littles_law_must_hold(self):
        self.assertEqual(
            checks.failures(result(), 5, 1000, examples.usage()), ["X·R is 0.800 of N"]
        )

    def test_every_byte_must_be_there(self):
        self.assertIn(
            "7999999 bytes are not 8000 requests of 1000",
            checks.failures(result(bytes=7_999_999), 4, 1000, examples.usage()),
        )

    def test_accounts_have_no_bytes_to_check(self):
        self.assertEqual(checks.failures(result(bytes=0), 4, 0, examples.usage()), [])

    def test_more_than_a_hundredth_of_errors_is_no_measurement(self):
        few, many = {"total": 80, "busy": 80}, {"total": 90, "busy": 90}
        self.assertEqual(checks.failures(result(errors=few), 4, 1000, examples.usage()), [])
        self.assertEqual(
            checks.failures(result(errors=many), 4, 1000, examples.usage()),
            ["1.1% errors (busy 90)"],
        )

    def test_a_machine_that_others_use_is_no_place_to_measure(self):
        busy = examples.usage({"fileserver": 0.2, "loadgen": 0.2}, core_busy=0.9)
        self.assertEqual(
            checks.failures(result(), 4, 1000, busy), ["other programs used 70% of the cores"]
        )

    def test_what_the_load_generator_says_of_itself_counts(self):
        self.assertEqual(
            checks.failures(
                result(valid=False, invalid_because=["short of ports"]), 4, 1000, examples.usage()
            ),
            ["load generator: short of ports"],
        )

    def test_a_run_without_a_request_fails(self):
        empty = result(requests=0, throughput_rps=0.0, bytes=0)
        self.assertEqual(
            checks.failures(empty, 4, 1000, examples.usage()), ["no request succeeded"]
        )

    def test_errors_are_shown_even_when_few(self):
        notes = checks.notes(
            examples.CELL, result(errors={"total": 2, "timeout": 2}), examples.usage(), False, 0
        )
        self.assertEqual(notes, ["errors: timeout 2"])

    def test_a_cold_point_must_read_from_the_disk(self):
        warm = checks.notes(examples.CELL, result(), examples.usage(), True, 0)
        self.assertEqual(warm, ["not cold: 0% of the bytes came from the disk"])
        disk = examples.disk_usage(0.9, read=4_100_000.0)
        self.assertEqual(
            checks.notes(examples.CELL, result(), examples.usage(disk=disk), True, 0), []
        )

    def test_the_servers_count_must_be_the_clients(self):
        self.assertEqual(checks.served_matches({"fileserver_connections": 5}, 5), "")
        self.assertEqual(checks.served_matches({}, 5), "")
        self.assertEqual(
            checks.served_matches({"fileserver_connections": 4, "authserver_requests": 5}, 5),
            "the fileserver took 4 connections, the clients made 5",
        )
        self.assertEqual(
            checks.served_matches({"fileserver_connections": 5, "authserver_requests": 4}, 5),
            "the authserver answered 4 requests, the clients made 5",
        )
        self.assertEqual(checks.served_matches({"authserver_requests": 4}, None), "")

    def test_a_point_that_others_disturbed_may_be_tried_again_whatever_else_failed(self):
        busy = examples.usage({"fileserver": 0.2, "loadgen": 0.2}, core_busy=0.9)
        self.assertTrue(checks.may_pass_again("; ".join(checks.failures(result(), 5, 1000, busy))))
        self.assertFalse(
            checks.may_pass_again("; ".join(checks.failures(result(), 5, 1000, examples.usage())))
        )


if __name__ == "__main__":
    unittest.main()
