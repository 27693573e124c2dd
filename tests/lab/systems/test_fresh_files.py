"""Files that are made anew for each burst."""

import unittest

import examples

from lab.procedures import checks
from lab.systems import fresh_files, programs
from rig import files
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


class FileMemoryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = examples.folder(self)

    def limit(self, size_bytes: int, share: float) -> int:
        for number in range(10):
            with open(self.root / f"f{number}", "wb") as file:
                file.truncate(size_bytes)
        return programs.limit_bytes(self.root, share)

    def test_each_file_of_the_part_counts_with_its_name(self):
        self.assertEqual(self.limit(1000, 0.3), 3 * (482 + 1000))
        self.assertEqual(self.limit(1000, 1.5), 15 * (482 + 1000))

    def test_large_files_take_whole_blocks(self):
        self.assertEqual(self.limit(16_383, 1), 10 * (482 + 16_383))
        self.assertEqual(self.limit(16_385, 0.1), 482 + 20_480)


class LinkedFilesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.work = examples.folder(self)
        self.source = self.work / "source"
        self.source.mkdir()
        self.names = [f"{number}.txt" for number in range(1, 31)]
        for name in self.names:
            (self.source / name).write_text(name)

    def test_it_has_just_these_files_and_what_is_written_stays_out_of_the_others(self):
        with files.linked_folder(self.work, self.source, self.names[:20]) as made:
            self.assertEqual({one.name for one in made.iterdir()}, set(self.names[:20]))
            self.assertEqual((made / "7.txt").read_text(), "7.txt")
            (made / "written").write_text("x")
        self.assertFalse(made.exists())
        self.assertEqual({one.name for one in self.source.iterdir()}, set(self.names))

    def test_what_a_lab_left_that_was_killed_is_removed(self):
        left = self.work / "linked" / "left"
        left.parent.mkdir()
        left.write_text("x")
        with files.linked_folder(self.work, self.source, self.names[:1]) as made:
            self.assertEqual([one.name for one in made.iterdir()], ["1.txt"])
