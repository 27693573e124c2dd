"""`lab run mix` for real: readers and writers, and memory for a part of the files."""

import json
import math
import unittest
from pathlib import Path

import examples
from real_lab import BUILD, DONE, disk_folder, lab, table, why_no_run

from lab.kinds.mix import analysis as mixes
from lab.plan import catalog
from lab.results import series

STAGES = "mix-disk,mix-25,mix-25-writers,mix-100"


class MixTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    def test_readers_and_writers_share_a_folder_of_which_a_part_is_in_memory(self) -> None:
        folder = self.run_lab("--stages", STAGES, "--seconds", "1", "--threads", "4", "--series")
        rows = {row["stage"]: row for row in table(folder / "points.csv")}
        self.assertEqual(sorted(rows), sorted(STAGES.split(",")))
        self.assertEqual({row["workload"] for row in rows.values()}, {"mix"})
        environment = json.loads((folder / "environment.json").read_text(encoding="utf-8"))
        files = environment["file_counts"]["10KB"]
        self.require_the_memory(rows, files)
        self.require_the_kinds(rows)
        self.require_the_series(folder)
        summary = (folder / "summary.md").read_text(encoding="utf-8")
        if any(row["failures"] for row in rows.values()):
            self.skipTest("no valid run of each stage on this busy machine")
        self.assertIn(f"With memory for 25% of {files:,} files, ", summary)
        self.assertIn("| mix-25-writers | 4 | 25% |", summary)
        drawn = (folder / "figures" / "mix-10KB.svg").read_text(encoding="utf-8")
        self.assertIn(">with writers<", drawn)

    def require_the_memory(self, rows: dict[str, dict[str, str]], files: int) -> None:
        """All that fits is there and no more, and as much comes from it as can be computed."""
        held = {name: int(float(row["files_in_memory"])) for name, row in rows.items()}
        quarter = files // 4
        self.assertEqual(
            held,
            {"mix-disk": 0, "mix-25": quarter, "mix-25-writers": quarter, "mix-100": files},
        )
        hits = {name: float(row["hit_share"]) for name, row in rows.items()}
        self.assertEqual((hits["mix-disk"], hits["mix-100"]), (0.0, 1.0))
        for name in ("mix-25", "mix-25-writers"):
            # A busy machine has made fewer requests in that second, so their share says less.
            chance = 4 * 0.5 / math.sqrt(float(rows[name]["requests"]))
            self.assertAlmostEqual(hits[name], self.expected_hits(files), delta=max(0.08, chance))

    def expected_hits(self, files: int) -> float:
        """With a quarter of the files in memory."""
        mix = catalog.stages()["mix-25"].mix
        assert mix
        return mixes.expected("10KB", files, mix).by_name

    def require_the_kinds(self, rows: dict[str, dict[str, str]]) -> None:
        for name, row in rows.items():
            self.assertGreater(float(row["get_rps"]), 0, name)
            for kind in ("put", "new"):
                self.assertEqual(bool(row[f"{kind}_rps"]), name == "mix-25-writers", name)

    def require_the_series(self, folder: Path) -> None:
        """Each has as many requests as the result of its run, and one of each cell is drawn."""
        for row in table(folder / "points.csv"):
            (sample,) = (folder / "samples").glob(f"*-trial{row['trial']}.json")
            kept = series.unpacked(json.loads(sample.read_text(encoding="utf-8")))
            self.assertEqual(sum(one.ended for one in kept.seconds), int(row["requests"]))
            drawn = folder / "figures" / f"series-{row['stage']}-10KB-mix.svg"
            self.assertIn(">answered<", drawn.read_text(encoding="utf-8"))

    def run_lab(self, *flags: str) -> Path:
        """Returns the folder with the results."""
        folder = examples.folder(self, disk_folder())
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        done = lab("run", "mix", "--quick", "--programs", str(BUILD), *places, *flags)
        self.assertIn(done.returncode, DONE, done.stderr)
        self.assertFalse((folder / "work" / "linked").exists())
        written = {path.name[:4] for path in (folder / "work" / "files" / "10KB").iterdir()}
        self.assertEqual(written, {"10KB"})
        return folder / "out"
