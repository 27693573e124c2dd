"""What a point says when its server does not survive it."""

import unittest
from unittest import mock

from lab.procedures import measure
from lab.rig.errors import Failed
from lab.workloads import closed_loop, crowd

LOOP = closed_loop.Load(
    request="get", server="127.0.0.1:1", threads=4, seconds=2.0, warmup_s=0, size_bytes=1000
)
CROWD = crowd.Load(
    server="127.0.0.1:1",
    threads=100,
    user="ann",
    password="secret",
    size_name="10KB",
    size_bytes=10_000,
    rate_bytes_s=1000.0,
    least_rate_percent=75,
    engine="epoll",
    ramp_s=2.0,
    stable_s=5.0,
)


class EndOfServerTest(unittest.TestCase):
    def setUp(self):
        self.servers = mock.Mock()

    def test_a_server_that_runs_is_no_matter(self):
        for load in (LOOP, CROWD):
            self.assertEqual(measure.end_of_server(self.servers, load), "")

    def test_a_crowd_that_a_server_does_not_survive_is_an_answer(self):
        self.servers.check_running.side_effect = Failed("fileserver ended: its last words")
        self.assertEqual(measure.end_of_server(self.servers, CROWD), "fileserver ended")
        self.assertEqual(CROWD.without_server(), {"users_held": 0.0})
        with self.assertRaises(Failed):
            measure.end_of_server(self.servers, LOOP)


if __name__ == "__main__":
    unittest.main()
