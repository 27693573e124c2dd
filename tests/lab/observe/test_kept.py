"""What a killed program had of a file, and what of it was sent again."""

import os
import unittest
from pathlib import Path

import examples

from lab.observe import kept
from lab.observe.kept import Kept
from lab.observe.log_formats import Served

PAGE = os.sysconf("SC_PAGE_SIZE")


def served(start_s: float, sent: int, *parts: tuple[int, int]) -> Served:
    return Served(
        start_s=start_s,
        end_s=start_s + 1,
        bytes=sent,
        peer_address="",
        name="a",
        is_whole=False,
        resolution_s=1e-6,
        parts=parts,
    )


class KeptInTest(unittest.TestCase):
    def setUp(self) -> None:
        self.file = examples.folder(self) / "part"

    def test_it_is_the_data_without_the_holes(self) -> None:
        with open(self.file, "wb") as file:
            file.write(b"x" * PAGE)
            file.seek(1024 * PAGE)
            file.write(b"x" * 10)
            file.truncate(2048 * PAGE)
        found = kept.kept_in(self.file)
        if len(found) == 1:
            self.skipTest("this file system knows no holes")
        (first, last), (second, end) = found
        self.assertEqual((first, second), (0, 1024 * PAGE))
        self.assertTrue(PAGE - 1 <= last < 1024 * PAGE, found)
        self.assertTrue(1024 * PAGE + 9 <= end < 2048 * PAGE, found)

    def test_a_file_in_one_piece_ends_where_it_ends(self) -> None:
        self.file.write_bytes(b"x" * 5000)
        self.assertEqual(kept.kept_in(self.file), ((0, 4999),))

    def test_no_file_and_an_empty_one_have_nothing(self) -> None:
        self.assertEqual(kept.kept_in(self.file), ())
        self.file.touch()
        self.assertEqual(kept.kept_in(self.file), ())
        self.assertEqual(kept.kept_in(Path("/nowhere/at/all")), ())


class SentAgainTest(unittest.TestCase):
    def test_one_that_goes_on_where_it_was_gets_nothing_again(self) -> None:
        """Although the server sent 700 bytes before the kill, of which 500 came."""
        lines = [served(10.0, 700), served(20.5, 500, (500, 999))]
        self.assertEqual(kept.sent_again(lines, [Kept(20.0, ((0, 499),))]), 0)

    def test_one_that_begins_again_gets_all_again_that_it_had(self) -> None:
        lines = [served(10.0, 700), served(20.5, 1000)]
        self.assertEqual(kept.sent_again(lines, [Kept(20.0, ((0, 99), (300, 499)))]), 300)

    def test_only_what_was_sent_of_what_was_asked_for_counts(self) -> None:
        again = served(20.5, 150, (0, 99), (200, 399))
        self.assertEqual(kept.sent_again([again], [Kept(20.0, ((50, 299),))]), 50 + 50)

    def test_each_kill_has_its_own(self) -> None:
        lines = [served(20.5, 100, (0, 99)), served(30.5, 100, (0, 99))]
        had = Kept(20.0, ((0, 49),)), Kept(30.0, ((0, 99),))
        self.assertEqual(kept.sent_again(lines, had), 50 + 100)
        self.assertEqual(kept.sent_again(lines, []), 0)
