"""The uploads of one run as clients and server saw them, by the same clock and steps."""

import unittest

from lab.observe.log_formats import Served
from lab.observe.moment import INTERVAL_S
from lab.procedures import server_log
from lab.workloads.uploads import Upload

START_S = 1.79e9


def served(start_s: float, end_s: float, *, is_whole: bool = True) -> Served:
    return Served(
        start_s=START_S + start_s,
        end_s=START_S + end_s,
        bytes=100,
        peer_address="",
        name="a",
        is_whole=is_whole,
        resolution_s=1.0,
    )


class BothViewsTest(unittest.TestCase):
    def test_the_server_is_seen_by_the_start_of_the_clients(self) -> None:
        clients = [Upload(start_s=1, end_s=2, bytes=100)]
        found = server_log.both_views(clients, [served(1, 2)], START_S, 10.0)
        self.assertEqual(found.server, found.clients)
        self.assertEqual(sum(one.ended for one in found.server), 1)

    def test_an_upload_that_the_server_saw_fail_has_not_ended(self) -> None:
        found = server_log.both_views([], [served(1, 2, is_whole=False)], START_S, 10.0)
        self.assertEqual(sum(one.ended for one in found.server), 0)

    def test_a_step_is_that_of_the_samples_unless_they_would_be_too_many(self) -> None:
        for length_s, times in ((10.0, 1), (500.0, 1), (7200.0, 15)):
            found = server_log.both_views([], [], START_S, length_s)
            self.assertEqual(found.step_s, times * INTERVAL_S)
            self.assertLessEqual(len(found.clients), 2000)

    def test_a_server_without_a_log_has_no_view(self) -> None:
        self.assertEqual(server_log.both_views([], [], START_S, 10.0).server, [])
