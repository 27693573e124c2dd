"""A stage whose system does not ask our authserver has no store, whatever the options say."""

import dataclasses
import unittest
from unittest import mock

import examples

from lab.observe import limits
from lab.plan import catalog, plan

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
