"""The pieces of files, as filefrag counts them."""

import tempfile
import unittest
from pathlib import Path

import examples
from needs import found, missing

from lab.observe import residency

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
