"""`lab run` of downloads for real: curl over a link with a delay and a small window."""

import json
import unittest
from pathlib import Path

import examples
import own_paper
from needs import missing
from networks import why_no_namespace
from real_lab import BUILD, DONE, disk_folder, table, unexplained, why_no_run

from rig import iperf3

WINDOW = 12_000
STAGES = {
    "small": own_paper.stage(
        "curl", [1, 4], link=own_paper.LINK, tcp={"window_bytes": WINDOW, "congestion": "reno"}
    ),
    "here": own_paper.stage("curl", [2]),
}
LATE = r"other programs: the link with a delay was [\d.]+ ms late itself \(p99\)"
_NO_LINE = "" if (BUILD / "lab" / "delay_line").exists() else "delay_line is not built"


class ClientsTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_namespace() or _NO_LINE, why_no_namespace() or _NO_LINE)
    @unittest.skipIf(missing("curl"), missing("curl"))
    def test_one_file_is_fetched_over_several_channels_and_all_that_was_in_force_is_kept(
        self,
    ) -> None:
        folder = examples.folder(self, disk_folder())
        own_paper.write(folder, STAGES)
        out = self.run_lab(folder, "--stages", "small")
        rows = table(out / "points.csv")
        self.assertEqual(sorted({row["channels"] for row in rows}), ["1", "4"])
        for row in rows:
            self.require_a_run(out, row)
        self.require_a_record(out, rows)

    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(missing("curl"), missing("curl"))
    def test_over_loopback_nothing_is_set_and_little_is_known(self) -> None:
        folder = examples.folder(self, disk_folder())
        own_paper.write(folder, STAGES)
        out = self.run_lab(folder, "--stages", "here", "--channels", "3")
        for row in table(out / "points.csv"):
            self.assertEqual((row["channels"], row["succeeded"]), ("3", "1.0"))
            self.assertEqual((row["topology"], row["share_of_nominal"]), ("loopback", ""))
            self.assertEqual((row["rtt_predicted_ms"], row["requests"]), ("", "1"))

    def run_lab(self, folder: Path, *flags: str) -> Path:
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        command = ["run", "download", "--quick", "--programs", str(BUILD), "--pin", "none"]
        done = own_paper.lab(folder, *command, "--anyway", *places, *flags)
        self.assertIn(done.returncode, DONE, done.stderr)
        return folder / "out"

    def require_a_run(self, out: Path, row: dict[str, str]) -> None:
        """Only a busy machine is why it is not valid."""
        self.assertEqual((row["stage"], row["workload"]), ("small", "client"))
        self.assertEqual((row["succeeded"], row["requests"]), ("1.0", "1"))
        self.assertEqual(int(row["bytes"]), own_paper.SIZE_BYTES)
        self.assertEqual(unexplained(row["failures"], LATE), [])
        self.assertEqual(row["server_rate_bytes_s"], "")
        self.assertGreater(float(row["cpu_s_per_gb"]), 0)
        (sample,) = (out / "samples").glob(f"*-trial{row['trial']}.json")
        attempt = json.loads(sample.read_text(encoding="utf-8"))["loadgen"]
        self.assertEqual(len(attempt["served"]), int(row["channels"]))
        self.require_what_was_in_force(row, attempt["seen"]["congestion"])

    def require_what_was_in_force(self, row: dict[str, str], congestion: str) -> None:
        """As far as this host's `ss` tells it."""
        self.assertIn(congestion, ("reno", ""))
        if not row["window_bytes"]:
            return
        self.assertLess(int(row["window_bytes"]), 1.4 * WINDOW)
        self.assertEqual((row["mss_bytes"], row["mtu_bytes"]), ("1448", "1500"))
        foretold = row["rtt_predicted_ms"] or row["rtt_at_most_ms"]  # if many segments were lost
        self.assertGreaterEqual(float(foretold), 20)

    def require_a_record(self, out: Path, rows: list[dict[str, str]]) -> None:
        """The link is probed without the window: it carries more than one for each delay."""
        record = json.loads((out / "environment.json").read_text(encoding="utf-8"))
        (stack,) = record["stacks"].values()
        self.assertRegex(stack["client"], r"^curl \d")
        metrics = {line["metric"] for line in table(out / "usage.csv")}
        self.assertLessEqual({"link_lost", "link_late_p99_ms", "rtt_p50_ms"}, metrics)
        if not iperf3.is_installed():
            return
        if not record["link_probes"]:  # a busy machine is why
            self.assertRegex(" ".join(record["problems"].values()), "disturbed 3 times")
            return
        (carried,) = record["link_probes"].values()
        rate = carried["bytes"] / carried["interval_s"]
        self.assertGreater(rate, 2 * WINDOW / 0.020)
        for row in rows:
            share = float(row["rate_bytes_s"]) / rate
            self.assertAlmostEqual(float(row["share_of_probed"]), share)
