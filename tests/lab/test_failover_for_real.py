"""`lab run failover` for real: the authserver is killed under an open loop and started again."""

import json
import unittest
from pathlib import Path

import examples
from real_lab import BUILD, DONE, disk_folder, lab, table, why_no_run

from lab.kinds.failover import load
from lab.results import series


class FailoverTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    def test_requests_fail_while_the_authserver_is_away_and_have_answers_again(self) -> None:
        folder = self.run_lab("--stages", "failover-per-request", "--seconds", "9")
        rows = table(folder / "points.csv")
        self.assertEqual({row["workload"] for row in rows}, {"failover"})
        row = rows[-1]
        (sample,) = (folder / "samples").glob(f"*-trial{row['trial']}.json")
        kept = series.unpacked(json.loads(sample.read_text(encoding="utf-8")))
        self.assertEqual(
            [event.what for event in kept.events],
            ["authserver killed", "authserver started again"],
        )
        self.assertEqual(sum(one.ended for one in kept.seconds), int(row["requests"]))
        (drawn,) = (folder / "figures").glob("series-*.svg")
        for event in kept.events:
            self.assertIn(f">{event.what}<", drawn.read_text(encoding="utf-8"))
        if row["failures"]:
            self.skipTest(f"no valid run on this busy machine: {row['failures']}")
        seen = load.of_series(kept)
        assert seen
        summary = (folder / "summary.md").read_text(encoding="utf-8")
        self.require_the_outage(seen, row, summary)

    def require_the_outage(self, seen: load.Outage, row: dict[str, str], summary: str) -> None:
        """A request that logged in just before the kill may be answered late, and an authserver
        that starts slowly may be ready when the run is over. The summary says which it was.
        """
        self.assertGreater(seen.failed, 0)
        self.assertIn("unavailable", row["errors"])
        self.assertEqual(float(row["failed_requests"]), seen.failed)
        self.assertIn(f"{seen.failed:,} of {seen.requests:,} requests failed", summary)
        self.assertEqual(seen.answered_meanwhile > 0, "While it was away," in summary)
        self.assertEqual(seen.first_answered is None, "Nothing was answered after" in summary)
        self.assertLess(seen.answered_meanwhile, seen.failed)

    def run_lab(self, *flags: str) -> Path:
        """Returns the folder with the results."""
        folder = examples.folder(self, disk_folder())
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        done = lab("run", "failover", "--quick", "--programs", str(BUILD), *places, *flags)
        self.assertIn(done.returncode, DONE, done.stderr)
        return folder / "out"
