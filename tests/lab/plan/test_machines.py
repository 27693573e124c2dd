"""The machines of the papers, and which one a stage of a plan gets."""

import argparse
import dataclasses
import unittest
from unittest import mock

import examples

from lab.plan import catalog, machines, options
from lab.plan.from_json import from_json
from lab.plan.machines import Machine
from rig.errors import WrongUsage
from rig.link import Link

_486 = machines.machine("486")
_OF_THE_STAGE = dataclasses.replace(
    catalog.stages()["redis"], machine=machines.machine("pentium-90")
)


def machine_of(stage: str, **chosen: object) -> Machine | None:
    stages = {**catalog.stages(), "redis": _OF_THE_STAGE}
    with mock.patch.object(catalog, "stages", return_value=stages):
        return examples.planned("table4", **chosen).stages[stage].machine


class MachinesTest(unittest.TestCase):
    def test_each_has_a_title_and_a_limit(self) -> None:
        for name, machine in machines.machines().items():
            self.assertEqual(machine.name, name)
            self.assertTrue(machine.title)
            self.assertEqual(machine.has_limits, name != "host")

    def test_the_486_has_its_page_cache_beside_the_idle_server(self) -> None:
        self.assertEqual((_486.cache_bytes, _486.memory_bytes), (4 << 20, None))

    def test_the_host_has_no_limit_and_so_takes_away_that_of_a_stage(self) -> None:
        self.assertIsNotNone(machine_of("pure-ftpd"))
        self.assertIsNone(machine_of("pure-ftpd", machine="host"))

    def test_a_stage_names_its_machine(self) -> None:
        self.assertEqual(catalog.stages()["ours-same"].machine, machines.machine("486-disk"))
        self.assertIsNone(catalog.stages()["redis"].machine)

    def test_a_folder_of_an_older_version_has_limits_without_a_name(self) -> None:
        self.assertEqual(
            from_json(Machine, {"memory_bytes": 1000, "cores": None}), Machine(memory_bytes=1000)
        )


class ChosenMachineTest(unittest.TestCase):
    def test_a_stage_keeps_its_own_unless_one_is_chosen(self) -> None:
        self.assertIsNone(machine_of("ph2"))
        self.assertEqual(machine_of("redis"), _OF_THE_STAGE.machine)

    def test_the_chosen_one_is_that_of_every_stage(self) -> None:
        for stage in ("ph2", "redis"):
            self.assertEqual(machine_of(stage, machine="486"), _486)

    def test_chosen_memory_replaces_that_of_the_machine_and_its_cache(self) -> None:
        found = machine_of("ph2", machine="486", memory_bytes=6 << 20)
        assert found is not None
        self.assertEqual((found.memory_bytes, found.cache_bytes), (6 << 20, None))
        self.assertEqual(found.read_bytes_per_s, _486.read_bytes_per_s)
        self.assertEqual(found.name, "486 with 6,144 KiB")

    def test_chosen_memory_is_a_machine_where_there_is_none(self) -> None:
        found = machine_of("ph2", memory_bytes=1 << 30)
        assert found is not None
        self.assertEqual((found.memory_bytes, found.name), (1 << 30, "1,048,576 KiB"))

    def test_an_unknown_machine_is_wrong_usage_that_names_the_known_ones(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "486-disk"):
            machines.machine("cray")
        arguments = argparse.Namespace(machine="cray", experiments=["table4"])
        arguments = argparse.Namespace(**{**_defaults(), **vars(arguments)})
        with self.assertRaisesRegex(WrongUsage, "cray"):
            options.checked(arguments)


def _defaults() -> dict[str, object]:
    text = (
        "stages sizes threads channels seconds repeat store p99 pace engine gap discard hold "
        "memory client link scale hosts note shared"
    )
    nothing = dict.fromkeys(text.split())
    return {**nothing, "quick": True, "series": False, "order": "interleaved", "pin": "none"}


class LinksTest(unittest.TestCase):
    def test_a_papers_link_has_its_rate_and_delay(self) -> None:
        lerc = machines.link("lerc")
        self.assertEqual((lerc.bits_per_s, lerc.delay_ms), (6.2e6, 60))
        bundle = machines.link("lerc-bundle")
        self.assertAlmostEqual(bundle.bits_per_s, 6.176e6)
        self.assertEqual(str(bundle), "4 × 1544kbit in turn, 60 ms there and back")

    def test_a_rate_is_a_link_without_delay(self) -> None:
        self.assertEqual(machines.link("10mbit"), Link(rate="10mbit"))
        self.assertEqual(str(machines.link("10mbit")), "10mbit")
        self.assertEqual(str(machines.link("")), "without a rate limit")

    def test_each_has_a_title_and_with_a_delay_a_queue(self) -> None:
        for name, link in machines.links().items():
            with self.subTest(name):
                self.assertTrue(link.title)
                self.assertGreater(link.bits_per_s, 0)
                self.assertEqual(link.queue_bytes > 0, link.delay_ms > 0)

    def test_anything_else_is_told_with_the_names(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "wanted a rate like 10mbit or 1gbit, or lerc, "):
            machines.link("lerk")
