"""What the report says about many connections, and what it draws."""

import unittest
from dataclasses import replace
from typing import Any

import drawings
import examples

from lab.kinds.connections import analysis as connections
from lab.kinds.connections import views
from lab.kinds.connections.views import Measured
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.report import page
from lab.results.records import Run

# Of a model: the rate with 8 and with 512, switches a request, bytes of an idle one without and
# with the kernel's.
MODELS = {
    "thread": (20_000.0, 30_000.0, 2.5, 13_000.0, 40_000.0),
    "process": (18_000.0, 15_000.0, 2.25, 140_000.0, 460_000.0),
    "event": (30_000.0, 60_000.0, 0.125, 350.0, 1_500.0),
    "nginx": (40_000.0, 70_000.0, 0.25, 500.0, 2_000.0),
}


def trial(model: str, n: int, rate: float, **changes: Any) -> Run:
    cell = Cell(f"models-{model}", "1KB", workload="connections")
    return examples.run(n, rate, cell=cell, store="", **changes)


def active(model: str, **changes: Any) -> list[Run]:
    few, many, switches, *_ = MODELS[model]
    return [
        trial(model, n, rate, server_switches_per_s=switches * rate, **changes)
        for n, rate in ((8, few), (512, many))
    ]


def idle(model: str) -> list[Run]:
    few, _, _, programs, with_kernels = MODELS[model]
    each = {
        "proportional_bytes_each": programs,
        "group_bytes_each": with_kernels,
        "threads_each": 1.0,
        "processes_each": 0.0,
    }
    name = f"{model}-idle"
    return [trial(name, 8, few), trial(name, 2000, 0.95 * few, p99_ms=4.0, **each)]


EVERYTHING = [run for model in MODELS for run in (*active(model), *idle(model))]


class WordsTest(unittest.TestCase):
    def said(self, *runs: Run) -> str:
        stages = catalog.experiments()["models"].stages
        steps = [connections.of_cell(name, "1KB", runs) for name in stages]
        loud, quiet = ([one for one in part if one] for part in (steps[:4], steps[4:]))
        return " ".join(views.sentences(loud, quiet))

    def test_rates_switches_memory_and_what_is_left_each_have_a_sentence(self):
        self.assertEqual(
            self.said(*EVERYTHING),
            "With 512 connections that all ask, requests/s: thread 30,000, process 15,000, event "
            "60,000, nginx 70,000. Context switches of the server for each of these requests: "
            "thread 2.5, process 2.25, event 0.125, nginx 0.25. An idle connection takes of the "
            "servers’ programs: thread 13 kB, process 140 kB, event 350 B, nginx 500 B; with the "
            "kernel’s part of the server: thread 40 kB, process 460 kB, event 1.5 kB, nginx 2 kB. "
            "Beside them, 2,000 connections in all, those that ask keep of their requests/s: "
            "thread 95%, process 95%, event 95%, nginx 95%.",
        )

    def test_the_numbers_are_of_the_n_that_most_stages_have(self):
        runs = [*active("thread"), *active("event")[:1]]
        self.assertIn("With 8 connections that all ask", self.said(*runs))

    def test_what_was_not_measured_is_not_said(self):
        self.assertEqual(self.said(), "")
        self.assertEqual(self.said(*active("event"), *idle("event")), "")
        without_group = [
            replace(run, figures={k: v for k, v in run.figures.items() if k[:5] != "group"})
            for run in EVERYTHING
        ]
        self.assertNotIn("kernel", self.said(*without_group))

    def test_a_point_without_a_valid_run_is_told(self):
        failed = trial("process", 10000, 10.0, failures="25% errors (busy 4,533)")
        said = self.said(*active("thread"), *active("process"), failed)
        self.assertIn("Not measured: models-process with 10,000; the table says why.", said)


class PageTest(unittest.TestCase):
    def test_what_was_found_is_said_first_and_in_tables_and_drawn(self):
        failed = trial("process", 2000, 10.0, failures="25% errors (busy 4,533)")
        html, summary = examples.written(self, "models", [*EVERYTHING, failed])
        title = "# Files of 1KB, 512 connections: requests/s of thread 30,000, process 15,000, "
        self.assertTrue(summary.startswith(f"{title}event 60,000, nginx 70,000\n"), summary[:200])
        self.assertIn("Files of 1KB. With 512 connections that all ask", summary)
        self.assertRegex(
            summary, r"\| models-event \| 512 \| 60,000 \| 8\.53 \| 5\.00 \| 0\.12 \| 6\.67 \|  \|"
        )
        self.assertRegex(summary, r"\| models-process \| 2,000 \|.*\| 25% errors \(busy 4,533\) \|")
        self.assertRegex(
            summary,
            r"\| models-event-idle \| 2,000 \| 28,500 \| ×0\.95 \| 4\.00 \| ×15\.0 \| 0\.35 "
            r"\| 1\.50 \| 1 \| 0 \|",
        )
        self.assertIn("Context switches: of all threads", html)
        self.assertIn("models-1KB.svg", summary)

    def test_findings_are_judged_and_one_pass_tells_nothing(self):
        html, _ = examples.written(self, "models", EVERYTHING)
        self.assertIn("Our expectation: events keep at least the throughput of threads", html)
        self.assertIn("×2.00", html)
        self.assertNotIn("✓", html)

    def test_each_view_of_the_experiment_exists(self):
        self.assertIn("models", page.VIEWS)


class ChartTest(unittest.TestCase):
    def test_nothing_leaves_the_canvas_and_no_text_covers_another(self):
        stages = [catalog.stages()[f"models-{model}"] for model in MODELS]
        more = [trial(model, n, 9e3) for model in MODELS for n in (1, 64, 2000, 10000)]
        again = [run for model in MODELS for run in active(model, repeat=2, p99_ms=1.0)]
        runs = [*EVERYTHING, *more, *again]
        measured = [Measured(one, connections.of_cell(one.name, "1KB", runs)) for one in stages]
        figure = views._figure("1KB", measured)
        self.assertEqual(len(figure.canvases), 4)
        for canvas in figure.canvases:
            self.assertEqual(drawings.outside(canvas), [])
            self.assertEqual(drawings.overlapping(canvas), [])
