"""What the report says about ramps, and what it draws."""

import re
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any

import drawings
import examples
import made_up_ramps
from made_up_ramps import MIB, MadeUp

from lab.analysis.cells import Analysis
from lab.kinds.ramp import views
from lab.plan import catalog, plan
from lab.report import page
from lab.report.document import Figure
from lab.report.scene import Scene
from lab.results import series as kept
from lab.results.environment import Environment
from lab.results.records import Folder
from lab.workloads.outcome import Event, Second, Series

OPTIONS = examples.options("003-figure3")
FIGURE_3 = plan.ramp_of("figure3", OPTIONS)
assert FIGURE_3
MADE_UP = MadeUp(ramp=FIGURE_3)
ENVIRONMENT = replace(
    examples.ENVIRONMENT, options=OPTIONS, mode=catalog.modes()["003", "quick"], file_counts={}
)
SECOND = Second(t=1, under_way=1, started=1, ended=1, failed=0, bytes=1, mean_ms=1.0, max_ms=1.0)
SERIES = Series((SECOND,), (Event(12.0, "planetlab at 1500kbit"),))


class Written:
    """A report about a run of figure 3."""

    def __init__(
        self,
        test: unittest.TestCase,
        made: MadeUp = MADE_UP,
        groups: dict[str, Any] | None = None,
        **changes: Any,
    ):
        options = replace(OPTIONS, scale=made.ramp.scale.time)
        self.environment = replace(ENVIRONMENT, options=options)
        self.folder = examples.results(test, environment=self.environment)
        run = made_up_ramps.run(made.ramp, **changes)
        raw = {"ramp": {"groups": groups or {}}}
        evidence = {"command": "loadgen", "loadgen": raw, **made.evidence(), **kept.packed(SERIES)}
        self.folder.add(run, evidence)
        page.write(self.folder)

    @property
    def summary(self) -> str:
        return (self.folder.path / "summary.md").read_text(encoding="utf-8")

    @property
    def report(self) -> str:
        """Without its line ends."""
        text = (self.folder.path / "report.html").read_text(encoding="utf-8")
        return re.sub(r"\s+", " ", text)

    @property
    def drawing(self) -> Path:
        return self.folder.path / "figures" / "ramp-sink-figure3.svg"

    def figure(self) -> Figure:
        return examples.only(Figure, views.figures(scene(self.folder, self.environment)))


def scene(folder: Folder, environment: Environment, row: str = "figure3") -> Scene:
    return Scene(
        catalog.experiments()[f"003-{row}"],
        [catalog.stages()["sink"]],
        [row],
        Analysis(folder.runs(), environment, folder.evidence),
        environment,
        folder,
    )


class PageTest(unittest.TestCase):
    def test_what_was_found_is_said_first(self) -> None:
        self.assertRegex(
            Written(self).summary,
            r"sink, figure3: 1,100 clients on 130 hosts brought 40\.0 MiB/s, and no more from "
            r"5\d\d uploads under way on; the server saw [+-]0\.0\d% of that on average\.\n",
        )

    def test_a_table_has_its_figures_with_intervals(self) -> None:
        self.assertRegex(
            Written(self, requests=55, bytes=3 * MIB).summary,
            r"\| sink \| figure3 \| 130 \| 55 \| 3 \| 40\.0 \| 336 \| 0\.02 "
            r"\| 5\d\d \(5\d\d–[56]\d\d\) \| [+-]0\.0\d% \| [+-]0\.\d% \|\n",
        )

    def test_a_table_has_what_clients_cost(self) -> None:
        memory = r"64\.\d \(6[34]\.\d to 6[45]\.\d\)"
        correlation = r"-?[01]\.\d\d \(-?[01]\.\d\d to -?[01]\.\d\d\)"
        self.assertRegex(
            Written(self).summary,
            rf"\| sink \| figure3 \| {memory} \| {memory} \| {memory} \| 0\.\d+ \| 0\.\d+ "
            rf"\| {correlation} \| {correlation} \|\n",
        )

    def test_groups_of_hosts_stand_apart_where_there_are_several(self) -> None:
        self.assertNotIn("Groups of hosts", Written(self).report)
        near = {"hosts": 30, "bytes_per_s": 30.0 * MIB, "mean_ms": 500.0, "fairness": 0.987}
        far = {"hosts": 100, "bytes_per_s": 10.0 * MIB, "mean_ms": None, "fairness": None}
        written = Written(self, groups={"near": near, "far": far})
        self.assertIn(
            "| sink | figure3 | near | 30 | 30.0 | 1,024 | 0.50 | 0.99 |", written.summary
        )
        self.assertIn("| sink | figure3 | far | 100 | 10.0 | 102 |  |  |", written.summary)

    def test_the_papers_own_run_stands_beside_it(self) -> None:
        written = Written(self)
        self.assertIn("The paper’s run", written.report)
        self.assertIn("| 3 | 1,100 | 130 | 1 s | 2,400 s | 131.1 GB | 13,425 |", written.summary)
        self.assertNotIn("| 2 | 500 |", written.summary)

    def test_a_figure_tells_scale_hosts_links_and_files(self) -> None:
        written = Written(self, requests=55, bytes=3 * MIB)
        self.assertIn("planetlab at 1500kbit", written.drawing.read_text(encoding="utf-8"))
        caption = (
            "1,100 clients on 100 of planetlab at 10mbit, 30 of cluster at 100mbit, behind a link "
            "of 360mbit. A new one every 10 ms, each for 24 s, with files of 102 KiB. Scale 100. "
            "3 MiB in 55 uploads."
        )
        self.assertIn(caption, written.report)
        self.assertNotIn("keeps no log", written.report)

    def test_lost_testers_are_a_remark_everywhere(self) -> None:
        written = Written(self, testers_lost=43.0, last_loss_s=12.3, plateau_from_s=15.0)
        (sentence,) = re.findall("sink, figure3: .*", written.summary)
        self.assertRegex(
            sentence,
            r"^sink, figure3: 1,100 clients on 130 hosts\. 43 testers were lost by 12 s; from 15 s "
            r"on, those that are left brought 40\.0 MiB/s; the server saw [+-]0\.\d\d% of that on "
            r"average\.$",
        )
        told = " 43 testers were lost by 12 s. The clients’ view lacks their uploads."
        self.assertIn(told, written.figure().caption)
        self.assertRegex(written.summary, r"\| 130 \(43 lost\) \|")
        whole = Written(self)
        self.assertNotIn("lost", whole.figure().caption)
        for column in ("load: knee", "memory of each client: host"):  # of the load before
            self.assertIn(column, whole.summary)
            self.assertNotIn(column, written.summary)

    def test_one_tester_was_lost_and_never_heard_of(self) -> None:
        written = Written(self, testers_lost=1.0, plateau_from_s=10.99)
        self.assertIn(" 1 tester was lost. ", written.figure().caption)
        self.assertIn("1 tester was lost; from 11 s on, those that are left", written.summary)

    def test_those_left_are_compared_with_all(self) -> None:
        """With a run of the same load and server that lost none and is valid."""
        folder = examples.results(self, environment=ENVIRONMENT)
        lost = {"testers_lost": 43.0, "plateau_from_s": 21.0, "plateau_bytes_s": 41 * MIB}
        self.add(folder, "testers", **lost)
        self.add(folder, "figure3")
        self.add(folder, "figure6", failures="it was late")
        self.add(folder, "figure6", stage="sink-gridftp")
        self.assertTrue(self.answer(folder).endswith(" left brought 41.0 MiB/s."))
        for mib, said in ((40.0, "2.5% more"), (42.0, "2.4% less")):
            self.add(folder, "figure6", plateau_bytes_s=mib * MIB)
            wanted = f" left brought 41.0 MiB/s, {said} than all of figure6."
            self.assertTrue(self.answer(folder).endswith(wanted), self.answer(folder))

    def add(self, folder: Folder, row: str, **changes: Any) -> None:
        ramp = plan.ramp_of(row, OPTIONS)
        assert ramp
        run = made_up_ramps.run(ramp, **changes)
        folder.add(run, {"command": "loadgen", **MadeUp(ramp=ramp).evidence()})

    def answer(self, folder: Folder) -> str:
        (found,) = views.answers(scene(folder, ENVIRONMENT, "testers"))
        return found

    def test_a_run_that_is_not_valid_is_drawn_and_in_no_table(self) -> None:
        written = Written(self, failures="a tester began 99 ms late")
        self.assertTrue(written.drawing.exists())
        told = "This run is not valid: a tester began 99 ms late."
        self.assertIn(told, written.figure().caption)
        self.assertNotIn("| sink | figure3 |", written.summary)
        self.assertNotIn("clients on 130 hosts brought", written.summary)
        self.assertEqual(views.answers(scene(written.folder, ENVIRONMENT)), [])

    def test_a_server_without_a_log_has_one_view(self) -> None:
        written = Written(self, replace(MADE_UP, server=None))
        self.assertIn("This server keeps no log of transfers.", written.figure().caption)
        self.assertNotIn("the server saw", written.summary)
        self.assertNotIn("worst", written.summary)
        self.assertNotIn("load, server", written.drawing.read_text(encoding="utf-8"))

    def test_a_ramp_without_a_plateau_has_no_sentence(self) -> None:
        figures: dict[str, Any] = {"plateau_bytes_s": None, "plateau_mean_ms": None}
        self.assertNotIn("brought", Written(self, **figures).summary)


class ChartTest(unittest.TestCase):
    def test_both_views_the_machine_and_the_plateau_are_drawn(self) -> None:
        (canvas,) = Written(self).figure().canvases
        words = drawings.words(canvas)
        for name in (
            *("load, clients", "load, server", "throughput, clients", "throughput, server"),
            *("response time", "bytes in", "memory of the host", "memory of the servers"),
            *("CPU of the host", "all clients"),
        ):
            self.assertTrue([word for word in words if name in word], name)

    def test_nothing_leaves_the_canvas_and_no_text_covers_another(self) -> None:
        (canvas,) = Written(self).figure().canvases
        self.assertEqual(drawings.outside(canvas), [])
        self.assertEqual(drawings.overlapping(canvas), [])

    def test_the_response_time_has_a_panel_of_its_own(self) -> None:
        (canvas,) = Written(self).figure().canvases
        words = drawings.words(canvas)
        between = words[words.index("load, clients, uploads") : words.index("response time, s")]
        self.assertIn("0", between)  # the foot of the panel of the load

    def test_an_average_over_points_is_drawn_where_these_are_a_small_part_of_the_run(self) -> None:
        long = plan.ramp_of("figure3", replace(OPTIONS, scale=20.0))
        assert long
        for made, wanted in (
            ((), ["mean of 0.6 s, the paper’s 60"]),
            ((MadeUp(ramp=long),), ["mean of 3 s, the paper’s 60", "mean of 60 points"]),
        ):
            (canvas,) = Written(self, *made).figure().canvases
            means = [one for one in drawings.words(canvas) if one.startswith("mean")]
            self.assertEqual(means, wanted)  # the first one is the strong line

    def test_an_average_over_less_than_a_step_is_not_drawn(self) -> None:
        """It would be the points once more."""
        ramp = plan.ramp_of("figure3", replace(OPTIONS, scale=300.0))
        assert ramp
        (canvas,) = Written(self, MadeUp(ramp=ramp)).figure().canvases
        self.assertNotIn("the paper’s 60", " ".join(drawings.words(canvas)))
