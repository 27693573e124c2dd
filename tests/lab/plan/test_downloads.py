"""Downloads by clients: their channels, and the TCP of their link."""

import unittest
from dataclasses import replace

import examples
import own_paper

from lab import cli
from lab.plan import catalog, claims, options, plan
from lab.plan.catalog import Cell
from lab.plan.claims import Ratio
from lab.plan.options import Options
from lab.plan.plan import Plan
from lab.plan.planned import OVERHEAD_S
from rig.errors import WrongUsage
from rig.link import Tcp

ARIA2 = {"client": "aria2", "most_channels": 16}
STAGES = {
    "one": own_paper.stage("curl", [1, 2, 4], quick_steps=[1, 4]),
    "two": own_paper.stage(
        "aria2", [1], download=ARIA2, link="lerc", tcp={"window_bytes": 24576, "congestion": "bbr"}
    ),
}


class DownloadsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = examples.folder(self)
        own_paper.write(folder, STAGES)
        own_paper.in_force(self, folder)

    def checked(self, *arguments: str) -> Options:
        return options.checked(cli._parser().parse_args(["run", *arguments]))

    def planned(self, *arguments: str) -> Plan:
        chosen = self.checked(*arguments, "--pin", "none")
        return plan.make(chosen, (0, 1), examples.folder(self))

    def steps(self, *arguments: str) -> dict[str, tuple[int, ...]]:
        planned = self.planned(*arguments).planned
        return {cell.stage: one.steps for cell, one in planned.items()}

    def test_a_stage_says_how_many_channels_are_measured(self) -> None:
        self.assertEqual(self.steps("download"), {"one": (1, 2, 4), "two": (1,)})
        self.assertEqual(self.steps("download", "--quick")["one"], (1, 4))

    def test_or_the_command_line_does_as_far_as_the_client_can_have_them(self) -> None:
        self.assertEqual(
            self.steps("download", "--channels", "2,16,32"),
            {"one": (2, 16, 32), "two": (2, 16)},
        )
        self.assertEqual(self.steps("download", "--channels", "32")["two"], (16,))

    def test_only_downloads_have_channels_and_they_have_no_threads(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "^--channels: table4 has no downloads$"):
            self.checked("table4", "--channels", "1,2")
        with self.assertRaisesRegex(WrongUsage, "^--threads: download has --channels instead$"):
            self.checked("download", "--threads", "1,2")
        with self.assertRaisesRegex(WrongUsage, "^--channels 'x': wanted numbers"):
            self.checked("download", "--channels", "x")

    def test_clients_run_on_this_machine(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "its clients cannot be on another host"):
            self.checked("download", "--client", "elsewhere")
        self.assertEqual(self.checked("download", "--link", "jpl").link, "jpl")

    def test_a_connection_can_be_stuck_only_on_a_link_with_a_delay(self) -> None:
        folder, how = examples.folder(self), {"client": "curl", "stuck_s": 1}
        own_paper.write(folder, {"one": own_paper.stage("curl", [1], download=how, link="lerc")})
        own_paper.in_force(self, folder)
        self.assertEqual(self.checked("download", "--link", "jpl").link, "jpl")
        with self.assertRaisesRegex(
            WrongUsage, "^--link fddi: stage one needs a link with a delay"
        ):
            self.checked("download", "--link", "fddi")

    def test_other_stages_than_its_own_cannot_be_chosen(self) -> None:
        with self.assertRaisesRegex(WrongUsage, "download: it has the stages one, two"):
            self.checked("download", "--stages", "prefetching")

    def test_a_stage_may_set_the_tcp_of_its_link(self) -> None:
        stages = catalog.stages()
        self.assertEqual(stages["two"].tcp, Tcp(window_bytes=24576, congestion="bbr"))
        self.assertEqual(stages["one"].tcp, Tcp())

    def test_a_small_window_makes_it_take_longer(self) -> None:
        cells = self.planned("download").planned
        cell = Cell("two", own_paper.SIZE, workload="client")
        self.assertGreater(cells[cell].seconds, own_paper.SIZE_BYTES / (24576 / 0.060))

    def test_a_link_of_the_command_line_is_that_of_the_estimate(self) -> None:
        cell = Cell("two", own_paper.SIZE, workload="client")
        own, far = (
            self.planned("download", *flags).planned[cell].seconds
            for flags in ((), ("--link", "satellite"))
        )
        self.assertGreater(far - own, own_paper.SIZE_BYTES / (24576 / 0.480))

    def test_the_estimate_has_the_probe_of_each_link_once_and_what_kills_cost(self) -> None:
        found = self.planned("download", "--quick")
        cells_s = sum(one.seconds for one in found.planned.values())
        self.assertAlmostEqual(found.seconds - found.making_s - cells_s, 2 + 8)  # see test_probes
        one = found.planned[Cell("two", own_paper.SIZE, workload="client")]
        assert one.stage.download
        for change, more_s in (({"kills": 5}, 5 * OVERHEAD_S[True]), ({"stuck_s": 2.0}, 2.0)):
            how = replace(one.stage.download, **change)
            other = replace(one, stage=replace(one.stage, download=how))
            self.assertAlmostEqual(other.seconds - one.seconds, more_s)

    def test_a_quick_run_of_paper_004_takes_less_than_a_quarter_of_an_hour(self) -> None:
        self.assertLess(examples.planned("004").seconds, 15 * 60)

    def test_a_quick_run_of_paper_004_can_judge_each_of_its_findings(self) -> None:
        planned = examples.planned("004").planned
        points = {
            (cell.stage, cell.row, k) for cell, one in planned.items() for k in (*one.steps, None)
        }
        for one in claims.claims("004"):
            wanted: set[tuple[str, int | None]]
            if isinstance(one, Ratio):
                wanted = {(side.stage, side.at) for side in (one.here, one.there)}
            else:
                wanted = {(one.stage, None)}
            rows = [row for row in one.rows if all((at, row, k) in points for at, k in wanted)]
            self.assertTrue(rows, one.text)

    def test_a_client_that_is_not_known_is_told(self) -> None:
        folder = examples.folder(self)
        own_paper.write(folder, {"one": own_paper.stage("wget9", [1])})
        own_paper.in_force(self, folder)
        with self.assertRaisesRegex(WrongUsage, "no client 'wget9'; there are: curl, aria2"):
            cli._clients_of(self.checked("download"))
