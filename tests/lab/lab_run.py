"""A tiny run of the lab, whose folder several tests look at."""

import tempfile
import unittest
from pathlib import Path

from real_lab import BUILD, DONE, TINY, disk_folder, lab, table, why_no_store


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
        self.assertIn(self.first.returncode, DONE, self.first.stderr)
        rows = self.points()
        self.assertEqual(
            {(row["stage"], row["row"], row["threads"]) for row in rows},
            {(stage, "1KB", threads) for stage in self.stages for threads in ("1", "2")},
        )
        for row in rows:
            self.assertGreater(int(row["requests"]), 0)
            self.assertEqual(int(row["bytes"]), 1000 * int(row["requests"]))
