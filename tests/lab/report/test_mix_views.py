"""What the report says about mixes, and what it draws."""

import unittest
from dataclasses import replace
from typing import Any

import drawings
import examples

from lab.kinds.mix import analysis as mixes
from lab.kinds.mix import views
from lab.kinds.mix.analysis import MixResult
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.report import page
from lab.results.records import Run

ALL = catalog.experiments()["mix"].stages
FILES = 1000
# Of a stage: the share in memory, hits, gets/s and their p99.
READERS = {"mix-disk": (0.0, 4000, 3.0), "mix-25": (0.3, 4400, 2.5), "mix-100": (1.0, 6000, 1.5)}
WRITERS = {
    "mix-disk-writers": (0.0, 1000, 40.0),
    "mix-25-writers": (0.3, 1100, 38.0),
    "mix-100-writers": (1.0, 1200, 36.0),
}


def trial(stage: str, **changes: Any) -> Run:
    hits, gets, p99 = (READERS | WRITERS)[stage]
    figures: dict[str, Any] = {
        "hit_share": hits,
        "files_in_memory": 250.0,
        "files_written_to_memory": 0.0,
        "get_rps": float(gets),
        "get_p50_ms": p99 / 3,
        "get_p99_ms": p99,
    }
    if stage in WRITERS:
        figures |= {"put_p50_ms": 12.0, "put_p99_ms": 60.0, "new_p50_ms": 80.0}
    cell = Cell(stage, "10KB", workload="mix")
    return examples.run(8, float(gets), cell=cell, **{**figures, **changes})


def results(*runs: Run) -> list[MixResult]:
    stages = [catalog.stages()[name] for name in ALL]
    return mixes.of_stages(runs, stages, "10KB")


EVERYTHING = [trial(stage) for stage in READERS | WRITERS]


class WordsTest(unittest.TestCase):
    def said(self, *runs: Run) -> str:
        return " ".join(views.sentences(results(*runs), "10KB", FILES))

    def test_hits_memory_and_writers_each_have_a_sentence(self):
        self.assertEqual(
            self.said(*EVERYTHING),
            "With memory for 25% of 1,000 files, 30% of those that were sent came from it; 53% are "
            "expected, because it has the files that come first by name. With the most popular "
            "ones it would be 75%. For readers alone, 4,000 "
            "gets/s become 6,000 (×1.50) and their p99 goes from 3.00 to 1.50 ms with all files "
            "in memory instead of none. With writers beside them (all files in memory), 6,000 "
            "gets/s become 1,200 (×0.20) and their p99 goes from 1.50 to 36.0 ms. In that mix a "
            "get takes 12.0 ms, a put 12.0 ms, a new account 80.0 ms (medians).",
        )

    def test_writers_alone_are_called_so(self):
        self.assertIn("For readers and writers, ", self.said(*map(trial, WRITERS)))
        self.assertNotIn("beside them", self.said(*map(trial, WRITERS)))

    def test_what_was_not_measured_is_not_said(self):
        self.assertEqual(self.said(), "")
        self.assertEqual(self.said(trial("mix-100")), "")
        few = self.said(trial("mix-25"), replace(trial("mix-25-writers"), threads=16))
        self.assertNotIn("beside", few)

    def test_files_that_were_written_may_take_memory(self):
        run = trial("mix-100-writers", files_written_to_memory=1234.0)
        self.assertIn("Up to 1,234 files that were written took memory", self.said(run))


class PageTest(unittest.TestCase):
    def written(self, *runs: Run) -> tuple[str, str | None]:
        """The summary, and the figure."""
        environment = replace(
            examples.ENVIRONMENT,
            options=examples.options("mix"),
            mode=catalog.modes()["002", "quick"],
            file_counts={"10KB": FILES},
        )
        folder = examples.results(self, *runs, environment=environment)
        page.write(folder)
        figure = folder.path / "figures" / "mix-10KB.svg"
        summary = (folder.path / "summary.md").read_text(encoding="utf-8")
        return summary, figure.read_text(encoding="utf-8") if figure.exists() else None

    def test_what_was_found_is_said_first_and_in_a_table_and_drawn(self):
        summary, drawn = self.written(*EVERYTHING)
        self.assertIn("# Files of 10KB: With memory for 25% of ", summary)
        self.assertIn("Files of 10KB. With memory for 25% of 1,000 files", summary)
        self.assertRegex(
            summary,
            r"\| mix-25-writers \| 8 \| 25% \| 30\.0% \| 52\.5% \| 75\.5% \| 1,100 "
            r"\| 12\.7 \| 38\.0 \| 12\.0 \| 60\.0 \| 80\.0 \|  \|",
        )
        assert drawn
        for name in ("readers only", "with writers", "best"):
            self.assertIn(f">{name}<", drawn)

    def test_a_run_that_is_not_valid_is_in_no_table(self):
        summary, _ = self.written(trial("mix-100"), trial("mix-25", failures="it was late"))
        self.assertIn("| mix-100 |", summary)
        self.assertNotIn("| mix-25 |", summary)

    def test_one_size_of_the_memory_is_not_drawn(self):
        self.assertIsNone(self.written(trial("mix-100"), trial("mix-100-writers"))[1])

    def test_of_several_numbers_of_users_the_most_are_drawn(self):
        more = [replace(run, threads=16) for run in EVERYTHING[:2]]
        summary, drawn = self.written(*EVERYTHING, *more)
        self.assertIn("| mix-disk | 16 |", summary)
        assert drawn
        self.assertNotIn("with writers", drawn)


class ChartTest(unittest.TestCase):
    def test_nothing_leaves_the_canvas_and_no_text_covers_another(self):
        passes = [trial(stage, repeat=2, get_p99_ms=1.2) for stage in READERS]
        figure = views._figure("10KB", results(*EVERYTHING, *passes), FILES)
        self.assertEqual(len(figure.canvases), 3)
        for canvas in figure.canvases:
            self.assertEqual(drawings.outside(canvas), [])
            self.assertEqual(drawings.overlapping(canvas), [])
