"""`lab run scale-out` for real: hosts behind haproxy, and one of them is lost."""

import os
import unittest
from pathlib import Path

import examples
from needs import missing
from networks import why_no_namespace
from real_lab import BUILD, disk_folder, lab, table, why_no_run

from lab.rig import control_group
from lab.rig.control_group import Limits
from lab.rig.errors import Failed


def why_not() -> str:
    if reason := why_no_run() or why_no_namespace() or missing("haproxy"):
        return reason
    try:
        with control_group.limited(Limits(cores=0.5), Path(os.curdir)):
            return ""
    except Failed as error:
        return str(error)


class ScaleOutTest(unittest.TestCase):
    @unittest.skipIf(why_not(), why_not())
    def test_three_hosts_hold_three_times_the_files_of_one_only_if_these_are_their_own(self):
        stages = ("scale-out-1", "scale-out-3", "scale-out-3-same")
        folder = self.run_lab("--stages", ",".join(stages), "--seconds", "2", "--threads", "24")
        rows = self.rows(folder)
        self.assertEqual(sorted(rows), sorted(stages))
        held = {stage: float(row["files_held"]) for stage, row in rows.items()}
        self.assertGreater(held["scale-out-3"], 2.8 * held["scale-out-1"])
        self.assertLess(held["scale-out-3-same"], 1.2 * held["scale-out-1"])
        said = {stage: float(row["files_in_memory"]) for stage, row in rows.items()}
        # The files that fill the last of the memory are not the same in each host.
        self.assertAlmostEqual(said["scale-out-3-same"] / said["scale-out-1"], 3, delta=0.03)
        for row in rows.values():
            self.assertEqual(row["errors"], "")
            self.assertGreater(float(row["throughput_rps"]), 0)
        used = {line["component"] for line in table(folder / "usage.csv")}
        self.assertLessEqual({"fileserver", "fileserver-2", "fileserver-3", "proxy"}, used)

    @unittest.skipIf(why_not(), why_not())
    def test_a_lost_host_moves_its_own_names_and_the_others_answer(self):
        folder = self.run_lab("--stages", "scale-out-3-lost", "--seconds", "15", "--threads", "24")
        (row,) = self.rows(folder).values()
        self.assertEqual(float(row["names_moved"]), float(row["names_of_lost"]))
        self.assertNotIn("was not lost", row["failures"])
        self.assertNotIn("failed before", row["failures"])
        (sample,) = folder.glob("samples/*run1-trial1.json*")
        self.assertTrue(sample.stat().st_size)
        figures = {one.name for one in (folder / "figures").iterdir()}
        self.assertIn("series-scale-out-3-lost-10KB-hosts.svg", figures)

    def rows(self, folder: Path) -> dict[str, dict[str, str]]:
        """The first try of each: another one follows on a machine that others use too."""
        return {row["stage"]: row for row in reversed(table(folder / "points.csv"))}

    def run_lab(self, *flags: str) -> Path:
        """Returns the folder with the results."""
        folder = examples.folder(self, disk_folder())
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        done = lab("run", "scale-out", "--quick", "--programs", str(BUILD), *places, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((folder / "work" / "hosts").exists())
        return folder / "out"
