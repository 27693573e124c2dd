"""The end of a report: what the machines of the papers carried."""

import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.analysis.cells import Analysis
from lab.observe.machine_probe import MachineProbe
from lab.plan import catalog, machines
from lab.report import appendix
from lab.report.document import Table
from lab.results.environment import Environment
from lab.results.records import Folder

_TITLE = "Machines of the papers: their limits, and what a probe found"
_STAGE = catalog.stages()["redis"]


def machines_table(environment: Environment) -> Table | None:
    blocks = appendix.environment_section(
        Folder(Path("/nonexistent")), environment, Analysis([], environment)
    )
    tables = [block for block in blocks if isinstance(block, Table) and block.title == _TITLE]
    return tables[0] if tables else None


class MachinesTest(unittest.TestCase):
    def test_each_limit_stands_beside_what_was_found(self) -> None:
        stages = {
            name: replace(_STAGE, name=name, machine=machines.machine(machine))
            for name, machine in (("a", "486"), ("b", "486"), ("c", "pentium-90"))
        }
        probes = {"486": MachineProbe(cores=0.0083, read_bytes_per_s=1.99e6, cached_bytes=4.2e6)}
        table = machines_table(
            replace(examples.ENVIRONMENT, stages=stages, machine_probes=probes, stacks={})
        )
        assert table is not None
        self.assertEqual(
            table.rows,
            [
                ["486", "4.19 MB", "4.2 MB", "2.0", "2.0", "0.01", "0.0083"],
                ["pentium-90", "31.5 MB", "", "", "", "0.03", ""],
            ],
        )

    def test_there_is_no_table_without_machines(self) -> None:
        environment = replace(examples.ENVIRONMENT, stages={"redis": _STAGE}, stacks={})
        self.assertIsNone(machines_table(environment))


if __name__ == "__main__":
    unittest.main()
