"""The memory for a part of the files is what our fileserver counts."""

import unittest

import examples

from lab.systems import file_memory
from rig import files


class FileMemoryTest(unittest.TestCase):
    def setUp(self) -> None:
        self.root = examples.folder(self)

    def limit(self, size_bytes: int, share: float) -> int:
        for number in range(10):
            with open(self.root / f"f{number}", "wb") as file:
                file.truncate(size_bytes)
        return file_memory.limit_bytes(self.root, share)

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
