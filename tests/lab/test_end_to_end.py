"""`lab run` for real: what it writes, and what the same command does with it."""

import csv
import importlib.util
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from lab.rig.servers import Programs
from lab.rig.stores import KINDS
from lab.systems.files import DROP_CACHES

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TURNSTILE_BUILD", ROOT / "build")).resolve()
WARM_STAGES = ("prefetching", "redis")
COLD_STAGES = ("multithreaded",)
_TINY = ["--quick", "--sizes", "1KB", "--threads", "1,2", "--seconds", "1", "--repeat", "1"]


def why_no_run() -> str:
    """Empty where the lab can run, else the reason, to skip with."""
    if missing := Programs(BUILD).missing():
        return f"not built: {', '.join(missing)}"
    return "" if importlib.util.find_spec("matplotlib") else "matplotlib is not installed"


def why_no_cold_stages() -> str:
    """Empty where the lab may drop the kernel's caches, else the reason, to skip with.

    Only root of the host may; root of a container or of a user namespace usually may not.
    """
    may = os.access(DROP_CACHES, os.W_OK)
    return "" if may else f"cold stages need to write {DROP_CACHES}, which is not permitted here"


def why_no_store(kind: str) -> str:
    """Empty where this kind of store can be started."""
    missing = [tool.package for tool in KINDS[kind].tools if not tool.found()]
    return f"not installed: {', '.join(missing)}" if missing else ""


def lab(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Has its own folder for temporary files, and so its own lock beside that of a real lab."""
    with tempfile.TemporaryDirectory() as temporary:
        return subprocess.run(
            [ROOT / "scripts" / "lab", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "TMPDIR": temporary},
        )


class LabRun(unittest.TestCase):
    """Runs the lab with tiny settings and looks at what it wrote, not at the numbers.

    Nor does it look at whether the points passed their checks: on a busy machine they do not.
    """

    stages: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(dir=_disk_folder())
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.out = Path(cls.temporary.name) / "out"
        cls.command = ["run", "table4", *_TINY, "--stages", ",".join(cls.stages)]
        cls.command += ["--programs", str(BUILD), "--work", f"{cls.temporary.name}/work"]
        cls.command += ["--out", str(cls.out)]
        if any(why_no_store(kind) for kind in ("mysql", "redis")):
            cls.command += ["--store", "sqlite"]
        cls.first = lab(*cls.command)

    def points(self) -> list[dict[str, str]]:
        with open(self.out / "points.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

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
        for row in self.points():
            read_bytes = sum(map(float, row["disk_read_bytes_per_s"].split()))
            self.assertTrue(read_bytes > 0 or "not cold" in row["notes"], row)


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


def _disk_folder() -> str | None:
    """/tmp is memory on some systems, where nothing can be cold; what `make` wrote is on a disk."""
    return str(BUILD) if os.access(BUILD, os.W_OK) else None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main()
