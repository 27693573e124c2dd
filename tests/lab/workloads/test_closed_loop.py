"""The load generator's command line and its result."""

import unittest
from dataclasses import replace

import examples

from lab.workloads import closed_loop

GET = closed_loop.Load(
    request="get",
    server="127.0.0.1:1",
    threads=4,
    seconds=2.0,
    warmup_s=0,
    user="ann",
    password="secret",
    size_name="1KB",
    files_per_thread=250,
)


class LoadgenTest(unittest.TestCase):
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

    def test_the_noise_is_that_of_the_whole_seconds(self):
        seconds = [{"requests": 100}, {"requests": 110}, {"requests": 3}]
        self.assertAlmostEqual(
            closed_loop.parse({**examples.LOADGEN_RESULT, "per_second": seconds}).noise, 5 / 105
        )

    def test_a_missing_field_is_noticed(self):
        with self.assertRaises(KeyError):
            closed_loop.parse(
                {name: value for name, value in examples.LOADGEN_RESULT.items() if name != "window"}
            )


if __name__ == "__main__":
    unittest.main()
