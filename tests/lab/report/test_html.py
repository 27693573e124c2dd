"""The two forms of a document: HTML and Markdown."""

import re
import unittest
from dataclasses import replace

from lab.report import html, html_style, markdown
from lab.report.charts import palette
from lab.report.charts.svg import Canvas
from lab.report.document import (
    Block,
    Check,
    Checklist,
    Document,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Pointer,
    Table,
    numeric_columns,
    without_empty_columns,
)

_POINT, _DIGIT = "\u2008", "\u2007"


def table(*columns: list[str], **changes) -> Table:
    header = [f"column {index}" for index in range(len(columns))]
    return Table(title="T", header=header, rows=[list(row) for row in zip(*columns)], **changes)


def figure(name: str) -> Figure:
    return Figure(name=name, title="Gains", caption="c", canvases=[Canvas(10, 10, "one")])


def render(*blocks: Block) -> str:
    return html.render(Document(title="Title", subtitle="s", blocks=list(blocks)))


class TableTest(unittest.TestCase):
    def test_alignment_is_decided_by_column_and_never_by_cell(self):
        made = table(["1KB", "1MB"], ["2", "none"], ["1,234.5", ""], ["×1.50†\n1.2–1.9", "≥ 2"])
        self.assertEqual(numeric_columns(made), [False, False, True, True])
        written = render(made)
        self.assertIn('<td class="k">2</td>', written)
        self.assertIn('<th class="n">column 2</th>', written)
        self.assertEqual(written.count('<td class="n">'), 4)

    def test_an_empty_column_has_no_numbers(self):
        self.assertEqual(numeric_columns(table(["a", "b"], ["", ""])), [False, False])

    def test_the_points_of_a_column_stand_below_each_other(self):
        written = render(table(["a", "b", "c"], ["1,234", "5.25\n4–6", "0.5*"]))
        cells = re.findall(r'<td class="n">(.*?)</td>', written)
        self.assertEqual(
            cells,
            [f"1,234{_POINT}{_DIGIT * 2}", "5.25<small>4–6</small>", f"0.5{_DIGIT}*"],
        )

    def test_only_a_column_of_short_texts_keeps_its_lines(self):
        written = render(table(["a"], ["a text that is far too long for one line of a phone"]))
        self.assertIn('<td class="k">a</td>', written)
        self.assertIn("<td>a text", written)

    def test_columns_with_nothing_are_left_out_with_their_groups(self):
        made = table(["a", "b"], ["", ""], ["1", ""], groups=[("", 1), ("g", 1), ("h", 1)])
        kept = without_empty_columns(made)
        self.assertEqual(kept.header, ["column 0", "column 2"])
        self.assertEqual(kept.rows, [["a", "1"], ["b", ""]])
        self.assertEqual(kept.groups, [("", 1), ("h", 1)])

    def test_both_forms_print_the_same_table(self):
        made = Table(
            title="T",
            caption="caption",
            header=["", "x"],
            rows=[["r", "1"]],
            groups=[("", 1), ("g", 1)],
        )
        document = Document(title="T", subtitle="s", blocks=[Paragraph("a `b` c"), made])
        self.assertIn('<td class="n">1</td>', html.render(document))
        self.assertIn("<code>b</code>", html.render(document))
        self.assertIn("|  | g: x |\n| --- | ---: |\n| r | 1 |", markdown.render(document))

    def test_a_caption_is_not_in_the_box_that_scrolls(self):
        written = render(table(["a"], caption="the caption"))
        self.assertLess(written.index("the caption"), written.index('<div class="scroll">'))


class PageTest(unittest.TestCase):
    def test_names_are_unique_and_every_link_leads_somewhere(self):
        blocks: list[Block] = [
            Heading(2, "Sweeps"),
            Heading(3, "Sweeps"),
            table(["a"], anchors=["sweeps-2"]),
            figure("gains-1"),
            figure("gains-2"),
            Pointer("Drawn above", "gains-2"),
            Checklist([Check("✓", "finding", "seen", "sweeps-2")]),
        ]
        written = render(*blocks)
        names = re.findall(r' id="(.*?)"', written)
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(re.findall(r'href="#(.*?)"', written)), set(names))

    def test_a_table_of_many_columns_is_tight(self):
        for count, wanted in ((8, 0), (9, 1)):
            names = [str(number) for number in range(count)]
            page = render(Table(title="t", caption="", header=names, rows=[names]))
            self.assertEqual(page.count(' tight of-table"'), wanted)

    def test_a_wide_panel_and_a_key_have_a_class(self):
        canvases = [Canvas(10, 10, "", is_wide=True), Canvas(10, 10, "", is_key=True)]
        page = render(replace(figure("wide"), canvases=canvases))
        self.assertEqual(page.count('<svg class="wide"'), 1)
        self.assertEqual(page.count('<svg class="key"'), 1)

    def test_the_contents_name_sections_figures_and_tables(self):
        written = render(Heading(2, "One"), Heading(3, "Below"), figure("f"), table(["a"]))
        contents = re.findall(r"<a.*?>(.*?)</a>", written.partition("</nav>")[0])
        self.assertEqual(contents, ["One", "Gains", "T"])

    def test_the_overview_comes_before_the_contents(self):
        document = Document(
            title="T", subtitle="s", overview=[Paragraph("first")], blocks=[Paragraph("second")]
        )
        written = html.render(document)
        self.assertLess(written.index("first"), written.index("<nav"))
        self.assertLess(written.index("<nav"), written.index("second"))

    def test_texts_are_escaped_in_every_block(self):
        blocks: list[Block] = [
            Heading(2, "<i>"),
            Paragraph("<i>"),
            Checklist([Check("?", "<i>", "<i>", "t")]),
            table(["<i>"], caption="<i>"),
            Listing("<i>", "<i>"),
            Pointer("<i>", "t"),
        ]
        body = render(*blocks).partition("<body>")[2]
        self.assertNotIn("<i><i>", body)
        self.assertEqual(body.count("<i>"), 1)  # the mark of the checklist
        self.assertGreaterEqual(body.count("&lt;i&gt;"), 9)

    def test_every_colour_has_a_value_in_light_and_in_dark(self):
        light, dark = html_style.STYLE.partition("prefers-color-scheme: dark")[::2]
        for name, (of_light, of_dark) in palette.COLOURS.items():
            self.assertIn(f"--{name}: {of_light};", light)
            self.assertIn(f"--{name}: {of_dark};", dark)
        for name in ("ground", "band"):
            self.assertIn(f"--{name}:", light)
            self.assertIn(f"--{name}:", dark)

    def test_every_variable_that_is_used_has_a_value(self):
        used = set(re.findall(r"var\(--([a-z0-9]+)", html_style.STYLE))
        self.assertLessEqual(used, {*palette.COLOURS, "ground", "band"})
