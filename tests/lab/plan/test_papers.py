"""Papers are data: each folder of lab/papers is whole, and a further one needs no code."""

import json
import tempfile
import unittest
from collections import Counter
from pathlib import Path
from unittest import mock

from lab.plan import catalog, claims, papers


class PapersTest(unittest.TestCase):
    def test_no_two_papers_have_a_stage_or_an_experiment_of_the_same_name(self):
        for file in ("stages.json", "experiments.json"):
            used = Counter(key for _, key, _ in papers.entries(file))
            self.assertEqual([key for key, count in used.items() if count > 1], [], file)

    def test_every_experiment_names_a_table_that_its_paper_has(self):
        for experiment in catalog.experiments().values():
            tables = papers.numbers(experiment.paper).tables
            self.assertIn(experiment.numbers, ("", *tables), experiment.name)

    def test_every_number_and_claim_is_about_a_stage_and_rows_that_there_are(self):
        stages, rows = set(catalog.stages()), {catalog.NEW, *catalog.sizes()}
        for paper in papers.names():
            for table in papers.numbers(paper).tables.values():
                self.assertLessEqual(set(table), stages)
                for peaks in table.values():
                    self.assertLessEqual(set(peaks), rows)
            for claim in claims.claims(paper):
                named = (
                    {claim.before, claim.after} if isinstance(claim, claims.Gain) else {claim.stage}
                )
                self.assertLessEqual(named, stages, claim.text)
                self.assertLessEqual(set(claim.rows), rows, claim.text)

    def test_the_number_of_a_paper_is_all_of_its_experiments(self):
        chosen = catalog.choose_experiments(["002"])
        self.assertEqual({experiment.paper for experiment in chosen}, {"002"})
        self.assertIn("table4", [experiment.name for experiment in chosen])


class FurtherPaperTest(unittest.TestCase):
    """Two folders, as they would be with another paper."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Path(temporary.name)
        for paper in ("901", "900"):
            (folder / paper).mkdir()
            experiment = {"title": paper, "stages": [], "rows": [], "views": ["hardware"]}
            (folder / paper / "experiments.json").write_text(
                json.dumps({f"first-{paper}": experiment, f"second-{paper}": experiment})
            )
        patch = mock.patch.object(papers, "FOLDER", folder)
        self.forget()
        self.addCleanup(self.forget)
        patch.start()
        self.addCleanup(patch.stop)

    def forget(self):
        papers.names.cache_clear()
        catalog.experiments.cache_clear()

    def test_its_experiments_stand_beside_the_others(self):
        names = ["first-900", "second-900", "first-901", "second-901"]
        self.assertEqual(list(catalog.experiments()), names)

    def test_experiments_of_both_can_be_chosen(self):
        chosen = catalog.choose_experiments(["901", "first-900"])
        names = [experiment.name for experiment in chosen]
        self.assertEqual(names, ["first-900", "first-901", "second-901"])


if __name__ == "__main__":
    unittest.main()
