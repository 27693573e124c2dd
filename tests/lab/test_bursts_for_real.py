"""`lab run 000-table1` for real: cold files come from a slow disk, each of them once."""

from bursts_scene import BurstsScene
from real_lab import table, unexplained

MIB = 1 << 20


class BurstsTest(BurstsScene):
    def test_bytes_come_from_the_disk_at_its_rate_and_of_one_file_only_once(self) -> None:
        stages = {"ours-same", "ours-different", "ours-threads-different"}
        folder = self.run_lab("--threads", "1,4", "--stages", ",".join(stages))
        points = table(folder / "out" / "points.csv")
        self.assertEqual({row["stage"] for row in points}, stages)
        transfers = table(folder / "out" / "transfers.csv")
        for row in points:
            # A busy machine changes nothing of what follows.
            self.assertEqual(unexplained(row["failures"]), [])
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
