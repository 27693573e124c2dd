"""Ramps: what a scale leaves as it is, those of the papers, and the flags that only they have."""

import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab import cli
from lab.kinds.ramp import Ramp, Scale
from lab.plan import catalog, options, papers
from lab.plan.plan import Options
from rig.errors import WrongUsage
from rig.nodes import Change, Group

RAMP = Ramp(
    name="made-up",
    title="a ramp",
    clients=11,
    every_s=20,
    life_s=500,
    file_bytes=100 * 1024,
    hosts=(
        Group(
            name="far", count=3, link="1mbit", changes=(Change(at_s=60, rate="2mbit", stagger_s=4),)
        ),
        Group(name="near", count=2),
    ),
    server_link="9mbit",
    lost_share=0.2,
    scales={},
)
TENTH = Scale(time=10, file=4)


class RampTest(unittest.TestCase):
    def test_all_are_there_from_the_last_start_until_the_first_end(self) -> None:
        self.assertEqual(RAMP.last_start_s, 200)
        self.assertEqual(RAMP.plateau_s, (200, 500))
        self.assertEqual((RAMP.length_s, RAMP.host_count), (700, 5))

    def test_testers_are_killed_on_the_way_up(self) -> None:
        (ramp,) = [one for one in catalog.ramps().values() if one.lost_share]
        self.assertLess(ramp.loss_s, ramp.last_start_s)
        self.assertEqual(ramp.scaled(TENTH).loss_s, ramp.life_s / 20)

    def test_where_the_first_client_leaves_before_the_last_one_comes_there_is_no_plateau(self):
        start_s, end_s = replace(RAMP, life_s=199.0).plateau_s
        self.assertLess(end_s, start_s)

    def test_all_times_are_divided_alike_and_rates_stay(self) -> None:
        scaled = RAMP.scaled(TENTH)
        self.assertEqual((scaled.every_s, scaled.life_s, scaled.scale), (2, 50, TENTH))
        self.assertEqual(scaled.plateau_s, (20, 50))
        (change,) = scaled.hosts[0].changes
        self.assertEqual(change, Change(at_s=6, rate="2mbit", stagger_s=0.4))
        self.assertEqual(
            [(one.name, one.count, one.link) for one in scaled.hosts],
            [("far", 3, "1mbit"), ("near", 2, "")],
        )
        self.assertEqual((scaled.server_link, scaled.clients), ("9mbit", 11))
        self.assertEqual(scaled.lost_share, 0.2)

    def test_links_change_from_the_first_to_the_last_one(self) -> None:
        figure4 = catalog.ramps()["figure4"]
        self.assertEqual(figure4.changes_s, (10_000, 10_870))
        scaled = figure4.scaled(Scale(time=100, file=100)).changes_s
        self.assertEqual(scaled and [round(one, 3) for one in scaled], [100.0, 108.7])
        self.assertIsNone(catalog.ramps()["figure6"].changes_s)

    def test_a_run_that_loses_testers_has_the_load_of_one_that_loses_none(self) -> None:
        named = replace(
            RAMP, name="other", title="another", lost_share=0.0, scales={"quick": TENTH}
        )
        self.assertTrue(named.has_load_of(RAMP))
        for other in (replace(RAMP, clients=12), replace(RAMP, server_link=""), RAMP.scaled(TENTH)):
            self.assertFalse(other.has_load_of(RAMP))

    def test_a_file_has_whole_kib_and_at_least_one(self) -> None:
        sizes = [RAMP.scaled(Scale(time=1, file=file)).file_bytes for file in (1, 3, 1e6)]
        self.assertEqual(sizes, [100 * 1024, 33 * 1024, 1024])

    def test_a_scale_tells_that_of_files_only_if_it_is_another(self) -> None:
        self.assertEqual(str(TENTH), "10 (files: 4)")
        self.assertEqual(str(Scale(time=2.5, file=2.5)), "2.5")


class PapersRampsTest(unittest.TestCase):
    def test_each_has_a_scale_for_each_mode_of_its_paper(self) -> None:
        for paper in papers.names():
            method = papers.read(paper, "method.json")
            for name in method.get("ramps", {}):
                scales = catalog.ramps()[name].scales
                self.assertEqual(set(scales), set(method["modes"]), name)

    def test_figure_6_is_1800_clients_on_130_hosts(self) -> None:
        ramp = catalog.ramps()["figure6"]
        self.assertEqual((ramp.clients, ramp.host_count), (1800, 130))
        self.assertEqual((ramp.every_s, ramp.life_s, ramp.file_bytes), (1, 2400, 10 << 20))

    def test_all_clients_of_each_are_there_for_a_while(self) -> None:
        for name, ramp in catalog.ramps().items():
            start_s, end_s = ramp.plateau_s
            self.assertGreater(end_s, start_s, name)


class PlanTest(unittest.TestCase):
    def test_a_quick_run_of_the_paper_takes_less_than_15_minutes(self) -> None:
        made = examples.planned(*self.names("003"))
        self.assertLess(made.seconds, 900)
        self.assertGreater(made.seconds, 60)

    def test_a_ramp_is_measured_with_all_of_its_clients_by_the_scale_of_the_mode(self) -> None:
        (planned,) = examples.planned("003-figure6", stages=("sink",)).planned.values()
        self.assertEqual((planned.steps, planned.size), ((1800,), None))
        assert planned.ramp
        self.assertEqual(planned.ramp.scale, catalog.ramps()["figure6"].scales["quick"])
        self.assertGreater(planned.seconds, planned.ramp.length_s)

    def test_a_scale_that_was_chosen_is_that_of_times_and_files(self) -> None:
        made = examples.planned("003-figure6", stages=("sink",), scale=64.0)
        (planned,) = made.planned.values()
        assert planned.ramp
        self.assertEqual(planned.ramp.scale, Scale(time=64, file=64))
        self.assertEqual(planned.ramp.file_bytes, (10 << 20) // 64)

    def test_a_chosen_number_of_clients_comes_as_fast_as_all_would(self) -> None:
        made = examples.planned("003-figure2", stages=("sink",), threads=(100,))
        (planned,) = made.planned.values()
        assert planned.ramp
        self.assertEqual((planned.steps, planned.ramp.clients), ((100,), 100))
        whole = catalog.ramps()["figure2"]
        self.assertEqual(planned.ramp.every_s * planned.ramp.scale.time, whole.every_s)

    def names(self, word: str) -> list[str]:
        return [one.name for one in catalog.choose_experiments([word])]


class FlagsTest(unittest.TestCase):
    def checked(self, *arguments: str) -> Options:
        return options.checked(cli._parser().parse_args(["run", *arguments]))

    def hosts(self) -> Path:
        file = examples.folder(self) / "hosts"
        file.write_text("one.example\n")
        return file

    def test_a_ramp_has_a_scale_and_hosts(self) -> None:
        hosts = self.hosts()
        found = self.checked("003-figure1", "--scale", "7", "--hosts", str(hosts))
        self.assertEqual((found.scale, found.hosts), (7.0, str(hosts.resolve())))
        self.assertTrue(found.has_remote_client)

    def test_other_experiments_have_neither(self) -> None:
        for flag, value in (("--scale", "7"), ("--hosts", str(self.hosts()))):
            for experiments in (["table4"], ["003-figure1", "mix"]):
                with self.assertRaisesRegex(WrongUsage, f"^{flag}: .* has no ramps$"):
                    self.checked(*experiments, flag, value)

    def test_the_load_comes_from_hosts_or_from_the_client(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "--hosts and --client"):
            self.checked("003-figure1", "--hosts", str(self.hosts()), "--client", "elsewhere")

    def test_a_ramp_has_one_number_of_clients(self) -> None:
        self.assertEqual(self.checked("003-figure2", "--threads", "100").threads, (100,))
        with self.assertRaisesRegex(WrongUsage, "one number of clients"):
            self.checked("003-figure2", "--threads", "100,500")

    def test_a_scale_is_more_than_0(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "--scale"):
            self.checked("003-figure1", "--scale", "0")
