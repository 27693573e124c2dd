"""`lab run knee` for real: an open loop at parts of the maximum, and a search."""

import unittest

import examples
from real_lab import BUILD, DONE, disk_folder, lab, table, why_no_run

from lab.kinds.open_loop.procedure import SHARES

TINY = ["--quick", "--threads", "2", "--seconds", "1", "--repeat", "1"]


class KneeTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    def test_parts_of_the_maximum_are_offered_and_the_report_says_what_was_found(self):
        folder = examples.folder(self, disk_folder())
        flags = ["--programs", str(BUILD), "--work", str(folder / "work"), "--p99", "30000"]
        done = lab("run", "knee", *TINY, *flags, "--out", str(folder / "out"))
        self.assertIn(done.returncode, DONE, done.stderr)

        points = table(folder / "out" / "points.csv")
        self.assertEqual({row["workload"] for row in points}, {"open_loop"})
        closed = [row for row in points if not row["offered_rps"]]
        if all(row["failures"] for row in closed):
            self.skipTest(f"no maximum on this busy machine: {closed[-1]['failures']}")
        offered = [row for row in points if row["offered_rps"]]
        self.assertGreaterEqual(len({row["offered_rps"] for row in offered}), len(SHARES))
        for row in offered:
            wanted = float(row["offered_rps"]) * float(row["elapsed_s"])
            ended = int(row["requests"]) + int(float(row["given_up"]))
            self.assertLess(abs(ended - wanted), 6 * wanted**0.5)
            self.assertEqual(row["n_check"], "")
        summary = (folder / "out" / "summary.md").read_text(encoding="utf-8")
        self.assertIn("turnstile, get 1KB, open loop: ", summary)
        self.assertTrue(list((folder / "out" / "figures").glob("offered-load-*.svg")))
