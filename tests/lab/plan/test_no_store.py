"""A stage whose system does not ask our authserver has no store, whatever the options say."""

import dataclasses
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab.observe import limits
from lab.plan import catalog, plan
from lab.plan.plan import Options

STAGE = dataclasses.replace(catalog.stages()["redis"], store="", system="proftpd")


class NoStoreTest(unittest.TestCase):
    def planned(self, store: str | None) -> plan.Plan:
        """An experiment of two stages, the stage redis without a store."""
        stages = {**catalog.stages(), "redis": STAGE}
        with (
            tempfile.TemporaryDirectory() as files,
            mock.patch.object(catalog, "stages", return_value=stages),
        ):
            options = Options(experiments=("table4",), mode="quick", store=store, pin="none")
            return plan.make(options, (0, 1), Path(files))

    def test_another_store_is_not_for_it(self) -> None:
        stages = self.planned("sqlite").stages
        self.assertEqual((stages["redis"].store, stages["ph2"].store), ("", "sqlite"))

    def test_it_needs_no_tools_of_a_store(self) -> None:
        todo = self.planned(None)
        cells = tuple(dataclasses.replace(cell, stage="redis") for cell in todo.cells)
        with tempfile.TemporaryDirectory() as folder:
            found = limits.compare(
                dataclasses.replace(todo, cells=cells), Path(folder), Path(folder)
            )
        self.assertNotIn("redis-server", [finding.name for finding in found])


if __name__ == "__main__":
    unittest.main()
