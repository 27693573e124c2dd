"""`lab run scale-out` for real: what three hosts hold, and what one does."""

from real_lab import table
from scale_out_scene import ScaleOutScene


class ScaleOutTest(ScaleOutScene):
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
