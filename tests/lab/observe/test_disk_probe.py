"""What a disk can do, and how much of it a run used."""

import os
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.analysis.cells import Analysis
from lab.analysis.verdict import Verdict
from lab.observe import disk_probe
from lab.observe.disk_probe import DiskProbe
from lab.observe.usage import Usage
from rig.errors import Failed

PROBE = DiskProbe(
    disk="vda", read_bytes_per_s=1e9, write_bytes_per_s=5e8, reads_per_s=1e4, writes_per_s=2e4
)
FOLDER = Path(os.environ.get("TURNSTILE_BUILD", Path(__file__).parents[3] / "build"))


def used(busy: float = 1.0, read: float = 0.0, written: float = 0.0, **requests: float):
    return examples.usage(disk=examples.disk_usage(busy, read, written, **requests))


class ShareTest(unittest.TestCase):
    def share(self, **use: float) -> float:
        return disk_probe.calibrated(used(**use), PROBE).disks["vda"].busy

    def test_a_disk_that_always_has_a_request_is_not_full(self):
        self.assertAlmostEqual(self.share(busy=1.0, read=1e8), 0.1)

    def test_bytes_read_and_written_add_up_and_so_do_requests(self):
        self.assertAlmostEqual(self.share(read=3e8, written=1e8), 0.5)
        self.assertAlmostEqual(self.share(reads_per_s=3e3, writes_per_s=8e3), 0.7)

    def test_the_scarcer_of_bytes_and_requests_counts(self):
        self.assertAlmostEqual(self.share(read=1e8, reads_per_s=9e3), 0.9)
        self.assertAlmostEqual(self.share(read=9e8, reads_per_s=1e3), 0.9)

    def test_a_disk_that_mostly_has_no_request_is_not_full(self):
        self.assertAlmostEqual(self.share(busy=0.05, read=1e9), 0.05)

    def test_without_a_probe_of_this_disk_the_kernel_s_word_is_taken(self):
        other = DiskProbe(**{**vars(PROBE), "disk": "sdz"})
        self.assertEqual(disk_probe.calibrated(used(0.8), other).disks["vda"].busy, 0.8)

    def test_verdicts_use_what_the_disk_can_do(self):
        usage = examples.usage({"fileserver": 0.2}, 0.1, examples.disk_usage(1.0, 1e8, 0.0))
        runs = [examples.run(threads, 1000.0, used=usage) for threads in (1, 2, 4, 8)]
        for probe, named in ((None, True), (PROBE, False)):
            environment = replace(examples.ENVIRONMENT, disk_probe=probe)
            result = Analysis(runs, environment).results()[0]
            self.assertEqual("disk" in result.verdict.label, named, result.verdict)


class MarksTest(unittest.TestCase):
    def most(self, *usages: Usage, seconds: float = 2.0) -> DiskProbe:
        return disk_probe.marks([PROBE], [(seconds, usage) for usage in usages])[-1]

    def test_runs_that_did_more_than_the_probe_raise_the_mark(self):
        most = self.most(used(read=2e9), used(read=1e6, writes_per_s=3e4))
        self.assertEqual((most.read_bytes_per_s, most.writes_per_s), (2e9, 3e4))
        self.assertEqual(most.write_bytes_per_s, PROBE.write_bytes_per_s)

    def test_a_short_run_shows_nothing(self):
        self.assertEqual(self.most(used(read=2e9), seconds=1.9), PROBE)

    def test_one_run_in_twenty_is_no_mark(self):
        usages = [*(used(read=1.2e9 + n) for n in range(19)), used(read=2e9)]
        self.assertEqual(self.most(*usages).read_bytes_per_s, 1.2e9 + 18)

    def test_those_that_nearly_agree_are_one_and_those_that_differ_are_two(self):
        for factor, count in ((1.0, 1), (1.29, 1), (0.78, 1), (1.31, 2), (0.76, 2)):
            behind = replace(PROBE, reads_per_s=PROBE.reads_per_s * factor)
            marks = disk_probe.marks([PROBE, behind], [])
            self.assertEqual(len(marks), count, factor)
            self.assertEqual(marks[-1].reads_per_s, max(PROBE.reads_per_s, behind.reads_per_s))
            self.assertLessEqual(marks[0].reads_per_s, marks[-1].reads_per_s)

    def test_the_most_that_the_disk_did_is_full(self):
        usages = [used(read=5e8), used(read=2e9)]
        runs = [examples.run(n + 1, 1000.0, used=usage) for n, usage in enumerate(usages)]
        analysis = Analysis(runs, replace(examples.ENVIRONMENT, disk_probe=PROBE))
        self.assertEqual([run.usage.disks["vda"].busy for run in analysis.runs], [0.25, 1.0])

    def verdict(self, behind: float, busy: float = 1.0) -> Verdict:
        """Of a disk that does what the first probe did. The second one did `behind` times that."""
        read = PROBE.read_bytes_per_s
        usage = examples.usage({"fileserver": 0.2}, 0.1, examples.disk_usage(busy, read, 0.0))
        runs = [examples.run(threads, 1000.0, used=usage) for threads in (1, 2, 4, 8)]
        environment = replace(
            examples.ENVIRONMENT,
            disk_probe=PROBE,
            disk_probe_behind=replace(PROBE, read_bytes_per_s=behind * read),
        )
        return Analysis(runs, environment).results()[0].verdict

    def test_where_they_differ_and_so_does_the_verdict_nothing_is_told(self):
        self.assertIn("disk", self.verdict(behind=1.0).label)
        told = self.verdict(behind=2.0)
        self.assertEqual((told.label, told.named), ("cannot tell", None))
        self.assertIn("100% busy", told.sentence)
        self.assertIn("50% busy", told.sentence)

    def test_where_they_differ_and_the_verdict_does_not_it_is_told(self):
        self.assertEqual(self.verdict(behind=2.0, busy=0.05).label, "none over 70%")


class MeasureTest(unittest.TestCase):
    def test_a_real_disk_is_found_and_nothing_is_left(self):
        with tempfile.TemporaryDirectory(dir=FOLDER if FOLDER.is_dir() else None) as name:
            try:
                probe = disk_probe.measure(Path(name), 0.05)
            except Failed as error:
                self.skipTest(str(error))
            self.assertEqual(list(Path(name).iterdir()), [])
        self.assertTrue(Path(f"/sys/block/{probe.disk}").exists())
        self.assertGreater(min(value for value in vars(probe).values() if value != probe.disk), 0)

    def test_a_folder_that_may_not_be_written_is_named(self):
        with self.assertRaisesRegex(Failed, "not probed: /proc/disk-probe"):
            disk_probe.measure(Path("/proc"), 0.05)
