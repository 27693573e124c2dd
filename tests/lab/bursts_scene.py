"""`lab run 000-table1` for real: bursts of our server with cold files on a slow disk."""

import unittest
from pathlib import Path

import examples
from real_lab import BUILD, DONE, disk_folder, lab, why_no_cold_stages, why_no_run

from rig import control_group
from rig.control_group import Limits
from rig.errors import Failed


@unittest.skipIf(why_no_run(), why_no_run())
@unittest.skipIf(why_no_cold_stages(), why_no_cold_stages())
class BurstsScene(unittest.TestCase):
    def run_lab(self, *flags: str) -> Path:
        """Measures Table 1. Returns the folder, which has the results in out."""
        folder = examples.folder(self, disk_folder())
        self.skip_without_slow_disk(folder)
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        usual = ["--quick", "--repeat", "1", "--programs", str(BUILD), *places]
        done = lab("run", "000-table1", *usual, *flags)
        self.assertIn(done.returncode, DONE, done.stderr)
        return folder

    def skip_without_slow_disk(self, folder: Path) -> None:
        try:
            with control_group.limited(Limits(read_bytes_per_s=2_000_000), folder):
                pass
        except Failed as error:
            self.skipTest(str(error))
