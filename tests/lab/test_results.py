"""The kept results of docs/results: the files in the tree give the summary in the tree.

Their report is also the example that the rules of all figures and tables are tried on.

After a change of the lab's wording or rules, `make results-summary` writes the summaries again.
"""

import contextlib
import io
import re
import shutil
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import drawings

from lab import cli
from lab.analysis import consistency
from lab.plan import catalog
from lab.report import html, markdown, page
from lab.report.document import Document, Figure
from lab.results.records import Folder, Run

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
_LARGEST_PAGE = 450_000
_LARGEST_FIGURE = 8_000  # for each of its canvases
_LARGEST_CALLS = 14_000  # of who calls whom: each function says its name under the pointer
_LARGEST_COURSE = 30_000  # of a ramp, with a point for each quarter of a second in a dozen lines
_LONGEST_SUMMARY = 200
_LINES_OF_DOWNLOADS = 18  # for each picture: its sentences, and tables with its series
_LINES_OF_A_COURSE = 8  # a sentence, a picture with its caption, and rows of tables


def kept_folders() -> list[Path]:
    return sorted(path.parent for path in RESULTS.glob("*/recorded.zip"))


def _times_three(run: Run) -> Run:
    if run.cell.stage != "redis":
        return run
    return replace(
        run,
        throughput_rps=3 * run.throughput_rps,
        requests=3 * run.requests,
        bytes=3 * run.bytes,
        mean_ms=run.mean_ms / 3,
    )


class KeptResultsTest(unittest.TestCase):
    def test_there_are_kept_results(self) -> None:
        self.assertNotEqual(kept_folders(), [])

    def test_a_stage_that_was_made_faster_by_hand_contradicts_the_kernel(self) -> None:
        runs = Folder(RESULTS / "002").runs()
        self.assertEqual(consistency.contradictions(runs), [])
        found = consistency.contradictions(map(_times_three, runs))
        self.assertEqual(len(found), 5)
        self.assertRegex(found[0], r"redis, get .*: the kernel carried [34]\d% of the bytes")

    def test_the_kept_files_give_the_kept_summary_and_each_figure_that_it_names(self) -> None:
        for kept in kept_folders():
            with self.subTest(kept.name), tempfile.TemporaryDirectory() as folder:
                rendered = Path(folder) / kept.name
                shutil.copytree(kept, rendered)
                (rendered / "summary.md").unlink()
                shutil.rmtree(rendered / "figures")
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual(cli.main(["report", str(rendered)]), 0)
                summary = (rendered / "summary.md").read_bytes()
                self.assertTrue(
                    summary == (kept / "summary.md").read_bytes(),
                    f"{kept.name}/summary.md is stale; `make results-summary` writes it again",
                )
                figures = re.findall(r"\]\((figures/[^)]+\.svg)\)", summary.decode())
                self.assertNotEqual(figures, [])
                for figure in figures:
                    stale = f"{figure} is stale; `make results-summary` writes it again"
                    self.assertTrue(
                        (rendered / figure).read_bytes() == (kept / figure).read_bytes(), stale
                    )


def _is_course(figure: Figure) -> bool:
    return figure.name.startswith("ramp-")


def _is_of_downloads(figure: Figure) -> bool:
    return "-004-" in figure.name


class KeptReportTest(unittest.TestCase):
    """The report of all kept results, which is as large as reports are."""

    documents: dict[str, tuple[Document, Document]]  # the report, and its summary

    @classmethod
    def setUpClass(cls) -> None:
        cls.documents = {}
        for kept in kept_folders():
            folder = Folder(kept)
            report = page.Report(folder, folder.environment())
            cls.documents[kept.name] = report.document(), report.summary()

    def test_no_figure_leaves_its_canvas_and_no_text_covers_another_one(self) -> None:
        for name, (document, _) in self.documents.items():
            for figure in document.figures:
                for canvas in figure.canvases:
                    with self.subTest(name, figure=figure.name, canvas=canvas.title):
                        self.assertEqual(drawings.outside(canvas), [])
                        self.assertEqual(drawings.overlapping(canvas), [])

    def test_the_page_is_small_and_its_names_are_unique(self) -> None:
        for name, (document, _) in self.documents.items():
            with self.subTest(name):
                text = html.render(document)
                self.assertLess(len(text.encode()), _LARGEST_PAGE)
                names = re.findall(r' id="(.*?)"', text)
                self.assertEqual(len(names), len(set(names)))
                self.assertLessEqual(set(re.findall(r'href="#(.*?)"', text)), set(names))

    def test_a_file_is_a_few_kilobytes_and_parses(self) -> None:
        for document, _ in self.documents.values():
            for figure in document.figures:
                text = figure.svg
                ElementTree.fromstring(text.encode())
                largest = _LARGEST_COURSE if _is_course(figure) else _LARGEST_FIGURE
                largest = _LARGEST_CALLS if figure.name == "figure3-calls" else largest
                self.assertLess(len(text), largest * len(figure.canvases), figure.name)

    def test_the_summary_is_short(self) -> None:
        for name, (_, summary) in self.documents.items():
            longest = _LONGEST_SUMMARY + _LINES_OF_A_COURSE * sum(map(_is_course, summary.figures))
            longest += _LINES_OF_DOWNLOADS * sum(map(_is_of_downloads, summary.figures))
            self.assertLess(len(markdown.render(summary).splitlines()), longest, name)

    def test_the_demands_of_every_measured_cell_are_drawn(self) -> None:
        for name, (document, _) in self.documents.items():
            with self.subTest(name):
                runs = Folder(RESULTS / name).runs()
                cells = {run.cell for run in runs if run.is_valid}
                cells = {cell for cell in cells if cell.workload == "closed_loop"}
                drawn = [figure for figure in document.figures if figure.name == "demands"]
                self.assertEqual(len(drawn), bool(cells))
                for cell in cells:
                    if cell.fileserver_cores:
                        continue
                    (panel,) = (
                        canvas
                        for canvas in drawn[0].canvases
                        if canvas.title.startswith(f"{catalog.row_title(cell.row)}:")
                    )
                    self.assertIn(cell.stage, drawings.words(panel))
