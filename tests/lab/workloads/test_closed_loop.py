"""The load generator's command line, its result, and what is wrong with one."""

import unittest
from dataclasses import replace

import examples
from examples import GET, result


class ClosedLoopTest(unittest.TestCase):
    def test_a_get_asks_for_different_files_and_keeps_its_password_to_itself(self):
        load = replace(GET, warmup_s=0.5, flags=("--connection", "per-request"))
        self.assertEqual(
            " ".join(load.command_flags()),
            "get --server 127.0.0.1:1 --threads 4 --seconds 2 --warmup 0.5 --user ann "
            "--file 1KB%d.txt --unique 250 --connection per-request",
        )

    def test_a_cold_run_asks_for_no_file_twice(self):
        self.assertIn(
            "--seconds 2 --warmup 0 --user ann --file 1KB%d.txt --unique 250 --once",
            " ".join(replace(GET, asks_once=True).command_flags()),
        )

    def test_a_new_has_no_user_and_no_file(self):
        flags = replace(GET, request="new").command_flags()
        self.assertEqual(set(flags) & {"--user", "--file", "--unique"}, set())

    def test_a_new_leaves_out_what_only_a_get_has(self):
        flags = ("--connection", "keep-alive", "--pipeline")
        self.assertEqual(replace(GET, flags=flags).command_flags()[-3:], [*flags])
        made = replace(GET, request="new", flags=flags).command_flags()
        self.assertEqual(made[-2:], [*flags[:2]])

    def test_the_noise_is_that_of_the_whole_seconds(self):
        seconds = [{"requests": 100}, {"requests": 110}, {"requests": 3}, {"requests": 1}]
        self.assertAlmostEqual(result(elapsed_s=2.9, per_second=seconds).noise, 5 / 105)
        self.assertAlmostEqual(result(elapsed_s=2.0, per_second=seconds[:2]).noise, 5 / 105)

    def test_all_requests_are_known_so_that_the_servers_count_can_be_compared(self):
        made = result(warmup_requests=500, cooldown_requests=3, errors={"total": 2, "busy": 2})
        self.assertEqual(made.made_in_all, 8505)
        self.assertIsNone(result(connection="keep-alive").made_in_all)

    def test_a_missing_field_is_noticed(self):
        with self.assertRaises(KeyError):
            GET.parse(
                {
                    name: value
                    for name, value in examples.LOADGEN_RESULT.items()
                    if name != "started_unix_s"
                }
            )

    def test_a_result_is_none_of_its_load_when_something_of_it_does_not_fit(self):
        few, many = {"total": 80, "busy": 80}, {"total": 90, "busy": 90}
        ports = "short of ports"
        for changes, expected in (
            ({}, []),
            ({"bytes": 7_999_999}, ["7999999 bytes are not 8000 requests of 1000"]),
            ({"errors": few}, []),
            ({"errors": many}, ["1.1% errors (busy 90)"]),
            ({"valid": False, "invalid_because": [ports]}, [f"load generator: {ports}"]),
            ({"requests": 0, "throughput_rps": 0.0, "bytes": 0}, ["no request succeeded"]),
        ):
            with self.subTest(**changes):
                self.assertEqual(GET.failures(result(**changes)), expected)

    def test_littles_law_must_hold(self):
        self.assertEqual(replace(GET, threads=5).failures(result()), ["X·R is 0.800 of N"])

    def test_with_think_time_the_pauses_are_part_of_the_law(self):
        paused = result(think_s=0.001)
        self.assertEqual(replace(GET, threads=8).failures(paused), [])
        self.assertEqual(GET.failures(paused), ["X·(R + Z) is 2.000 of N"])
        self.assertEqual(GET.figures(paused), {"n_check": 2.0})

    def test_accounts_have_no_bytes_to_check(self):
        self.assertEqual(replace(GET, size_bytes=0).failures(result(bytes=0)), [])
