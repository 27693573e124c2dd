"""What a server sent of a file: whether it makes it up."""

import unittest

from lab.observe.log_formats import Served, make_up


def one(*parts: tuple[int, int], size: int | None = None, is_whole: bool = True) -> Served:
    count = sum(last - first + 1 for first, last in parts) if size is None else size
    return Served(
        start_s=0.0,
        end_s=1.0,
        bytes=count,
        peer_address="",
        name="a",
        is_whole=is_whole,
        resolution_s=1e-6,
        parts=parts,
    )


class MakeUpTest(unittest.TestCase):
    def test_parts_in_any_order_make_up_a_file(self) -> None:
        self.assertTrue(make_up([one((50, 99)), one((0, 49))], 100))
        self.assertTrue(make_up([one((0, 9), (90, 99)), one((10, 89))], 100))

    def test_a_transfer_without_parts_is_the_whole_file(self) -> None:
        self.assertTrue(make_up([one(size=100)], 100))
        self.assertFalse(make_up([one(size=99)], 100))

    def test_a_gap_a_part_that_was_sent_twice_and_a_missing_end_are_told(self) -> None:
        self.assertFalse(make_up([one((0, 49)), one((51, 99))], 100))
        self.assertFalse(make_up([one((0, 49)), one((49, 99))], 100))
        self.assertFalse(make_up([one((0, 49)), one((50, 98))], 100))
        self.assertFalse(make_up([one((0, 99)), one((0, 99))], 100))
        self.assertFalse(make_up([], 100))

    def test_a_gap_is_told_that_another_part_makes_good_in_bytes(self) -> None:
        self.assertFalse(make_up([one((0, 59)), one((50, 79)), one((90, 99))], 100))

    def test_what_broke_off_does_not_count(self) -> None:
        self.assertFalse(make_up([one((0, 49)), one((50, 99), is_whole=False)], 100))
        self.assertTrue(make_up([one((0, 99)), one((0, 99), size=10, is_whole=False)], 100))

    def test_fewer_bytes_than_the_parts_have_are_told(self) -> None:
        self.assertFalse(make_up([one((0, 99), size=60)], 100))
