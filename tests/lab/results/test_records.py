"""points.csv and environment.json: what is written is read back."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.results.records import Folder


class RecordsTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Folder(Path(temporary.name))
        self.folder.create()

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
        self.assertEqual((self.folder.runs(), self.folder.environment()), ([], {}))


if __name__ == "__main__":
    unittest.main()
