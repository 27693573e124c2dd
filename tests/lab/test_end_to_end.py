import csv
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("fileserver", "authserver", "loadgen")
BUILD = Path(os.environ.get("TURNSTILE_BUILD", ROOT / "build"))
_MISSING = [name for name in PROGRAMS if not (BUILD / name).is_file()]
_TINY = ["--quick", "--sizes", "1KB", "--threads", "1,2", "--seconds", "1", "--repeat", "1"]
_SERVERS = ("mariadbd", "mysqld", "redis-server")


def lab(*arguments: str) -> subprocess.CompletedProcess:
    """With a folder for temporary files of its own, and so a lock of its own: a test may run beside a real lab."""
    with tempfile.TemporaryDirectory() as temporary:
        return subprocess.run(
            [ROOT / "scripts" / "lab", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "TMPDIR": temporary},
        )


def store_flags() -> list[str]:
    """The stages' own stores where they are installed, else the embedded one."""
    has_both = shutil.which("redis-server") and any(shutil.which(name) for name in _SERVERS[:2])
    return [] if has_both else ["--store", "sqlite"]


@unittest.skipIf(_MISSING, f"not built: {', '.join(_MISSING)}")
class EndToEndTest(unittest.TestCase):
    """Runs the lab for real, with tiny settings; looks at what it wrote, not at the numbers.

    Nor at whether the points passed their checks: on a machine that is busy with other things they do not.
    """

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(dir=_disk_folder())
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.out = Path(cls.temporary.name) / "out"
        cls.command = [
            "run",
            "table4",
            *_TINY,
            *store_flags(),
            "--programs",
            str(BUILD),
            "--work",
            f"{cls.temporary.name}/work",
            "--out",
            str(cls.out),
        ]
        if os.geteuid() != 0:  # without root no cold points, so only the stages that have none
            cls.command += ["--stages", "prefetching,redis"]
        cls.first = lab(*cls.command)

    def test_it_ends_well_and_says_how_long_it_would_take(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        self.assertRegex(self.first.stderr, r"\d cells, about \d+ points, about \d+ ")
        self.assertRegex(self.first.stderr, r"\[1 of ~\d+\]")

    def test_every_point_is_there_with_all_its_bytes(self):
        rows = self.points()
        stages = 3 if os.geteuid() == 0 else 2
        self.assertEqual(
            len({(row["stage"], row["row"], row["threads"]) for row in rows}), 2 * stages
        )
        for row in rows:
            self.assertGreater(int(row["requests"]), 0)
            self.assertEqual(int(row["bytes"]), 1000 * int(row["requests"]))

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

    def points(self) -> list[dict]:
        with open(self.out / "points.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def _disk_folder() -> str:
    """/tmp is memory on some systems, where nothing can be cold; what `make` wrote is on a disk."""
    return str(BUILD)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    unittest.main()
