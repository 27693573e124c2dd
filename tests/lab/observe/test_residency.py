"""How much of a file is in the page cache, asked of the kernel."""

import os
import unittest
from pathlib import Path

import examples

from lab.observe import residency

PAGES = 64


class ResidencyTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self, Path(__file__).parent)

    def written(self, name: str) -> Path:
        path = self.folder / name
        with open(path, "wb") as file:
            file.write(os.urandom(PAGES * os.sysconf("SC_PAGE_SIZE")))
            file.flush()
            os.fsync(file.fileno())
        return path

    def forget(self, path: Path) -> None:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def test_what_was_just_written_is_in_memory_and_what_was_thrown_out_is_not(self) -> None:
        one, other = self.written("one"), self.written("other")
        self.assertEqual(residency.share([one, other]), 1.0)
        self.forget(other)
        if residency.share([other]) == 1.0:
            self.skipTest("this file system keeps its files in memory")
        self.assertEqual(residency.share([other]), 0.0)
        self.assertEqual(residency.share([one, other]), 0.5)

    def test_without_a_page_there_is_no_share(self) -> None:
        (self.folder / "empty").touch()
        self.assertIsNone(residency.share([self.folder / "empty"]))
        self.assertIsNone(residency.share([]))
