"""`lab run scale-out` for real: hosts behind haproxy."""

import os
import unittest
from pathlib import Path

import examples
from needs import missing
from networks import why_no_namespace
from real_lab import BUILD, DONE, disk_folder, lab, table, why_no_run

from rig import control_group
from rig.control_group import Limits
from rig.errors import Failed


def why_not() -> str:
    if reason := why_no_run() or why_no_namespace() or missing("haproxy"):
        return reason
    try:
        with control_group.limited(Limits(cores=0.5), Path(os.curdir)):
            return ""
    except Failed as error:
        return str(error)


@unittest.skipIf(why_not(), why_not())
class ScaleOutScene(unittest.TestCase):
    def rows(self, folder: Path) -> dict[str, dict[str, str]]:
        """The first try of each: another one follows on a machine that others use too."""
        return {row["stage"]: row for row in reversed(table(folder / "points.csv"))}

    def run_lab(self, *flags: str) -> Path:
        """Returns the folder with the results."""
        folder = examples.folder(self, disk_folder())
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        done = lab("run", "scale-out", "--quick", "--programs", str(BUILD), *places, *flags)
        self.assertIn(done.returncode, DONE, done.stderr)
        self.assertFalse((folder / "work" / "hosts").exists())
        return folder / "out"
