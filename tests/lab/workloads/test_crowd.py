"""A crowd of slow users: its command line, and what its result says."""

import copy
import unittest
from dataclasses import replace

import examples

from lab.procedures import checks

LOAD = replace(examples.CROWD, engine="sigio", flags=("--protocol", "ftp"))

# What `loadgen get --users 100 --json` prints.
RESULT = {
    "started_unix_s": 100.0,
    "elapsed_s": 20.0,
    "steady_s": 6.0,
    "end": "stable",
    "users": {"asked": 100, "started": 100, "held": 100, "without_fetch": 0, "dropped": 0},
    "drop_outs": {"in_first_fetch": 0, "causes": {}, "first_reasons": {}, "times": []},
    "requests": 200,
    "bytes": 2_000_000,
    "rate_error": {"users": 100, "worst": 0.02, "p50": 0.001, "share_within_5_percent": 1},
    "wakeups": {
        "wakeups": 400,
        "useful_reads": 200,
        "per_useful_read": 2.0,
        "signal_overflows": 3,
    },
    "valid": True,
    "invalid_because": [],
    "run_delay": {"share": 0.01, "is_starved": False},
    "cpu": {"least_cores": 0.1, "used_cores": 0.2, "most_cores": 0.3, "allowed_cores": 2},
}


def raw(**users) -> dict:
    changed = copy.deepcopy(RESULT)
    changed["users"].update(users)
    return changed


class CrowdTest(unittest.TestCase):
    def test_each_user_logs_in_once_and_reads_one_file_at_its_rate(self):
        flags = " ".join(LOAD.command_flags())
        self.assertTrue(flags.startswith("get --server 127.0.0.1:1 --users 100 --user ann "), flags)
        for part in (
            "--file 10KB1.txt",
            "--pace 1000 --engine sigio --least-rate 75 --ramp 2",
            "--until-stable 5 --protocol ftp",
        ):
            self.assertIn(part, flags)
        self.assertNotIn("secret", flags)

    def test_what_is_measured_is_the_time_in_which_the_number_was_stable(self):
        found = LOAD.parse(raw())
        self.assertEqual((found.start_s, found.end_s), (114.0, 120.0))
        self.assertEqual((found.requests, found.throughput_rps), (200, 10.0))
        self.assertEqual(found.response_ms, {"mean": 10_000.0})  # by Little's law

    def test_users_that_drop_out_are_the_answer_and_no_fault(self):
        found = LOAD.parse(raw(held=60))
        self.assertEqual(LOAD.failures(found), [])
        self.assertEqual(LOAD.figures(found)["users_held"], 60)

    def test_a_generator_at_its_limit_says_nothing_about_users_that_drop_out(self):
        for held, expected in ((100, 0), (60, 1)):
            saturated = raw(held=held)
            saturated["cpu"]["most_cores"] = 1.9
            self.assertEqual(len(LOAD.failures(LOAD.parse(saturated))), expected)

    def test_what_the_generator_says_of_itself_makes_a_trial_invalid(self):
        late = "loadgen itself was late"
        found = LOAD.parse({**raw(held=60), "valid": False, "invalid_because": [late]})
        self.assertFalse(found.is_valid)
        self.assertEqual(LOAD.failures(found), [f"load generator: {late}"])

    def test_without_a_fetch_there_is_no_rate_error(self):
        without = raw(held=0)
        without["rate_error"] = {"users": 0, "worst": None, "p50": None}
        self.assertIsNone(LOAD.figures(LOAD.parse(without))["rate_error_worst"])

    def test_other_programs_spoil_a_crowd_only_when_users_dropped_out(self):
        idle = dict.fromkeys(("fileserver", "loadgen"), 0.0)
        disturbed = examples.usage(idle, core_busy=0.5)  # by nobody that the lab knows
        self.assertEqual(checks.failures(LOAD, LOAD.parse(raw()), disturbed), [])
        left = LOAD.parse(raw(held=60))
        self.assertEqual(checks.failures(LOAD, left, disturbed, has_ended=True), [])
        found = checks.failures(LOAD, left, disturbed)
        self.assertIn("other programs used", " ".join(found))
