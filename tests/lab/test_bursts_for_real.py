"""`lab run 000-table1` for real: bursts of our server with cold files on a slow disk."""

import tempfile
import unittest
from pathlib import Path

from real_lab import BUILD, disk_folder, lab, table, why_no_cold_stages, why_no_run

from lab.rig import control_group
from lab.rig.control_group import Limits
from lab.rig.errors import Failed

MIB = 1 << 20


class BurstsTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_cold_stages(), why_no_cold_stages())
    def test_bytes_come_from_the_disk_at_its_rate_and_of_one_file_only_once(self) -> None:
        temporary = tempfile.TemporaryDirectory(dir=disk_folder())
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        self.skip_without_slow_disk(folder)
        flags = ["--quick", "--threads", "1,4", "--repeat", "1", "--work", str(folder / "work")]
        flags += ["--hold", "freeze"]
        flags += ["--programs", str(BUILD), "--out", str(folder / "out")]
        stages = {"ours-same", "ours-different", "ours-threads-different"}
        flags += ["--stages", ",".join(stages)]
        done = lab("run", "000-table1", *flags)
        self.assertEqual(done.returncode, 0, done.stderr)

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
            self.assertEqual(float(row["release_spread_ms"]), 0)
            read = MIB if row["stage"] == "ours-same" else int(row["bytes"])
            self.assertGreater(float(row["elapsed_s"]), 0.5 * read / 2e6, row)
        report = (folder / "out" / "report.html").read_text(encoding="utf-8")
        self.assertIn("1388.82", report)  # the paper's own number beside ours

    def skip_without_slow_disk(self, folder: Path) -> None:
        try:
            with control_group.limited(Limits(read_bytes_per_s=2_000_000), folder):
                pass
        except Failed as error:
            self.skipTest(str(error))


if __name__ == "__main__":
    unittest.main()
