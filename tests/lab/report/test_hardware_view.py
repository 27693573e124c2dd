"""Table 1: this host, and what was measured on it, in the rows of each paper."""

import unittest
from dataclasses import replace
from typing import Any

import examples

from lab.analysis.cells import Analysis
from lab.plan import catalog
from lab.report.document import Table
from lab.report.hardware_view import hardware
from lab.report.scene import Scene
from lab.results.environment import Environment, StackRecord

HOST = replace(
    examples.ENVIRONMENT.host,
    hardware={
        "Processor": "a <fast> one",
        "CPU(s)": "2",
        "Swap": "none",
        "Link": "eth0: 1000 Mbit/s",
        "MTU": "9000",
    },
    versions={"fileserver": "fileserver 0.2.0 (a compiler)"},
    disks={"sda": "a disk"},
)
ENVIRONMENT = replace(examples.ENVIRONMENT, host=HOST, stacks={})


def stack(link: str = "", **settings: str) -> StackRecord:
    return StackRecord(
        commands={},
        pinning="none",
        store="",
        store_settings=settings,
        durability="",
        link=link,
        mtu=1500,
    )


class HardwareTest(unittest.TestCase):
    def table(self, experiment: str, environment: Environment) -> Table:
        folder = examples.results(self, environment=environment)
        scene = Scene(
            catalog.experiments()[experiment],
            [],
            [],
            Analysis([], environment, folder.evidence),
            environment,
            folder,
        )
        return examples.only(Table, hardware(scene))

    def rows(self, experiment: str = "003-table1", **stacks: StackRecord) -> dict[str, Any]:
        found = self.table(experiment, replace(ENVIRONMENT, stacks=stacks))
        return {row[0]: row[1:] for row in found.rows}

    def test_a_paper_with_one_machine_has_one_column(self) -> None:
        found = self.table("003-table1", ENVIRONMENT)
        self.assertEqual(found.header, ["", "this host", "paper: servers"])
        self.assertNotIn("two machines", found.caption)
        rows = self.rows()
        self.assertEqual(rows["Processor"], ["a <fast> one", "name unknown, 1126 MHz"])
        self.assertEqual(rows["Memory"], ["8.0 GB", "1.5 GB"])
        self.assertEqual(rows["Swap"], ["none", "2 GB"])
        self.assertEqual(rows["Disk sda"], ["a disk", ""])

    def test_a_paper_with_two_machines_has_two(self) -> None:
        found = self.table("table1", ENVIRONMENT)
        self.assertEqual(found.header[2:], ["paper: load generator", "paper: servers"])
        self.assertIn("The paper had two machines.", found.caption)
        self.assertEqual(self.rows("table1")["Memory"], ["8.0 GB", "", ""])
        self.assertNotIn("Swap", self.rows("table1"))

    def test_without_a_ramp_the_link_is_that_of_the_host(self) -> None:
        for rows in (self.rows(), self.rows(a=stack())):
            self.assertEqual(rows["Link"], ["eth0: 1000 Mbit/s", "1 Gbit/s Ethernet"])
            self.assertEqual(rows["MTU"], ["9000", "1500"])

    def test_the_link_of_ramps_is_the_one_that_their_hosts_share(self) -> None:
        rows = self.rows(a=stack("360mbit"), b=stack("360mbit"), c=stack("720mbit"), d=stack())
        self.assertEqual((rows["Link"][0], rows["MTU"][0]), ("360mbit, 720mbit", "1500"))

    def test_each_measured_server_has_its_version(self) -> None:
        self.assertEqual(self.rows()["Server"], ["fileserver 0.2.0", "GridFTP 0.13"])
        grid = {"server": "gridftp", "version": "13.24-1"}
        rows = self.rows(a=stack(), b=stack(**grid), c=stack(**grid))
        self.assertEqual(rows["Server"][0], "fileserver 0.2.0, gridftp 13.24-1")
        self.assertEqual(self.rows(b=stack(**grid))["Server"][0], "gridftp 13.24-1")
