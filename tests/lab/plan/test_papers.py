"""Papers are data: each folder of lab/papers is whole, and a further one needs no code."""

import json
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

import examples

from lab.kinds import KINDS
from lab.plan import catalog, claims, papers
from rig.errors import WrongUsage


class PapersTest(unittest.TestCase):
    def test_no_two_papers_have_a_stage_or_an_experiment_of_the_same_name(self):
        for file in ("stages.json", "experiments.json"):
            used = Counter(key for _, key, _ in papers.entries(file))
            self.assertEqual([key for key, count in used.items() if count > 1], [], file)

    def test_every_experiment_names_a_table_that_its_paper_has(self):
        for experiment in catalog.experiments().values():
            printed = papers.numbers(experiment.paper)
            tables = ("", *printed.tables, *printed.printed)
            self.assertIn(experiment.numbers, tables, experiment.name)

    def test_every_number_and_claim_is_about_a_stage_and_rows_that_there_are(self):
        stages = set(catalog.stages())
        rows = {catalog.NEW, *catalog.sizes(), *catalog.ramps()}
        for paper in papers.names():
            for table in papers.numbers(paper).tables.values():
                self.assertLessEqual(set(table), stages)
                for peaks in table.values():
                    self.assertLessEqual(set(peaks), rows)
            for claim in claims.claims(paper):
                fields = ("before", "after", "stage", "than", "more", "fewer")
                named = {getattr(claim, field) for field in fields if hasattr(claim, field)}
                if isinstance(claim, claims.Ratio):
                    named = {claim.here.stage, claim.there.stage}
                    self.assertIn(claim.kind, KINDS)
                self.assertLessEqual(named, stages, claim.text)
                self.assertLessEqual(set(claim.rows), rows, claim.text)

    def test_a_printed_table_has_a_cell_for_each_column(self):
        for paper in papers.names():
            for name, table in papers.numbers(paper).printed.items():
                for row in table.rows:
                    self.assertEqual(len(row), len(table.header), (paper, name, row))

    def test_all_are_those_of_the_main_paper(self):
        """Papers measure in different ways, so one run has one of them."""
        self.assertEqual({one.paper for one in catalog.choose_experiments(["all"])}, {"002"})

    def test_the_number_of_a_paper_is_all_of_its_experiments(self):
        chosen = catalog.choose_experiments(["002"])
        self.assertEqual({experiment.paper for experiment in chosen}, {"002"})
        self.assertIn("table4", [experiment.name for experiment in chosen])


class FurtherPaperTest(unittest.TestCase):
    """Two folders, as they would be with another paper."""

    def setUp(self):
        folder = examples.folder(self)
        for paper in ("901", "900"):
            (folder / paper).mkdir()
            experiment = {"title": paper, "stages": [], "rows": [], "views": ["hardware"]}
            (folder / paper / "experiments.json").write_text(
                json.dumps({f"first-{paper}": experiment, f"second-{paper}": experiment})
            )
            self.write_method(folder / paper, seconds=2)
        self.folder = folder
        patch = mock.patch.object(papers, "FOLDER", folder)
        self.forget()
        self.addCleanup(self.forget)
        patch.start()
        self.addCleanup(patch.stop)

    def write_method(self, folder: Path, seconds: int) -> None:
        mode = {"seconds": seconds, "warmup_s": 0, "repeat": 1, "refinements": 0, "threads": {}}
        size = {f"{folder.name}KB": {"bytes": 1000 * int(folder.name), "files": {"full": 1}}}
        method = {"sizes": size, "modes": {"full": mode}}
        (folder / "method.json").write_text(json.dumps(method))

    def forget(self):
        for read in (papers.names, catalog.experiments, catalog.sizes, catalog.modes):
            read.cache_clear()

    def test_its_experiments_stand_beside_the_others(self):
        names = ["first-900", "second-900", "first-901", "second-901"]
        self.assertEqual(list(catalog.experiments()), names)

    def test_experiments_of_both_can_be_chosen(self):
        chosen = catalog.choose_experiments(["901", "first-900"])
        names = [experiment.name for experiment in chosen]
        self.assertEqual(names, ["first-900", "first-901", "second-901"])

    def test_the_sizes_of_all_papers_are_known(self):
        self.assertEqual(list(catalog.sizes()), ["900KB", "901KB"])

    def test_papers_that_measure_in_different_ways_are_not_mixed(self):
        both = catalog.choose_experiments(["900", "901"])
        self.assertEqual(catalog.mode_of(both, "full").seconds, 2)
        self.write_method(self.folder / "901", seconds=5)
        self.forget()
        self.assertEqual(catalog.mode_of(catalog.choose_experiments(["901"]), "full").seconds, 5)
        with self.assertRaisesRegex(WrongUsage, "the papers 900, 901 measure in different ways"):
            catalog.mode_of(both, "full")
