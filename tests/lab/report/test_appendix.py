"""The end of a report: points that failed, and what the machines of the papers carried."""

import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab.analysis.cells import Analysis
from lab.observe.machine_probe import MachineProbe
from lab.plan import catalog, machines
from lab.report import appendix
from lab.report.document import Listing, Table
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


class InvalidTest(unittest.TestCase):
    def test_points_are_counted_by_the_check_that_they_failed(self) -> None:
        why = "load generator: X*R is 0.9{0} of N. Of the threads' time, {0}%; 2% errors (busy {0})"
        runs = [examples.run(n, failures=why.format(n)) for n in (1, 2)]
        blocks = appendix.invalid(Analysis(runs, examples.ENVIRONMENT), examples.ENVIRONMENT)
        table = examples.only(Table, blocks)
        self.assertEqual(
            table.rows,
            [
                ["load generator: X*R is … of N", "2", examples.CELL.slug],
                ["…% errors (busy …)", "2", examples.CELL.slug],
            ],
        )
        each = examples.only(Listing, blocks)
        self.assertIn("N=2, run 1: load generator: X*R is 0.92 of N. Of the", each.text)


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
