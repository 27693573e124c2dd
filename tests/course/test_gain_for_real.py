"""Two servers are measured beside the reference, and one that cheats under load is told."""

import os
import tempfile
import unittest
from pathlib import Path

import course_path  # noqa: F401
import proof
from real_lab import BUILD, disk_folder, why_no_run

from course import jail, marking, submission
from course.marks import Sheet
from course.measuring import Tools


@unittest.skipIf(why_no_run(), why_no_run())
@unittest.skipIf(os.geteuid() != 0, "not root")
@unittest.skipIf(jail.missing(), f"no sandbox here: {jail.missing()}")
class GainTest(unittest.TestCase):
    def marked(self, name: str) -> Sheet:
        with tempfile.TemporaryDirectory(dir=disk_folder()) as temporary:
            folder = Path(temporary)
            folder.chmod(0o711)
            (folder / "work").mkdir()
            proof.the_class()[name].make(folder / name)
            tools = Tools(BUILD, folder / "lab", 1, 1)
            return marking.mark(submission.read(folder / name), folder / "work", 1, tools)

    def test_the_reference_is_as_good_as_itself(self) -> None:
        sheet = self.marked("solution-2")
        self.assertEqual(sheet.part("gain").points, 30, sheet.reason)
        self.assertAlmostEqual(sheet.gain or 0, 1, delta=0.4)

    def test_who_asks_only_at_first_or_sends_other_bytes_is_told(self) -> None:
        for name in ("asks-only-at-first", "right-bytes-only-at-first"):
            with self.subTest(name):
                sheet = self.marked(name)
                self.assertIn("under load", sheet.reason)
                self.assertEqual(sheet.part("contract").points, 0)
