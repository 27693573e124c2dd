"""The data files name only what exists, and contain all of the paper."""

import dataclasses
import unittest
from dataclasses import replace
from unittest import mock

import examples

from lab.observe import limits
from lab.plan import catalog, papers, plan
from lab.plan.planned import BLOCKED, INTERLEAVED
from lab.report.page import VIEWS
from rig.errors import WrongUsage


class CatalogTest(unittest.TestCase):
    def test_every_experiment_names_what_there_is(self):
        rows = {catalog.NEW, *catalog.sizes(), *catalog.ramps()}
        for experiment in catalog.experiments().values():
            self.assertLessEqual(set(experiment.stages), set(catalog.stages()), experiment.name)
            self.assertLessEqual(set(experiment.rows), rows, experiment.name)
            self.assertLessEqual(set(experiment.quick_stages), set(experiment.stages))
            self.assertLessEqual(set(experiment.quick_rows), set(experiment.rows))
            self.assertLessEqual(set(experiment.views), set(VIEWS), experiment.name)

    def test_an_order_of_a_stage_is_one_of_those_that_there_are(self):
        for stage in catalog.stages().values():
            self.assertIn(stage.order, ("", INTERLEAVED, BLOCKED), stage.name)

    def test_every_table_and_figure_of_the_paper_has_its_experiment(self):
        wanted = {
            "table1",
            "table2",
            "table3",
            "table4",
            *(f"figure{number}" for number in (3, 4, *range(5, 16))),
            "prefetch",
        }
        self.assertLessEqual(wanted, set(catalog.experiments()))

    def test_the_papers_folders_are_stages(self):
        self.assertLessEqual(
            {"ph2", "multithreaded", "prefetching", "redis"}, set(catalog.stages())
        )

    def test_both_modes_have_a_ladder_for_both_requests_from_one_thread_on(self):
        for name in ("quick", "full"):
            for request, ladder in catalog.modes()["002", name].threads.items():
                self.assertEqual(ladder[0], 1, request)
                self.assertEqual(list(ladder), sorted(set(ladder)))

    def test_table_4_is_three_stages_of_seven_rows(self):
        experiment = catalog.experiments()["table4"]
        cells = catalog.cells_of(experiment, core_count=2)
        self.assertEqual(len(cells), 21)
        for cell in cells:
            self.assertIsNotNone(papers.numbers("002").peak("table4", cell.stage, cell.row))

    def test_an_open_loop_is_a_cell_of_its_own(self):
        (cell,) = catalog.cells_of(catalog.experiments()["knee"], core_count=2)
        self.assertEqual((cell.is_open, cell.slug), (True, "turnstile-1KB-open"))
        self.assertNotEqual(cell, catalog.Cell("turnstile", "1KB"))
        self.assertEqual(str(cell), "turnstile, get 1KB, open loop")

    def test_a_quick_run_may_have_fewer_unless_they_are_chosen(self):
        experiment = replace(
            catalog.experiments()["table4"], quick_stages=("redis",), quick_rows=("1KB",)
        )
        quick = experiment.narrowed(None, None, is_quick=True)
        self.assertEqual((quick.stages, quick.rows), (("redis",), ("1KB",)))
        full = experiment.narrowed(None, None)
        self.assertEqual((full.stages, full.rows), (experiment.stages, experiment.rows))
        chosen = experiment.narrowed(("turnstile",), ("10KB",), is_quick=True)
        self.assertEqual((chosen.stages, chosen.rows), (("turnstile",), ("10KB",)))

    def test_cells_can_be_narrowed_and_stages_replaced(self):
        experiment = catalog.experiments()["table4"].narrowed(("turnstile",), ("1KB",))
        cells = catalog.cells_of(experiment, core_count=2)
        self.assertEqual(cells, [catalog.Cell("turnstile", "1KB")])

    def test_of_a_failover_only_its_own_stages_can_be_chosen(self):
        failover = catalog.experiments()["failover"]
        self.assertEqual(failover.narrowed(("turnstile",), None).stages, ())
        chosen = failover.narrowed(("turnstile", "failover-kept"), None)
        self.assertEqual(chosen.stages, ("failover-kept",))
        for name in failover.stages:
            self.assertIsNotNone(catalog.stages()[name].failover)

    def test_each_setting_of_a_mix_is_there_with_writers_and_without(self):
        mix = catalog.experiments()["mix"]
        self.assertEqual(mix.narrowed(("turnstile", "mix-10"), None).stages, ("mix-10",))
        settings = {}
        for name in mix.stages:
            found = catalog.stages()[name].mix
            assert found
            settings[bool(found.kinds), found.in_memory] = name
        self.assertEqual(len(settings), len(mix.stages))
        for has_writers, in_memory in settings:
            self.assertIn((not has_writers, in_memory), settings)

    def test_figure_14_has_a_cell_for_each_number_of_cores(self):
        cells = catalog.cells_of(catalog.experiments()["figure14"], core_count=3)
        self.assertEqual([cell.fileserver_cores for cell in cells], [1, 2, 3])
        many = catalog.cells_of(catalog.experiments()["figure14"], core_count=8)
        self.assertEqual([cell.fileserver_cores for cell in many], [1, 2, 3, 4, 5])

    def test_all_is_every_experiment_once(self):
        known = catalog.experiments().values()
        self.assertEqual(
            catalog.choose_experiments(["table4", "all"]),
            [one for one in known if one.paper == catalog.MAIN_PAPER],
        )

    def test_an_unknown_experiment_is_wrong_usage(self):
        with self.assertRaises(WrongUsage):
            catalog.choose_experiments(["table9"])

    def test_numbers_are_only_compared_inside_their_table(self):
        self.assertEqual(
            papers.numbers("002").peak("table3", "multithreaded", "1KB").throughput_rps, 5323.32
        )
        self.assertEqual(
            papers.numbers("002").peak("table4", "multithreaded", "1KB").throughput_rps, 4954.06
        )
        self.assertIsNone(papers.numbers("002").peak("table4", "turnstile", "1KB"))


STAGE = dataclasses.replace(catalog.stages()["redis"], store="", system="proftpd")


class NoStoreTest(unittest.TestCase):
    def planned(self, store: str | None) -> plan.Plan:
        """An experiment of two stages, the stage redis without a store."""
        stages = {**catalog.stages(), "redis": STAGE}
        with mock.patch.object(catalog, "stages", return_value=stages):
            return examples.planned("table4", store=store)

    def test_another_store_is_not_for_it(self) -> None:
        stages = self.planned("sqlite").stages
        self.assertEqual((stages["redis"].store, stages["ph2"].store), ("", "sqlite"))

    def test_it_needs_no_tools_of_a_store(self) -> None:
        todo = self.planned(None)
        cells = tuple(dataclasses.replace(cell, stage="redis") for cell in todo.cells)
        folder = examples.folder(self)
        found = limits.compare(dataclasses.replace(todo, cells=cells), folder, folder)
        self.assertNotIn("redis-server", [finding.name for finding in found])
