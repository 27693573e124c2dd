"""The description of the host says what holds the work folder."""

import os
import re
import tempfile
import unittest
from pathlib import Path

from lab.observe.host import file_system, hardware


class HardwareTest(unittest.TestCase):
    def test_each_row_has_a_value(self) -> None:
        found = hardware()
        self.assertEqual({row for row, text in found.items() if not text}, set())
        self.assertEqual(found["System"], f"Linux {os.uname().release}")
        swap = re.search(r"SwapTotal: *(\d+)", Path("/proc/meminfo").read_text())
        assert swap
        self.assertEqual(found["Swap"] == "none", swap[1] == "0")


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
