"""`lab run` for real: what it writes, and what the same command does with it."""

import json
import unittest
from pathlib import Path

from lab_run import LabRun
from real_lab import DONE, lab, why_no_run


@unittest.skipIf(why_no_run(), why_no_run())
class EndToEndTest(LabRun):
    stages = ("prefetching", "redis")

    def test_it_ends_well_and_says_how_long_it_would_take(self):
        self.assertIn(self.first.returncode, DONE, self.first.stderr)
        self.assertRegex(self.first.stderr, r"\d cells, about \d+ points, about \d+ ")
        self.assertRegex(self.first.stderr, r"\[1 of ~\d+\]")

    def test_every_point_is_there_with_all_its_bytes(self):
        self.check_points()

    def test_the_report_is_whole(self):
        page = (self.out / "report.html").read_text(encoding="utf-8")
        self.assertTrue(page.rstrip().endswith("</html>"))
        self.assertIn("Table 4", page)
        self.assertIn("9,933", page)
        self.assertIn("<svg", page)
        self.assertIn("get 1KB", (self.out / "summary.md").read_text(encoding="utf-8"))
        self.assertTrue(list((self.out / "figures").glob("*.svg")))

    def test_the_environment_says_what_was_run(self):
        environment = json.loads((self.out / "environment.json").read_text(encoding="utf-8"))
        self.assertTrue(environment["is_complete"])
        for stack in environment["stacks"].values():
            self.assertIn("--password-scheme plain", stack["commands"]["authserver"])
            self.assertTrue(stack["durability"])
        self.assertNotIn("LOADGEN_PASSWORD", json.dumps(environment))

    def test_the_same_command_measures_again_only_what_was_disturbed(self):
        before = self.points()
        again = lab(*self.command)
        self.assertIn(again.returncode, DONE, again.stderr)
        added = self.points()[len(before) :]
        self.assertEqual(self.points()[: len(before)], before)
        valid = {(row["stage"], row["threads"]) for row in before if not row["failures"]}
        self.assertEqual({(row["stage"], row["threads"]) for row in added} & valid, set())

    def test_other_settings_want_another_folder(self):
        refused = lab(*self.command, "--seconds", "3")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("use another --out", refused.stderr.splitlines()[-1])

    def test_nothing_is_left_running(self):
        left = [
            path
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if self.temporary.name.encode() in _read(path)
        ]
        self.assertEqual(left, [])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
