"""What the host felt: a table of all cells, and the memory of limited servers over time."""

import unittest
from dataclasses import replace

import drawings
import examples

from lab.analysis.cells import Analysis
from lab.report import host_views
from lab.report.document import Block, Figure, Table
from lab.results.records import Run

_SAMPLES = [
    {
        "time_s": second,
        "memory.cached_bytes": 1e9,
        "group.cached_bytes": 4e6,
        "group.used_bytes": 6e6,
    }
    for second in (0.0, 0.25, 0.5)
]


def felt(threads: int, repeat: int = 1, **used: float) -> Run:
    usage = replace(examples.usage({"fileserver": 0.5}), figures=used)
    return examples.run(threads, 1000.0, repeat, used=usage)


class HostViewsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.results(self)

    def section(self, *runs: Run) -> list[Block]:
        for run in runs:
            self.folder.add(run, {"samples": _SAMPLES})
        return host_views.section(self.folder, Analysis(self.folder.runs(), examples.ENVIRONMENT))

    def test_a_cell_is_shown_at_its_most_threads_by_the_medians_of_its_runs(self) -> None:
        blocks = self.section(
            felt(1, sleeper_p99_ms=99.0, load_average=9.0),
            *(felt(4, n, sleeper_p99_ms=value) for n, value in enumerate((1.0, 5.0, 2.0), 1)),
            replace(felt(8, sleeper_p99_ms=50.0), failures="bad"),
        )
        table = examples.only(Table, blocks)
        self.assertEqual(table.header, ["cell", "at", "p99, ms"])
        self.assertEqual(table.groups, [("", 2), ("a sleeper of 10 ms woke late", 1)])
        self.assertEqual(table.rows, [[str(examples.CELL), "N=4", "2"]])

    def test_the_cells_of_a_stage_have_one_line_with_the_highest_of_each_column(self) -> None:
        other = replace(examples.CELL, row="10KB")
        blocks = self.section(
            felt(4, sleeper_p99_ms=7.0, load_average=1.0),
            replace(felt(8, sleeper_p99_ms=2.0, load_average=3.0), cell=other),
        )
        table = examples.only(Table, blocks)
        self.assertEqual(table.rows, [["prefetching, 2 cells", "N=4 to N=8", "7", "3"]])

    def test_cells_with_a_limited_server_have_a_line_each(self) -> None:
        other = replace(examples.CELL, row="10KB")
        blocks = self.section(
            felt(4, group_page_cache_bytes=4e6),
            replace(felt(8, group_page_cache_bytes=2e6), cell=other),
        )
        table = examples.only(Table, blocks)
        self.assertEqual([row[0] for row in table.rows], [str(examples.CELL), str(other)])

    def test_a_folder_of_an_older_version_has_no_such_section(self) -> None:
        self.assertEqual(self.section(felt(1)), [])

    def test_only_a_limited_server_is_drawn(self) -> None:
        blocks = self.section(felt(1, sleeper_p99_ms=1.0))
        self.assertEqual([block for block in blocks if isinstance(block, Figure)], [])

    def test_the_page_cache_of_a_limited_server_is_drawn_over_time(self) -> None:
        blocks = self.section(felt(1, group_page_cache_bytes=4e6, group_peak_bytes=8e6))
        table = examples.only(Table, blocks)
        self.assertEqual(table.header[2:], ["peak, MB", "page cache, MB"])
        self.assertEqual(table.groups, [("", 2), ("limited server", 2)])
        figure = examples.only(Figure, blocks)
        group, host = figure.canvases
        self.assertIn("page cache", drawings.words(group))
        self.assertIn("Page cache of the host, MB", host.title)
