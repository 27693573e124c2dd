"""A figure that a workload declares has a column in points.csv and in the tables that show it."""

import unittest
from pathlib import Path
from unittest import mock

import examples

from lab import kinds
from lab.kinds import KINDS
from lab.kinds.kind import LESS, MORE, NEITHER, Figure
from lab.observe import figures
from lab.report import sheet, wording
from lab.report.page import VIEWS
from lab.report.sheet import Number, Writing

LAB_MD = (Path(__file__).resolve().parents[3] / "docs" / "lab.md").read_text(encoding="utf-8")
BLINKS = Figure(name="blinks", unit="share", better=LESS, title="blinks", views=("bursts",))


class ColumnsTest(unittest.TestCase):
    def titles(self, view, placed, runs):
        return [column.title for column in sheet.of_view(view, placed, {}, runs)]

    def test_placed_columns_keep_their_order_and_are_there_without_a_value(self):
        placed = ("fairness", Number("N", lambda run: run.threads), "simultaneity")
        self.assertEqual(
            self.titles("bursts", placed, [examples.run()]), ["fairness", "N", "overlap"]
        )

    def test_a_further_figure_of_the_view_follows_once_a_trial_has_it(self):
        without, has_it = examples.run(slowest_bytes_s=2.0), examples.run(fairness=0.5)
        self.assertEqual(self.titles("bursts", ("slowest_bytes_s",), [without]), ["slowest"])
        self.assertEqual(
            self.titles("bursts", ("slowest_bytes_s",), [without, has_it]), ["slowest", "fairness"]
        )
        self.assertEqual(self.titles("crowd_maxima", (), [has_it]), [])

    def test_a_table_says_how_it_writes_a_unit(self):
        writings = {"share": Writing(" of all", wording.percent)}
        with mock.patch.dict(kinds.figures(), {"blinks": BLINKS}):
            (column,) = sheet.of_view("bursts", (), writings, [examples.run(blinks=0.25)])
            self.assertEqual(column.title, "blinks of all")
            self.assertEqual(column.text(column.of(examples.run(blinks=0.25))), "25%")
            self.assertEqual(column.text(column.of(examples.run())), "")

    def test_a_declaration_gives_a_figure_its_column_in_points_csv(self):
        folder = examples.results(self, examples.run(fairness=0.5))
        with mock.patch.dict(kinds.figures(), {"blinks": BLINKS}):
            folder.prepare()
            folder.add(examples.run(2, blinks=0.25), {})
            self.assertEqual([run.figure("blinks") for run in folder.runs()], [None, 0.25])
            self.assertEqual([run.figure("fairness") for run in folder.runs()], [0.5, None])

    def test_what_nothing_declares_is_neither_written_nor_asked_for(self):
        made = examples.with_figures(examples.run(), colour=1.0)
        with self.assertRaisesRegex(ValueError, "colour"):
            examples.results(self, made)
        with self.assertRaises(AssertionError):
            made.figure("colour")


class DeclarationsTest(unittest.TestCase):
    def test_each_name_is_declared_once_and_each_view_exists(self):
        declared = [one for kind in KINDS.values() for one in kind.part("load").FIGURES]
        self.assertEqual(len(declared), len(kinds.figures()))
        for figure in declared:
            with self.subTest(figure=figure.name):
                self.assertLessEqual(set(figure.views), set(VIEWS))
                self.assertEqual(bool(figure.views), bool(figure.title))
                self.assertIn(figure.better, (MORE, LESS, NEITHER))

    def test_each_figure_is_described_in_the_docs(self):
        section = LAB_MD.partition("## Figures of a workload")[2]
        rows = [line.strip("| ").split("|") for line in section.splitlines() if "| `" in line]
        described = [[cell.strip(" `") for cell in row] for row in rows]
        self.assertTrue(all(row[-1] for row in described))
        self.assertEqual(
            sorted([row[0], *row[-3:-1]] for row in described),
            sorted(
                [figure.name, figure.unit, figure.better]
                for figure in (*kinds.figures().values(), *figures.FIGURES.values())
            ),
        )
