"""Private folders: in memory if there is room, else elsewhere; swept when nobody uses them."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import examples

from rig import private_folder
from rig.errors import Failed

_ROOT = Path(__file__).resolve().parents[3]
# Makes one, says so, and waits to be killed.
_HOLDER = """
import signal, sys
from unittest import mock
from rig import private_folder
with mock.patch.object(private_folder, "_IN_MEMORY", sys.argv[1]), private_folder.made(0) as folder:
    print(folder, flush=True)
    signal.pause()
"""


class PrivateFolderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.memory, self.disk = examples.folder(self), examples.folder(self)
        self.free_bytes = {str(self.memory): 64_000_000, str(self.disk): 500_000_000}
        for patch in (
            mock.patch.object(private_folder, "_IN_MEMORY", str(self.memory)),
            mock.patch.object(tempfile, "tempdir", str(self.disk)),
            mock.patch.object(os, "statvfs", side_effect=self.room),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def room(self, parent: str) -> mock.Mock:
        return mock.Mock(f_bavail=self.free_bytes[str(parent)], f_frsize=1)

    def test_it_is_in_memory_private_and_removed(self) -> None:
        with private_folder.made(2_000_000) as folder:
            self.assertEqual(folder.parent, self.memory)
            self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
            (folder / "left").touch()
        self.assertEqual(list(self.memory.iterdir()), [])

    def test_where_memory_has_too_little_room_it_is_elsewhere(self) -> None:
        with private_folder.made(200_000_000) as folder:
            self.assertEqual(folder.parent, self.disk)
        with private_folder.made(63_500_000) as folder:  # that much would leave nothing for notes
            self.assertEqual(folder.parent, self.disk)

    def test_where_there_is_no_room_at_all_the_lab_has_failed(self) -> None:
        with (
            self.assertRaisesRegex(Failed, "no room for 2001 MB: .* has 64 MB free, .* 500 MB"),
            private_folder.made(2_000_000_000),
        ):
            self.fail("there is no room")

    def test_that_of_a_killed_lab_is_swept_but_none_that_is_in_use(self) -> None:
        command = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-c", _HOLDER]
        command += [str(self.memory)]
        environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as holder,
            private_folder.made(0) as ours,
        ):
            assert holder.stdout
            theirs = Path(holder.stdout.readline().strip())
            (theirs / "netrc").touch()
            private_folder.remove_leftovers()
            in_use = set(self.memory.iterdir())
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            self.assertEqual(in_use, {ours, theirs})
            private_folder.remove_leftovers()
            self.assertEqual(list(self.memory.iterdir()), [ours])
