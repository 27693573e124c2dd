import unittest
from pathlib import Path

from test_checks import GOOD

from lab import loadgen


class LoadgenTest(unittest.TestCase):
    def test_a_get_asks_for_different_files_and_keeps_its_password_to_itself(self):
        load = loadgen.Load(
            "get",
            "127.0.0.1:1",
            4,
            2.0,
            0.5,
            ("--connection", "per-request"),
            "ann",
            "secret",
            "1KB",
            250,
        )
        self.assertEqual(
            " ".join(load.command(Path("loadgen"))),
            "loadgen get --server 127.0.0.1:1 --threads 4 --seconds 2 --warmup 0.5 --user ann "
            "--file 1KB%d.txt --unique 250 --connection per-request --json -",
        )

    def test_a_cold_run_asks_for_no_file_twice(self):
        load = loadgen.Load("get", "127.0.0.1:1", 4, 2.0, 0, (), "ann", "", "1KB", 250, True)
        self.assertIn(
            "--seconds 2 --warmup 0 --user ann --file 1KB%d.txt --unique 250 --once",
            " ".join(load.command(Path("loadgen"))),
        )

    def test_a_new_has_no_user_and_no_file(self):
        load = loadgen.Load("new", "127.0.0.1:1", 4, 2.0, 0.5)
        self.assertEqual(
            set(load.command(Path("loadgen"))) & {"--user", "--file", "--unique"}, set()
        )

    def test_the_noise_is_that_of_the_whole_seconds(self):
        seconds = [{"requests": 100}, {"requests": 110}, {"requests": 3}]
        self.assertAlmostEqual(loadgen.parse({**GOOD, "per_second": seconds}).noise, 5 / 105)

    def test_a_missing_field_is_noticed(self):
        with self.assertRaises(KeyError):
            loadgen.parse({name: value for name, value in GOOD.items() if name != "window"})


if __name__ == "__main__":
    unittest.main()
