"""Which numbers of threads a cell is swept over."""

import unittest

import examples

from lab.plan import plan
from lab.plan.catalog import NEW, Cell
from lab.plan.plan import Plan


class SweepsTest(unittest.TestCase):
    def ladder(self, made: Plan, row: str) -> tuple[int, ...]:
        return made.planned[Cell("redis", row)].sweep.ladder

    def test_there_are_no_more_threads_than_files(self) -> None:
        """Each thread asks for files of its own; one without a file would only have errors."""
        made = examples.planned("table4", mode="full")
        files = made.file_counts["100MB"]
        self.assertLess(files, self.ladder(made, "1KB")[-1])
        self.assertEqual(self.ladder(made, "100MB"), (1, 2, 4, 8, 16, 32, files))

    def test_a_new_account_needs_no_file(self) -> None:
        self.assertEqual(self.ladder(examples.planned("table4", mode="full"), NEW)[-1], 1024)

    def test_numbers_that_the_user_named_are_measured_as_they_are(self) -> None:
        made = examples.planned("table4", mode="full", threads=(8, 300))
        self.assertEqual(self.ladder(made, "100MB"), (8, 300))

    def test_a_resumed_folder_keeps_its_numbers_of_files(self) -> None:
        before = dict.fromkeys(examples.planned("table4").file_counts, 3)
        made = plan.make(examples.options("table4"), (0, 1), examples.folder(self), before)
        self.assertEqual(made.file_counts, before)
        self.assertEqual(made.planned[Cell("redis", "1KB")].file_count, 3)
        self.assertEqual(self.ladder(made, "1KB")[-1], 3)

    def test_a_profile_is_a_small_load_that_is_no_cell(self) -> None:
        made = examples.planned("figure3")
        (planned,) = made.profiles.values()
        self.assertEqual((made.cells, list(made.profiles)), ((), ["figure3"]))
        self.assertEqual((planned.steps, planned.file_count), ((4,), 64))
        self.assertEqual((planned.stage.cold, planned.pinning.plan), (False, "none"))
        self.assertEqual((planned.mode.seconds, planned.mode.warmup_s), (10.0, 0.0))
        self.assertEqual(examples.planned("figure3", rows=("1KB",)).profiles, {})
