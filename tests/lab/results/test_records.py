"""points.csv and environment.json: what is written is read back."""

import csv
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.results.records import Folder
from lab.rig.errors import Failed


class RecordsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Folder(Path(temporary.name))
        self.folder.prepare()

    def test_a_run_comes_back_as_it_was(self):
        runs = [
            examples.run(),
            examples.run(
                4,
                2500.0,
                2,
                errors="busy 3",
                failures="a, b; c",
                notes='said "so"',
                is_generator_limit=True,
            ),
        ]
        for run in runs:
            self.folder.add(run, {"samples": [1]})
        self.assertEqual(self.folder.runs(), runs)
        self.assertEqual(self.folder.evidence(runs[1]), {"samples": [1]})

    def test_a_component_that_was_not_there_stays_away(self):
        run = examples.run(used=examples.usage({"fileserver": 0.5, "loadgen": 0.5}))
        self.folder.add(run, {})
        self.assertEqual(list(self.folder.runs()[0].usage.components), ["fileserver", "loadgen"])

    def test_all_points_can_be_written_again(self):
        run = examples.run()
        self.folder.add(run, {})
        self.folder.replace([replace(run, failures="counted otherwise")])
        self.assertFalse(self.folder.runs()[0].is_valid)

    def test_an_empty_folder_has_nothing(self):
        self.assertEqual((self.folder.runs(), self.folder.find_environment()), ([], None))


class OtherVersionsTest(unittest.TestCase):
    """points.csv of an older or newer lab, which measured less or more."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Folder(Path(temporary.name))
        self.folder.prepare()
        self.folder.add(examples.run(), {})
        self.points = self.folder.path / "points.csv"

    def change(self, without: tuple[str, ...] = (), **more: str) -> None:
        with open(self.points, newline="", encoding="utf-8") as file:
            rows = [{**row, **more} for row in csv.DictReader(file)]
        kept = [name for name in rows[0] if name not in without]
        with open(self.points, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, kept, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)

    def test_columns_are_read_by_name_and_a_missing_one_was_not_measured(self):
        self.change(("p99_ms", "fileserver_threads", "accepts_per_s"))
        (run,) = self.folder.runs()
        used = run.usage
        self.assertEqual(
            (run.p99_ms, used.components["fileserver"].threads, used.accepts_per_s), (None,) * 3
        )
        self.assertEqual(
            (run.p90_ms, used.components["authserver"].threads), (examples.run().p90_ms, 3)
        )

    def test_the_points_of_a_component_that_this_version_does_not_know_are_read(self):
        self.change(cache_cpu_cores="0.25")
        self.assertEqual(self.folder.runs()[0].usage.components["cache"].cpu_cores, 0.25)

    def test_a_run_without_its_throughput_is_none(self):
        self.change(("throughput_rps",))
        with self.assertRaisesRegex(Failed, "has no column 'throughput_rps'"):
            self.folder.runs()

    def test_what_says_that_a_run_is_invalid_may_not_be_missing(self):
        self.change(("failures",))
        with self.assertRaisesRegex(Failed, "has no column 'failures'"):
            self.folder.runs()

    def test_an_older_folder_takes_further_points(self):
        self.change(("p99_ms",))
        self.folder.prepare()
        self.folder.add(examples.run(2), {})
        self.assertEqual([run.p99_ms for run in self.folder.runs()], [None, 2.0])

    def test_a_newer_folder_is_read_but_not_written(self):
        self.change(colour="red")
        self.assertEqual(self.folder.runs(), [examples.run()])
        with self.assertRaisesRegex(Failed, "newer lab, which measured colour"):
            self.folder.prepare()


if __name__ == "__main__":
    unittest.main()
