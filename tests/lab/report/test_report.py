"""The report: HTML, Markdown and the comparison of two folders."""

import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import examples

from lab.plan import catalog
from lab.report import compare, html, markdown, page
from lab.report.document import Document, Paragraph, Table
from lab.results.records import Folder
from lab.rig.errors import Failed, WrongUsage


class ReportTest(unittest.TestCase):
    def folder(self) -> Folder:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        folder = Folder(Path(temporary.name))
        folder.prepare()
        folder.write_environment(examples.ENVIRONMENT)
        for threads, rate in ((1, 1000.0), (2, 1800.0), (4, 2000.0), (8, 1990.0)):
            folder.add(examples.run(threads, rate), {})
        folder.add(examples.run(16, 5.0, failures="50.0% errors (busy 10)"), {})
        return folder

    def test_it_stands_alone_and_has_the_papers_numbers_beside_ours(self):
        folder = self.folder()
        page.write(folder)
        written = (folder.path / "report.html").read_text(encoding="utf-8")
        self.assertIsNone(re.search(r'(?:src|href)="https?:', written))
        self.assertNotIn("<script", written)
        self.assertIn("<svg", written)
        self.assertIn("9,933", written)
        self.assertIn("2,000", written)
        self.assertIn("a &lt;fast&gt; one", written)
        self.assertIn("50.0% errors (busy 10)", written)
        summary = (folder.path / "summary.md").read_text(encoding="utf-8")
        self.assertIn("| get 1KB |", summary)
        for name in re.findall(r"\(figures/(.*?)\)", summary):
            ElementTree.parse(folder.path / "figures" / name)

    def test_points_without_a_single_valid_one_are_drawn_all_the_same(self):
        folder = self.folder()
        folder.replace([replace(run, failures="spoiled") for run in folder.runs()])
        page.write(folder)
        self.assertTrue((folder.path / "figures" / "table4-sweep-1KB.svg").exists())

    def test_stages_are_described_as_they_were_recorded(self):
        folder = self.folder()
        stage = replace(catalog.stages()["prefetching"], cold=True, authserver=())
        folder.write_environment(replace(examples.ENVIRONMENT, stages={"prefetching": stage}))
        page.write(folder)
        summary = (folder.path / "summary.md").read_text(encoding="utf-8")
        self.assertIn("caches dropped before each get of prefetching,", summary)
        self.assertIn("passwords: argon2id", summary)
        self.assertNotIn("passwords: plain", summary)

    def test_an_experiment_that_is_no_longer_there_is_named(self):
        folder = self.folder()
        options = replace(examples.ENVIRONMENT.options, experiments=("table9",))
        folder.write_environment(replace(examples.ENVIRONMENT, options=options))
        with self.assertRaisesRegex(WrongUsage, "no experiment 'table9'"):
            page.write(folder)

    def test_a_folder_without_results_is_an_error(self):
        with tempfile.TemporaryDirectory() as empty, self.assertRaises(Failed):
            page.write(Folder(Path(empty)))

    def test_ids_of_figures_do_not_clash(self):
        element = '<svg><path id="a"/><use xlink:href="#a" clip-path="url(#a)"/></svg>'
        svg = f'<?xml version="1.0"?>\n{element}'
        self.assertEqual(
            html.inline_svg(svg, "one-1"),
            '<svg><path id="one_1-a"/><use xlink:href="#one_1-a" clip-path="url(#one_1-a)"/></svg>',
        )

    def test_both_forms_print_the_same_table(self):
        document = Document(
            "T",
            "s",
            [Paragraph("a `b` c"), Table("caption", ["", "x"], [["r", "1"]], [("", 1), ("g", 1)])],
        )
        self.assertIn('<td class="number">1</td>', html.render(document))
        self.assertIn("<code>b</code>", html.render(document))
        self.assertIn("|  | g: x |\n| --- | ---: |\n| r | 1 |", markdown.render(document))

    def test_two_folders_are_compared_cell_by_cell(self):
        first, second = self.folder(), self.folder()
        second.replace(
            [replace(run, throughput_rps=2 * run.throughput_rps) for run in second.runs()]
        )
        text = markdown.render(compare.document(first, second))
        self.assertIn("prefetching, get 1KB", text)
        self.assertIn("×2.00", text)
        self.assertIn("same machine", text)
        self.assertIn("Nothing in the recorded environment.", text)

    def test_a_folder_compared_with_itself_differs_by_exactly_nothing(self):
        folder = self.folder()
        noisy = [
            replace(run, repeat=repeat, throughput_rps=run.throughput_rps * speed)
            for repeat, speed in ((1, 1.0), (2, 0.7), (3, 1.2))
            for run in folder.runs()
        ]
        folder.replace(noisy)
        text = markdown.render(compare.document(folder, folder))
        self.assertIn("| ×1.00 | 1.00–1.00 | no difference shown |", text)


if __name__ == "__main__":
    unittest.main()
