"""`lab run 000-table1` for real: bursts of our server with cold files on a slow disk."""

import unittest
from pathlib import Path

import examples
from real_lab import BUILD, disk_folder, lab, table, why_no_cold_stages, why_no_run

from lab.rig import control_group
from lab.rig.control_group import Limits
from lab.rig.errors import Failed

MIB = 1 << 20
_LEAVES_IT_FROZEN = """#!/bin/bash
"LOADGEN" "$@"
status=$?
while [[ $# -gt 0 && $1 != --hold ]]; do shift; done
if [[ $# -gt 0 ]]; then
  if [[ -e $2/cgroup.freeze ]]; then echo 1 >"$2/cgroup.freeze"
  else echo FROZEN >"$2/freezer.state"
  fi
fi
exit $status
"""


class BurstsTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_cold_stages(), why_no_cold_stages())
    def test_bytes_come_from_the_disk_at_its_rate_and_of_one_file_only_once(self) -> None:
        stages = {"ours-same", "ours-different", "ours-threads-different"}
        folder = self.run_lab("--threads", "1,4", "--stages", ",".join(stages))
        points = table(folder / "out" / "points.csv")
        self.assertEqual({row["stage"] for row in points}, stages)
        transfers = table(folder / "out" / "transfers.csv")
        for row in points:
            failures = row["failures"].split("; ") if row["failures"] else []
            disturbed = [one for one in failures if one.startswith("other programs")]
            self.assertEqual(failures, disturbed)  # which changes nothing of what follows
            self.assertEqual(
                sum(one["trial"] == row["trial"] for one in transfers), int(row["threads"])
            )
            self.assertEqual(bool(row["server_rate_bytes_s"]), "threads" in row["stage"], row)
            self.assertEqual(int(row["bytes"]), int(row["threads"]) * MIB)
            self.assertEqual(float(row["release_spread_ms"]) > 0, row["threads"] == "4")
            read = MIB if row["stage"] == "ours-same" else int(row["bytes"])
            self.assertGreater(float(row["elapsed_s"]), 0.5 * read / 2e6, row)
        report = (folder / "out" / "report.html").read_text(encoding="utf-8")
        self.assertIn("1388.82", report)  # the paper's own number beside ours

    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_cold_stages(), why_no_cold_stages())
    def test_the_server_may_be_held_while_all_ask(self) -> None:
        """And is let go, should loadgen end before it has done so."""
        held = ["--hold", "freeze", "--programs", str(self.programs_that_leave_it_frozen())]
        folder = self.run_lab("--threads", "4", "--stages", "ours-same", *held)
        (row,) = table(folder / "out" / "points.csv")[-1:]
        self.assertEqual((row["requests"], float(row["release_spread_ms"])), ("4", 0))
        report = (folder / "out" / "report.html").read_text(encoding="utf-8")
        self.assertIn("was frozen while all transfers were asked for", report)

    def programs_that_leave_it_frozen(self) -> Path:
        folder = examples.folder(self)
        for name in ("fileserver", "authserver"):
            (folder / name).symlink_to(BUILD / name)
        script = folder / "loadgen"
        script.write_text(_LEAVES_IT_FROZEN.replace("LOADGEN", str(BUILD / "loadgen")))
        script.chmod(0o755)
        return folder

    def run_lab(self, *flags: str) -> Path:
        """Measures Table 1. Returns the folder, which has the results in out."""
        folder = examples.folder(self, disk_folder())
        self.skip_without_slow_disk(folder)
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        usual = ["--quick", "--repeat", "1", "--programs", str(BUILD), *places]
        done = lab("run", "000-table1", *usual, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return folder

    def skip_without_slow_disk(self, folder: Path) -> None:
        try:
            with control_group.limited(Limits(read_bytes_per_s=2_000_000), folder):
                pass
        except Failed as error:
            self.skipTest(str(error))
