"""The description of the host says what holds the work folder."""

import os
import tempfile
import unittest
from pathlib import Path

from lab.observe.host import file_system


class FileSystemTest(unittest.TestCase):
    def test_a_file_system_is_told_by_its_name(self) -> None:
        found = file_system(Path("/proc"))
        self.assertEqual("proc", found["file system"])
        self.assertNotIn(found["mount options"], ("", "unknown"))

    def test_a_folder_that_does_not_exist_yet_is_on_the_file_system_of_its_parent(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            found = file_system(Path(name) / "work" / "files")
            self.assertEqual(file_system(Path(name)), found)
            self.assertEqual(f"{os.statvfs(name).f_bsize} bytes", found["block size"])
