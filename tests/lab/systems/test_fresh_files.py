"""Files that are made anew for each burst."""

import unittest

import examples

from lab.procedures import checks
from lab.systems import fresh_files
from rig.errors import Failed


class FreshFilesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.work = examples.folder(self)

    def test_each_is_another_file_of_the_size_and_nothing_is_left(self) -> None:
        with fresh_files.folder(self.work) as folder:
            files = [folder / "1KB1.txt", folder / "1KB2.txt"]
            fresh_files.make(files, 1000, None)
            before = [file.read_bytes() for file in files]
            fresh_files.make(files, 1000, None)
            self.assertEqual([len(file.read_bytes()) for file in files], [1000, 1000])
            self.assertNotEqual([file.read_bytes() for file in files], before)
        self.assertEqual(list(self.work.iterdir()), [])

    def test_what_a_killed_lab_left_is_removed(self) -> None:
        (self.work / "fresh").mkdir()
        (self.work / "fresh" / "old").touch()
        with fresh_files.folder(self.work) as folder:
            self.assertEqual(list(folder.iterdir()), [])

    def test_a_file_that_cannot_be_written_is_a_failure(self) -> None:
        with self.assertRaises(Failed):
            fresh_files.make([self.work / "none" / "1KB1.txt"], 1000, None)

    def test_a_burst_of_dropped_files_that_are_in_memory_is_invalid(self) -> None:
        self.assertEqual(checks.files_in_memory(fresh_files.DROPPED, 0.0), [])
        self.assertEqual(checks.files_in_memory(fresh_files.CREATED, 1.0), [])
        self.assertEqual(
            checks.files_in_memory(fresh_files.DROPPED, 0.5),
            ["50% of the files were still in memory"],
        )
