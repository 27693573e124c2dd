"""Uploads over time: bytes, load and times of known uploads."""

import math
import random
import unittest

from lab.workloads import uploads
from lab.workloads.uploads import Upload


def upload(start_s: float, end_s: float, size: int = 100, *, is_whole: bool = True) -> Upload:
    return Upload(start_s=start_s, end_s=end_s, bytes=size, is_whole=is_whole)


class OverTimeTest(unittest.TestCase):
    def test_the_bytes_of_an_upload_are_spread_evenly_over_its_time(self) -> None:
        moments = uploads.over_time([upload(0.5, 3.0, 250)], 4.0, 1.0)
        self.assertEqual([one.bytes_per_s for one in moments], [50, 100, 100, 0])
        self.assertEqual([one.load for one in moments], [0.5, 1, 1, 0])
        self.assertEqual([one.ended for one in moments], [0, 0, 0, 1])
        self.assertEqual([one.mean_ms for one in moments], [None, None, None, 2500])
        self.assertEqual([one.t for one in moments], [0.5, 1.5, 2.5, 3.5])

    def test_the_load_is_weighted_by_time(self) -> None:
        seen = [upload(0, 0.25), upload(0, 0.5), upload(0.25, 1.0)]
        (moment,) = uploads.over_time(seen, 1.0, 1.0)
        self.assertEqual((moment.load, moment.bytes_per_s), (1.5, 300))

    def test_a_rate_is_that_of_a_second_whatever_the_step(self) -> None:
        moments = uploads.over_time([upload(0, 1.0, 1000)], 1.0, 0.25)
        self.assertEqual([one.bytes_per_s for one in moments], 4 * [1000])
        self.assertEqual([one.t for one in moments], [0.125, 0.375, 0.625, 0.875])

    def test_the_bytes_and_the_time_of_all_uploads_add_up(self) -> None:
        source = random.Random(3)
        seen = []
        for _ in range(500):
            start_s = source.uniform(0, 9)
            seen.append(upload(start_s, start_s + source.uniform(0, 1), source.randrange(10**9)))
        moments = uploads.over_time(seen, 10.0, 0.1)
        moved = sum(one.bytes_per_s * 0.1 for one in moments)
        self.assertAlmostEqual(moved / sum(one.bytes for one in seen), 1, places=9)
        busy_s = sum(one.load * 0.1 for one in moments)
        self.assertAlmostEqual(busy_s, sum(one.end_s - one.start_s for one in seen), places=6)
        self.assertEqual(sum(one.ended for one in moments), len(seen))

    def test_nothing_outside_of_the_length_is_in_it(self) -> None:
        seen = [upload(-2, -0.1), upload(2.0, 3.0), upload(-1, 3, 400)]
        moments = uploads.over_time(seen, 2.0, 1.0)
        self.assertEqual([one.bytes_per_s for one in moments], [100, 100])
        self.assertEqual([one.load for one in moments], [1, 1])
        self.assertEqual([one.ended for one in moments], [0, 0])

    def test_one_that_failed_moved_bytes_and_has_no_time(self) -> None:
        (moment,) = uploads.over_time([upload(0, 0.5, 70, is_whole=False)], 1.0, 1.0)
        self.assertEqual((moment.bytes_per_s, moment.load), (70, 0.5))
        self.assertEqual((moment.ended, moment.mean_ms), (0, None))

    def test_the_mean_is_that_of_the_uploads_that_ended_in_the_step(self) -> None:
        seen = [upload(0, 1.5), upload(1, 1.5), upload(1, 2.5)]
        moments = uploads.over_time(seen, 3.0, 1.0)
        self.assertEqual([one.mean_ms for one in moments], [None, 1000, 1500])

    def test_an_upload_without_length_brings_all_in_its_step(self) -> None:
        seen = [upload(1, 1, 9), upload(2.5, 2.5, 8), upload(4, 4, 7), upload(-1, -1, 6)]
        moments = uploads.over_time(seen, 4.0, 1.0)
        self.assertEqual([one.bytes_per_s for one in moments], [0, 9, 8, 0])
        self.assertEqual([one.ended for one in moments], [0, 1, 1, 0])

    def test_a_step_without_uploads_is_there(self) -> None:
        self.assertEqual(len(uploads.over_time([], 3.0, 0.5)), 6)


class MostUnderWayTest(unittest.TestCase):
    def test_it_is_the_most_at_any_moment_before_the_end(self) -> None:
        seen = [upload(0, 4), upload(1, 3), upload(2, 9), upload(5, 6), upload(5, 9), upload(5, 7)]
        most = [uploads.most_under_way(seen, until_s) for until_s in (1, 2, 2.1, 5, math.inf)]
        self.assertEqual(most, [1, 2, 3, 3, 4])

    def test_an_upload_that_follows_another_one_takes_its_place(self) -> None:
        self.assertEqual(uploads.most_under_way([upload(0, 1), upload(1, 2)], 9), 1)

    def test_without_uploads_there_are_none(self) -> None:
        self.assertEqual(uploads.most_under_way([], 9), 0)


class BetweenTest(unittest.TestCase):
    def test_a_stretch_has_what_lies_in_it(self) -> None:
        seen = [upload(0, 4, 400), upload(1, 2, 100), upload(2.5, 5, 250), upload(8, 9)]
        found = uploads.between(seen, 1.0, 3.0)
        assert found
        self.assertEqual((found.seconds, found.ended, found.mean_s), (2, 1, 1))
        self.assertEqual(found.bytes_per_s, (200 + 100 + 50) / 2)
        self.assertEqual(found.load, (2 + 1 + 0.5) / 2)
        self.assertEqual(found.check(7), 0.25)

    def test_it_is_the_same_as_the_steps_together(self) -> None:
        source = random.Random(5)
        starts = [source.uniform(0, 9) for _ in range(200)]
        seen = [upload(start_s, start_s + source.uniform(0, 3)) for start_s in starts]
        found = uploads.between(seen, 2.0, 7.0)
        assert found
        steps = uploads.over_time(seen, 12.0, 0.5)[4:14]
        self.assertAlmostEqual(found.load, sum(one.load for one in steps) / 10)
        self.assertAlmostEqual(found.bytes_per_s, sum(one.bytes_per_s for one in steps) / 10)
        self.assertEqual(found.ended, sum(one.ended for one in steps))

    def test_its_end_is_no_part_of_it(self) -> None:
        found = uploads.between([upload(0, 1), upload(0, 2), upload(2, 2)], 1.0, 2.0)
        assert found
        self.assertEqual((found.ended, found.mean_s, found.bytes_per_s), (1, 1, 50))

    def test_only_whole_uploads_have_ended(self) -> None:
        found = uploads.between([upload(0, 1, is_whole=False), upload(1, 1, 7)], 0.0, 2.0)
        assert found
        self.assertEqual((found.ended, found.mean_s, found.bytes_per_s), (1, 0, 107 / 2))

    def test_without_an_upload_nothing_is_known_of_their_time(self) -> None:
        found = uploads.between([], 0.0, 2.0)
        assert found
        self.assertEqual((found.load, found.bytes_per_s, found.mean_s), (0, 0, None))

    def test_a_stretch_without_length_is_none(self) -> None:
        self.assertIsNone(uploads.between([upload(0, 9)], 5.0, 5.0))
        self.assertIsNone(uploads.between([upload(0, 9)], 5.0, 4.0))
