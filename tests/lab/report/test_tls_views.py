"""What the report says about TLS: against clear text, against nginx, and of a handshake."""

import unittest
from dataclasses import replace

import drawings
import examples

from lab.analysis.cells import Analysis
from lab.analysis.findings import judge
from lab.analysis.passes import CANNOT_TELL, SEEN
from lab.kinds.tls import analysis as tls
from lab.kinds.tls import views
from lab.kinds.tls.analysis import CPU, OF_ALL, RATE_OF_A_CORE, TlsResult
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.plan.claims import Ratio, Side
from lab.report import page
from lab.report.document import Figure
from lab.results.records import Run

# µs of the fileserver, or nginx, and of a proxy, for a request of 1KB.
COSTS = {
    "tls-thread-clear": (25, 0),
    "tls-thread": (30, 0),
    "tls-event-clear": (12, 0),
    "tls-event": (18, 0),
    "tls-nginx-clear": (16, 0),
    "tls-nginx": (20, 0),
    "tls-proxy-event": (20, 60),
    "tls-event-new-clear": (50, 0),
    "tls-event-new": (350, 0),
    "tls-event-resumed": (300, 0),
    "tls-nginx-new-clear": (40, 0),
    "tls-nginx-new": (400, 0),
}


def trial(stage: str, row: str = "1KB", repeat: int = 1, factor: float = 1.0) -> Run:
    rate, (server, proxy) = 1000.0, COSTS[stage]
    used = {"fileserver": factor * server * rate / 1e6, "loadgen": 0.5}
    if "nginx" not in stage:
        used["authserver"] = 10 * rate / 1e6
    if proxy:
        used["proxy"] = factor * proxy * rate / 1e6
    cell = Cell(stage, row, workload="tls")
    own = {"resumed_share": 0.99} if "resumed" in stage else {}
    return examples.run(8, rate, repeat, examples.usage(used), cell=cell, **own)


ONCE = [trial(stage) for stage in COSTS]


def results(runs: list[Run] = ONCE, row: str = "1KB") -> list[TlsResult]:
    stages = [catalog.stages()[name] for name in catalog.experiments()["tls"].stages]
    return tls.of_stages(runs, stages, row)


def named(name: str) -> TlsResult:
    (found,) = (one for one in results() if one.stage.name == name)
    return found


def name_of(one: TlsResult | None) -> str:
    return one.stage.name if one else ""


class ResultTest(unittest.TestCase):
    def test_the_cpu_time_of_a_request_is_that_of_what_the_file_passes(self) -> None:
        (run,) = named("tls-proxy-event").runs
        for figure, expected in ((CPU, 80e-6), (OF_ALL, 90e-6), (RATE_OF_A_CORE, 12_500)):
            found = named("tls-proxy-event").of_run(run, figure)
            assert found
            self.assertAlmostEqual(found / expected, 1)

    def test_runs_that_are_not_valid_or_of_fewer_users_are_left_out(self) -> None:
        few = replace(trial("tls-event", repeat=2), threads=4)
        failed = replace(trial("tls-event", repeat=3), failures="late")
        (found,) = results([trial("tls-event"), few, failed])
        self.assertEqual([run.repeat for run in found.runs], [1])

    def test_each_is_held_against_the_same_server_in_clear(self) -> None:
        for name, clear in (
            ("tls-thread", "tls-thread-clear"),
            ("tls-event-new", "tls-event-new-clear"),
            ("tls-event-resumed", "tls-event-new-clear"),
            ("tls-proxy-event", "tls-event-clear"),
            ("tls-nginx", "tls-nginx-clear"),
        ):
            self.assertEqual(name_of(tls.in_clear(named(name), results())), clear)

    def test_nginx_is_held_against_nothing_but_itself(self) -> None:
        for name, theirs in (
            ("tls-thread", "tls-nginx"),
            ("tls-thread-clear", "tls-nginx-clear"),
            ("tls-event-new", "tls-nginx-new"),
            ("tls-event-resumed", ""),  # that of nginx was not measured
            ("tls-proxy-event", ""),
            ("tls-nginx", ""),
        ):
            self.assertEqual(name_of(tls.other_servers(named(name), results())), theirs, name)

    def test_nginx_in_front_is_held_against_the_fileserver_that_encrypts_itself(self) -> None:
        self.assertEqual(name_of(tls.its_own(named("tls-proxy-event"), results())), "tls-event")

    def test_a_handshake_is_what_it_adds_within_each_pass(self) -> None:
        runs = [
            trial(stage, repeat=repeat, factor=factor)
            for repeat, factor in ((1, 1.0), (2, 2.0), (3, 3.0))
            for stage in ("tls-event-new-clear", "tls-event-new")
        ]
        clear, new = results(runs)
        found = tls.added(new, clear)
        assert found
        self.assertAlmostEqual(found.median, 600e-6)
        self.assertIsNone(tls.added(new, replace(clear, runs=[])))


class WordsTest(unittest.TestCase):
    def test_each_comparison_has_a_sentence(self) -> None:
        self.assertEqual(
            " ".join(views.sentences(results())),
            "CPU time of a kept request in TLS, against clear text: thread ×1.20, event ×1.50, "
            "nginx ×1.25. Against nginx in TLS: thread ×1.50, event ×0.90. Behind nginx, against "
            "TLS of its own: event ×4.44. CPU time of a handshake: event-new 300 µs, "
            "event-resumed 250 µs, nginx-new 360 µs.",
        )

    def test_what_was_not_measured_is_not_said(self) -> None:
        self.assertEqual(views.sentences(results([trial("tls-event")])), [])


class PageTest(unittest.TestCase):
    def test_what_was_found_is_said_first_and_in_tables(self) -> None:
        html, summary = examples.written(self, "tls", ONCE)
        self.assertIn("# Files of 1KB: CPU time of a kept request in TLS, against", summary)
        self.assertIn("Files of 1KB. CPU time of a kept request in TLS", summary)
        self.assertRegex(
            summary,
            r"\| tls-proxy-event \| 1,000 \| 90\.0 \| 80\.0 \| ×6\.67 \|  \| ×4\.44 \|",
        )
        self.assertRegex(
            summary,
            r"\| tls-event-resumed \| 1,000 \| 310 \| 300 \| ×6\.00 \|  \| 250 \| 3,333 "
            r"\| 99% \|",
        )
        self.assertIn("Kept connections make no more handshakes", html)
        self.assertIn("tls", page.VIEWS)

    def test_findings_are_judged_by_the_cpu_time(self) -> None:
        finding = Ratio(
            text="",
            kind="tls",
            figure="cpu_s_each",
            here=Side(stage="tls-event"),
            there=Side(stage="tls-proxy-event"),
            rows=("1KB",),
            below=0.5,
        )
        more = [
            trial(stage, repeat=repeat)
            for repeat in (2, 3)
            for stage in ("tls-event", "tls-proxy-event")
        ]
        for runs, verdict in ((ONCE, CANNOT_TELL), ([*ONCE, *more], SEEN)):
            (judged,) = judge(finding, Analysis(runs, examples.ENVIRONMENT))
            self.assertEqual((judged.verdict, judged.remark[:4]), (verdict, "×0.2"))


class ChartTest(unittest.TestCase):
    def test_the_cpu_time_is_drawn_over_the_size_if_there_are_two(self) -> None:
        kept = [name for name in COSTS if "new" not in name and "resumed" not in name]
        sizes = (("1KB", 1.0), ("100KB", 5.0), ("10MB", 500.0))
        runs = [trial(name, row, factor=factor) for name in kept for row, factor in sizes]
        measured = [(row, results(runs, row)) for row, _ in sizes]
        figure = views._over_sizes(measured)
        self.assertEqual(len(figure.canvases), 3)
        for canvas in figure.canvases:
            self.assertEqual(drawings.outside(canvas), [])
            self.assertEqual(drawings.overlapping(canvas), [])
        _, summary = examples.written(self, "tls", runs)
        self.assertIn("tls-sizes.svg", summary)
        self.assertIsInstance(figure, Figure)

    def test_one_size_is_not_drawn(self) -> None:
        _, summary = examples.written(self, "tls", ONCE)
        self.assertNotIn("tls-sizes", summary)
