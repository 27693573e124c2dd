"""How much of a file is in the page cache, asked of the kernel."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import examples
from needs import found, missing

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
        kind = subprocess.run(
            ["stat", "-f", "-c", "%T", other], capture_output=True, text=True, check=True
        )
        if kind.stdout.strip() in ("tmpfs", "ramfs"):
            self.skipTest("this file system keeps its files in memory")
        self.assertEqual(residency.share([other]), 0.0)
        self.assertEqual(residency.share([one, other]), 0.5)

    def test_without_a_page_there_is_no_share(self) -> None:
        (self.folder / "empty").touch()
        self.assertIsNone(residency.share([self.folder / "empty"]))
        self.assertIsNone(residency.share([]))


_FILEFRAG = found("filefrag")


class ExtentsTest(unittest.TestCase):
    @unittest.skipIf(missing("filefrag"), missing("filefrag"))
    def test_a_file_with_a_hole_has_more_pieces_than_one_without(self) -> None:
        """The hole is larger than a disk, because the piece behind a small one may lie just where
        it would lie without a hole. Then the file is in one piece."""
        with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
            whole, holed = Path(folder) / "whole", Path(folder) / "holed"
            whole.write_bytes(bytes(range(256)) * 16)
            with open(holed, "wb") as file:
                file.write(b"x" * 4096)
                file.seek(8 << 40)
                file.write(b"x" * 4096)
            found = residency.of_files([whole, holed])
        if found is None or found[0] == 0:
            self.skipTest("this file system does not tell")
        self.assertEqual(len(found), 2)
        self.assertGreater(found[1], found[0])

    def test_what_is_not_there_is_not_told(self) -> None:
        self.assertIsNone(residency.of_files([examples.folder(self) / "none"]))
        self.assertIsNone(residency.of_files([]))

    def test_the_sentence_has_the_mean_and_the_most(self) -> None:
        self.assertEqual(residency.sentence([1, 1]), "each in one piece")
        self.assertEqual(residency.sentence([1, 4]), "in 2.5 pieces on average, at most 4")
