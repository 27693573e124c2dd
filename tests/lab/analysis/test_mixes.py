"""Trials of mixes are put together by stage and users; the best that a memory could do is known."""

import unittest
from dataclasses import replace

import examples

from lab.kinds.mix import Mix
from lab.kinds.mix import analysis as mixes
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.results.records import Run

STAGES = [catalog.stages()[name] for name in ("mix-25", "mix-25-writers")]


def trial(stage: str, threads: int = 8, **changes) -> Run:
    return examples.run(threads, cell=Cell(stage, "10KB", workload="mix"), **changes)


class MixesTest(unittest.TestCase):
    def test_trials_of_a_stage_with_as_many_users_are_one_result(self):
        runs = [
            trial("mix-25-writers", hit_share=0.2),
            trial("mix-25", hit_share=0.3),
            trial("mix-25", hit_share=0.4, repeat=2),
            trial("mix-25", 16),
            trial("mix-25", hit_share=0.9, failures="too late"),
            replace(trial("mix-25"), cell=Cell("mix-25", "10KB")),
        ]
        found = mixes.of_stages(runs, STAGES, "10KB")
        self.assertEqual(
            [(one.stage.name, one.threads, len(one.runs)) for one in found],
            [("mix-25", 8, 2), ("mix-25", 16, 1), ("mix-25-writers", 8, 1)],
        )
        self.assertAlmostEqual(found[0].median("hit_share") or 0, 0.35)
        self.assertIsNone(found[1].median("hit_share"))
        self.assertEqual([one.has_writers for one in found], [False, False, True])
        self.assertEqual(mixes.of_stages(runs, STAGES, "1KB"), [])

    def test_the_hits_are_the_weight_of_the_files_that_are_held(self):
        for files, zipf, in_memory, best in (
            (4, 0.0, 0.5, 0.5),
            (4, 1.0, 0.25, 1 / (1 + 1 / 2 + 1 / 3 + 1 / 4)),
            (3, 1.0, 2 / 3, 9 / 11),
            (3, 1.0, 1.0, 1.0),
            (3, 1.0, 1.5, 1.0),
            (3, 1.0, 0.0, 0.0),
        ):
            with self.subTest(files=files, in_memory=in_memory):
                held = mixes.expected("1KB", files, Mix(zipf=zipf, in_memory=in_memory))
                self.assertAlmostEqual(held.best, best)
                self.assertAlmostEqual(held.by_name, best)

    def test_file_10_comes_before_file_2_by_name(self):
        held = mixes.expected("1KB", 10, Mix(zipf=1, in_memory=0.2))
        whole = sum(1 / number for number in range(1, 11))
        self.assertAlmostEqual(held.by_name, (1 + 1 / 10) / whole)
        self.assertAlmostEqual(held.best, (1 + 1 / 2) / whole)
