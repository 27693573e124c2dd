"""`lab run` for real: what it writes, and what the same command does with it."""

import json
import tempfile
import unittest
from pathlib import Path

from real_lab import (
    BUILD,
    TINY,
    disk_folder,
    lab,
    table,
    why_no_cold_stages,
    why_no_run,
    why_no_store,
)

WARM_STAGES = ("prefetching", "redis")
COLD_STAGES = ("multithreaded",)


class LabRun(unittest.TestCase):
    """Runs the lab with tiny settings and looks at what it wrote, not at the numbers.

    Nor does it look at whether the points passed their checks: on a busy machine they do not.
    """

    stages: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(dir=disk_folder())
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.out = Path(cls.temporary.name) / "out"
        cls.command = ["run", "table4", *TINY, "--sizes", "1KB", "--stages", ",".join(cls.stages)]
        cls.command += ["--programs", str(BUILD), "--work", f"{cls.temporary.name}/work"]
        cls.command += ["--out", str(cls.out)]
        if any(why_no_store(kind) for kind in ("mysql", "redis")):
            cls.command += ["--store", "sqlite"]
        cls.first = lab(*cls.command)

    def points(self) -> list[dict[str, str]]:
        return table(self.out / "points.csv")

    def check_points(self) -> None:
        """Every point is there, with all its bytes."""
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        rows = self.points()
        self.assertEqual(
            {(row["stage"], row["row"], row["threads"]) for row in rows},
            {(stage, "1KB", threads) for stage in self.stages for threads in ("1", "2")},
        )
        for row in rows:
            self.assertGreater(int(row["requests"]), 0)
            self.assertEqual(int(row["bytes"]), 1000 * int(row["requests"]))


@unittest.skipIf(why_no_run(), why_no_run())
@unittest.skipIf(why_no_cold_stages(), why_no_cold_stages())
class ColdStagesTest(LabRun):
    stages = COLD_STAGES

    def test_every_point_is_there_with_all_its_bytes(self):
        self.check_points()

    def test_files_came_from_the_disk_or_the_point_says_that_they_did_not(self):
        usage = table(self.out / "usage.csv")
        for row in self.points():
            read_bytes = [
                float(line["value"])
                for line in usage
                if line["trial"] == row["trial"] and line["component"].startswith("disk ")
                if line["metric"] == "read_bytes_per_s"
            ]
            self.assertTrue(sum(read_bytes) > 0 or "not cold" in row["notes"], row)


@unittest.skipIf(why_no_run(), why_no_run())
class EndToEndTest(LabRun):
    stages = WARM_STAGES

    def test_it_ends_well_and_says_how_long_it_would_take(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
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
        self.assertEqual(again.returncode, 0, again.stderr)
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
