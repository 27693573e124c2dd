"""`lab run` of a ramp for real: 100 hosts as namespaces, uploads that both sides count."""

import json
import unittest
from pathlib import Path
from typing import Any

import examples
from networks import why_no_namespace
from real_lab import BUILD, DONE, disk_folder, lab, table, unexplained, why_no_run

from lab.results import series
from rig import switch

SCALE = 5000  # 10,170 s of the paper become 2 s
KIB = 2  # of a file
LATE = (  # what a busy machine does to a ramp
    r"a tester began \d+ ms late",
    r"on the plateau the clients spent [\d.]+% of their time in uploads",
)


class RampsTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_namespace(), why_no_namespace())
    def test_a_ramp_from_100_hosts_is_measured_and_reported_and_leaves_nothing(self) -> None:
        self.folder = examples.folder(self, disk_folder())
        self.run_lab("--stages", "sink", "--scale", str(SCALE))
        rows = table(self.folder / "out" / "points.csv")
        self.assertGreaterEqual(len(rows), 1)
        for row in rows:
            self.require_a_run(row)
        self.require_each_upload_in_the_log_of_the_server(rows)
        self.require_a_report(rows)
        self.require_the_link()
        self.assertEqual(self.left_behind(), [])

    def require_a_run(self, row: dict[str, str]) -> None:
        """All testers came back, and only a busy machine is why it is not valid."""
        self.assertEqual((row["stage"], row["row"], row["workload"]), ("sink", "figure1", "ramp"))
        self.assertEqual((row["threads"], row["testers"], row["testers_lost"]), ("100", "100", "0"))
        self.assertEqual((row["topology"], row["errors"]), ("100 nodes", ""))
        self.assertEqual(int(row["bytes"]), int(row["requests"]) * KIB * 1024)
        self.assertEqual(unexplained(row["failures"], *LATE), [])
        (sample,) = (self.folder / "out" / "samples").glob(f"*-trial{row['trial']}.json")
        evidence = json.loads(sample.read_text(encoding="utf-8"))
        self.require_both_views(evidence, row)
        self.require_the_group_of_the_server(evidence["samples"])

    def require_both_views(self, evidence: dict[str, Any], row: dict[str, str]) -> None:
        """They have the same uploads, but those that end late; a text has rounded bytes."""
        found = series.courses_of(evidence)
        assert found
        for view in (found.clients, found.server):
            moved = sum(one.bytes_per_s for one in view) * found.step_s
            self.assertLessEqual(moved, int(row["bytes"]) + len(view))
            self.assertGreater(moved, 0.8 * int(row["bytes"]))
            self.assertLessEqual(sum(one.ended for one in view), int(row["requests"]))

    def require_the_group_of_the_server(self, samples: list[dict[str, float]]) -> None:
        """It is sampled where this host can have one, and is none of a limited server."""
        out = self.folder / "out"
        problems = json.loads((out / "environment.json").read_text(encoding="utf-8"))["problems"]
        has_group = not any("control group" in name for name in problems)
        for sample in samples:
            self.assertEqual("group.used_bytes" in sample, has_group)
        self.assertNotIn("group_", (out / "usage.csv").read_text(encoding="utf-8"))
        self.assertNotIn("limited server", (out / "summary.md").read_text(encoding="utf-8"))

    def require_each_upload_in_the_log_of_the_server(self, rows: list[dict[str, str]]) -> None:
        """Of all trials, since they have the same servers."""
        (log,) = (self.folder / "out" / "logs").glob("*.server-transfers.json")
        served = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(served), sum(int(row["requests"]) for row in rows))
        self.assertEqual({(one["result"], one["bytes"]) for one in served}, {("ok", KIB * 1024)})
        self.assertEqual(len({one["client"] for one in served}), 100)

    def require_a_report(self, rows: list[dict[str, str]]) -> None:
        out = self.folder / "out"
        summary = (out / "summary.md").read_text(encoding="utf-8")
        self.assertIn(f"Scale {SCALE}", summary)
        self.assertTrue((out / "figures" / "ramp-sink-figure1.svg").exists())
        self.assertTrue((out / "report.html").exists())
        is_any_valid = any(not row["failures"] for row in rows)
        self.assertEqual("100 clients on 100 hosts brought" in summary, is_any_valid)

    def require_the_link(self) -> None:
        record = json.loads((self.folder / "out" / "environment.json").read_text(encoding="utf-8"))
        (stack,) = record["stacks"].values()
        self.assertEqual((stack["link"], stack["mtu"]), ("360mbit", 1500))

    def run_lab(self, *flags: str) -> None:
        places = ["--work", str(self.folder / "work"), "--out", str(self.folder / "out")]
        command = ["run", "003-figure1", "--quick", "--programs", str(BUILD), *places, *flags]
        done = lab(*command, path=str(self.folder))
        self.assertIn(done.returncode, DONE, done.stderr)

    def left_behind(self) -> list[str]:
        """Our end of the cable, and processes, which would hold the namespaces. run_lab() has given
        all of them a PATH of their own.
        """
        mine = f"PATH={self.folder}:".encode()
        found = [name for name in (switch.OURS,) if Path("/sys/class/net", name).exists()]
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mine in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_text())
            except OSError:  # it has ended, or is not ours
                continue
        return found
