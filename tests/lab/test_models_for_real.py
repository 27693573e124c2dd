"""`lab run models` for real: threads, processes and events, all active and mostly idle."""

import unittest
from pathlib import Path

import examples
from real_lab import BUILD, DONE, disk_folder, lab, table, why_no_run

MODELS = ("thread", "process", "event")
STAGES = [f"models-{model}{idle}" for model in MODELS for idle in ("", "-idle")]


class ModelsTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    def test_each_model_is_measured_with_idle_connections_and_without(self) -> None:
        folder = self.run_lab(
            *("--stages", ",".join(STAGES), "--sizes", "1KB"),
            *("--seconds", "1", "--threads", "40"),
        )
        rows = {row["stage"]: row for row in table(folder / "points.csv")}
        self.assertEqual(sorted(rows), sorted(STAGES))
        self.assertEqual({row["workload"] for row in rows.values()}, {"connections"})
        for model in MODELS:
            self.require_the_looks(rows[f"models-{model}"], rows[f"models-{model}-idle"])
        each = {model: rows[f"models-{model}-idle"] for model in MODELS}
        self.assertEqual(round(float(each["process"]["processes_each"])), 1)
        self.assertEqual(round(float(each["thread"]["processes_each"])), 0)
        self.assertGreater(float(each["thread"]["threads_each"]), 0.5)  # some were there
        self.assertLess(float(each["event"]["threads_each"]), 0.5)
        summary = (folder / "summary.md").read_text(encoding="utf-8")
        self.assertIn("| models-event-idle | 40 |", summary)

    def require_the_looks(self, active: dict[str, str], idle: dict[str, str]) -> None:
        self.assertEqual(active["idle_held"], "")
        self.assertEqual(float(idle["idle_held"]), 32)
        self.assertEqual(idle["server_switches_per_s"], "")
        self.assertGreater(float(active["server_switches_per_s"]), 0)
        self.assertGreater(float(active["throughput_rps"]), 0)
        self.assertGreater(float(idle["throughput_rps"]), 0)
        self.assertNotIn("idle connections", idle["failures"])

    def run_lab(self, *flags: str) -> Path:
        """Returns the folder with the results."""
        folder = examples.folder(self, disk_folder())
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        done = lab("run", "models", "--quick", "--programs", str(BUILD), *places, *flags)
        self.assertIn(done.returncode, DONE, done.stderr)
        self.assertFalse((folder / "work" / "linked").exists())
        return folder / "out"
