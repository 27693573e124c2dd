"""What a disk can do, and how much of it a run used."""

import os
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.analysis.cells import Analysis
from lab.observe import disk_probe
from lab.observe.disk_probe import DiskProbe
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

    def test_without_a_probe_of_this_disk_the_kernel_s_word_is_taken(self):
        self.assertEqual(disk_probe.calibrated(used(0.8), None).disks["vda"].busy, 0.8)
        other = DiskProbe(**{**vars(PROBE), "disk": "sdz"})
        self.assertEqual(disk_probe.calibrated(used(0.8), other).disks["vda"].busy, 0.8)

    def test_a_run_that_did_more_than_the_probe_shows_what_the_disk_can_do(self):
        more = PROBE.or_more([used(read=2e9), used(read=1e6, writes_per_s=3e4)])
        self.assertEqual((more.read_bytes_per_s, more.writes_per_s), (2e9, 3e4))
        self.assertEqual(more.write_bytes_per_s, PROBE.write_bytes_per_s)

    def test_a_run_that_did_more_than_the_probe_raises_the_mark(self):
        usages = [used(read=5e8), used(read=2e9)]
        runs = [examples.run(n + 1, 1000.0, used=usage) for n, usage in enumerate(usages)]
        analysis = Analysis(runs, replace(examples.ENVIRONMENT, disk_probe=PROBE))
        self.assertEqual([run.usage.disks["vda"].busy for run in analysis.runs], [0.25, 1.0])

    def test_verdicts_use_what_the_disk_can_do(self):
        usage = examples.usage({"fileserver": 0.2}, 0.1, examples.disk_usage(1.0, 1e8, 0.0))
        runs = [examples.run(threads, 1000.0, used=usage) for threads in (1, 2, 4, 8)]
        for probe, named in ((None, True), (PROBE, False)):
            environment = replace(examples.ENVIRONMENT, disk_probe=probe)
            result = Analysis(runs, environment).results()[0]
            self.assertEqual("disk" in result.verdict.label, named, result.verdict)


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
