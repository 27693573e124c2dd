"""What a server did in each second, by its record of transfers."""

import unittest

from lab.observe.served import Served, ServerSecond, per_second


def served(start_s: float, end_s: float, size: int = 100, *, is_whole: bool = True) -> Served:
    return Served(
        start_s=start_s,
        end_s=end_s,
        bytes=size,
        peer_address="127.0.0.1",
        name="a",
        is_whole=is_whole,
        resolution_s=1e-6,
    )


class PerSecondTest(unittest.TestCase):
    def test_bytes_are_spread_evenly_over_the_time_of_a_transfer(self) -> None:
        seconds = per_second([served(10.5, 13.0, 250)], 10.0, 14.0)
        self.assertEqual([one.bytes for one in seconds], [50, 100, 100, 0])
        self.assertEqual([one.under_way for one in seconds], [1, 1, 1, 0])
        self.assertEqual([one.started for one in seconds], [1, 0, 0, 0])
        self.assertEqual([one.ended for one in seconds], [0, 0, 0, 1])
        self.assertEqual([one.mean_ms for one in seconds], [None, None, None, 2500.0])
        self.assertEqual([one.t for one in seconds], [1, 2, 3, 4])

    def test_the_bytes_of_a_transfer_add_up_exactly(self) -> None:
        for size in (1, 7, 999_999_999_999_999):
            seconds = per_second([served(0.1, 6.9, size)], 0.0, 7.0)
            self.assertEqual(sum(one.bytes for one in seconds), size)
        seconds = per_second([served(0.0, 2.0, 2**60 + 1)], 0.0, 2.0)  # more digits than a float
        self.assertEqual(sum(one.bytes for one in seconds), 2**60 + 1)

    def test_a_transfer_without_length_moves_all_in_its_second(self) -> None:
        for moment in (5.0, 5.5):
            seconds = per_second([served(moment, moment, 9)], 4.0, 7.0)
            self.assertEqual([one.bytes for one in seconds], [0, 9, 0])
            self.assertEqual([one.started for one in seconds], [0, 1, 0])
            self.assertEqual([one.ended for one in seconds], [0, 1, 0])

    def test_one_that_failed_is_no_longer_under_way_and_has_no_time(self) -> None:
        seconds = per_second([served(0.0, 1.5, 10, is_whole=False)], 0.0, 2.0)
        self.assertEqual([(one.ended, one.failed) for one in seconds], [(0, 0), (0, 1)])
        self.assertEqual([one.under_way for one in seconds], [1, 0])
        self.assertEqual([one.mean_ms for one in seconds], [None, None])

    def test_what_lies_outside_of_the_window_is_left_out(self) -> None:
        across = served(0.0, 10.0, 1000)
        outside = [served(1.0, 2.9), served(6.0, 7.0)]
        seconds = per_second([across, *outside], 3.0, 6.0)
        second = {"under_way": 1, "started": 0, "ended": 0, "failed": 0}
        wanted = [ServerSecond(t=t, bytes=100, mean_ms=None, **second) for t in (1, 2, 3)]
        self.assertEqual(seconds, wanted)

    def test_a_transfer_that_ends_with_the_window_is_under_way(self) -> None:
        self.assertEqual([one.under_way for one in per_second([served(0, 2)], 0.0, 2.0)], [1, 1])

    def test_the_last_second_may_be_a_part_of_one(self) -> None:
        seconds = per_second([served(0.0, 10.0, 1000)], 0.0, 2.5)
        self.assertEqual([one.bytes for one in seconds], [100, 100, 50])

    def test_a_second_without_a_transfer_is_there(self) -> None:
        self.assertEqual(len(per_second([], 0.0, 3.0)), 3)
