"""What a killed lab has left is removed, and nothing that a running program uses."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from rig import stores
from rig.databases import MysqlServer


class LeftoversTest(unittest.TestCase):
    def test_the_socket_of_another_program_stays(self) -> None:
        with (
            tempfile.TemporaryDirectory() as name,
            mock.patch.object(tempfile, "tempdir", name),
        ):
            server = MysqlServer(Path(name) / "server")
            left = server.socket.parent.with_name(server.socket.parent.name + "-left")
            left.mkdir()
            (left / "sock").touch()
            work = Path(name) / "work"
            work.mkdir()
            stores.remove_leftovers(work)
            self.assertFalse(left.exists())
            self.assertFalse(work.exists())
            self.assertTrue(server.socket.parent.exists())
            server.close()
            self.assertFalse(server.socket.parent.exists())
