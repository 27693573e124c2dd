"""What a point says when its server does not survive it."""

import unittest
from unittest import mock

from examples import CROWD, GET

from lab.procedures import measure
from rig.errors import Failed


class WithMemoryTest(unittest.TestCase):
    def test_a_load_that_needs_it_has_the_memory_of_all_servers_but_the_store(self):
        watched = {"fileserver": 1, "authserver": 2, "store": 3}
        self.assertEqual(measure.with_memory(GET, watched), [])
        asking = mock.Mock(needs_memory=True)
        self.assertEqual(measure.with_memory(asking, watched), ["fileserver", "authserver"])


class EndOfServerTest(unittest.TestCase):
    def setUp(self):
        self.servers = mock.Mock()

    def test_a_server_that_runs_is_no_matter(self):
        for load in (GET, CROWD):
            self.assertEqual(measure.end_of_server(self.servers, load), "")

    def test_a_crowd_that_a_server_does_not_survive_is_an_answer(self):
        self.servers.check_running.side_effect = Failed("fileserver ended: its last words")
        self.assertEqual(measure.end_of_server(self.servers, CROWD), "fileserver ended")
        self.assertEqual(CROWD.without_server(), {"users_held": 0.0})
        with self.assertRaises(Failed):
            measure.end_of_server(self.servers, GET)
