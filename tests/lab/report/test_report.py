"""The report of a folder: its overview, its sections, its summary, and the comparison of two."""

import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import examples
from made_up_downloads import attempts

from lab.analysis.cells import Analysis
from lab.analysis.findings import Judged
from lab.analysis.intervals import Spread
from lab.analysis.passes import CANNOT_TELL, SEEN
from lab.observe.disk_probe import DiskProbe
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.report import compare, finding_views, markdown, page, wording
from lab.report.document import Block, Figure, Heading, Paragraph, Pointer, Table
from lab.report.scene import Scene
from lab.report.tables import hardware
from lab.results.environment import Environment, StackRecord
from lab.results.records import Folder, Run
from rig.errors import Failed, WrongUsage


def sweep(**changes) -> list[Run]:
    """Four points of a cell, in three passes."""
    return [
        examples.run(threads, rate, repeat, **changes)
        for repeat in (1, 2, 3)
        for threads, rate in ((1, 1000.0), (2, 1800.0), (4, 2000.0), (8, 1990.0))
    ]


class FolderTest(unittest.TestCase):
    """Makes folders with results; has no test."""

    def folder(self, *runs: Run, **environment) -> Folder:
        """With these runs or, without any, one sweep and a point that failed its checks."""
        failed = examples.run(16, 5.0, failures="50.0% errors (busy 10)", errors="busy 10")
        changed = replace(examples.ENVIRONMENT, **environment)
        return examples.results(self, *(runs or [*sweep(), failed]), environment=changed)

    def two_stages(self, **environment) -> Folder:
        """MySQL, and Redis that is twice as fast."""
        redis = [
            replace(run, cell=Cell("redis", "1KB"), store="redis", throughput_rps=rate)
            for run in sweep()
            for rate in [2 * run.throughput_rps]
        ]
        return self.folder(*sweep(), *redis, **environment)

    def blocks(self, folder: Folder) -> list[Block]:
        document = page.Report(folder, folder.environment()).document()
        return [*document.overview, *document.blocks]

    def written(self, folder: Folder) -> str:
        page.write(folder)
        return (folder.path / "report.html").read_text(encoding="utf-8")


class ReportTest(FolderTest):
    def test_a_note_of_the_run_is_printed(self):
        options = replace(examples.ENVIRONMENT.options, note="a hub, <not> a switch")
        self.assertIn("a hub, &lt;not&gt; a switch", self.written(self.folder(options=options)))

    def test_it_stands_alone_and_has_the_papers_numbers_beside_ours(self):
        folder = self.folder()
        written = self.written(folder)
        self.assertIsNone(re.search(r'(?:src|href)="https?:', written))
        self.assertNotIn("<script", written)
        self.assertIn("<svg", written)
        for text in ("9,933", "2,000", "a &lt;fast&gt; one", "50.0% errors (busy 10)"):
            self.assertIn(text, written)
        summary = (folder.path / "summary.md").read_text(encoding="utf-8")
        self.assertIn("| get 1KB |", summary)
        names = re.findall(r"\(figures/(.*?)\)", summary)
        self.assertIn("demands.svg", names)
        for name in names:
            ElementTree.parse(folder.path / "figures" / name)

    def test_the_same_points_give_the_same_bytes(self):
        folder = self.two_stages()
        first = self.written(folder)
        figures = {path: path.read_bytes() for path in folder.path.glob("figures/*")}
        self.assertEqual(self.written(folder), first)
        for path, content in figures.items():
            self.assertEqual(path.read_bytes(), content, path.name)

    def test_the_title_says_what_was_found(self):
        folder = self.two_stages()
        document = page.Report(folder, folder.environment()).document()
        self.assertEqual(document.title, "redis: ×2.00, limited by nothing that was measured")

    def test_the_overview_says_where_the_time_goes_and_what_the_other_store_changed(self):
        folder = self.two_stages()
        document = page.Report(folder, folder.environment()).document()
        first = document.overview[0]
        assert isinstance(first, Paragraph)
        self.assertIn("A get 1KB takes", first.text)
        self.assertIn("From prefetching to redis, the store’s part goes from", first.text)
        self.assertIn("throughput changes by ×2.00 (2.00–2.00)", first.text)
        self.assertIn("What limits it in redis: saturated, but", first.text)
        self.assertNotIn("  ", first.text)
        names = [block.name for block in document.overview if isinstance(block, Figure)]
        self.assertEqual([name.partition("-")[0] for name in names], ["maxima", "gains", "demands"])
        headings = [block.text for block in document.overview if isinstance(block, Heading)]
        self.assertEqual(headings, ["What the paper found", "How far to trust it"])

    def test_another_link_is_no_gain(self):
        rows = [Cell(stage, "100KB") for stage in ("prefetching", "prefetching-1gbit")]
        runs = [replace(run, cell=cell) for cell in rows for run in sweep()]
        options = replace(examples.ENVIRONMENT.options, experiments=("network",), rows=("100KB",))
        folder = self.folder(*runs, options=options)
        overview = page.Report(folder, folder.environment()).document().overview
        names = [block.name.partition("-")[0] for block in overview if isinstance(block, Figure)]
        self.assertEqual(names, ["maxima", "demands"])

    def test_an_abbreviation_keeps_its_capitals_within_a_sentence(self):
        self.assertEqual(
            wording.within_a_sentence("CPU (mostly fileserver)"), "CPU (mostly fileserver)"
        )
        self.assertEqual(wording.within_a_sentence("Shared CPU: 95% busy"), "shared CPU: 95% busy")

    def test_a_figure_is_not_drawn_twice(self):
        options = replace(examples.ENVIRONMENT.options, experiments=("table4", "figure13"))
        blocks = self.blocks(self.two_stages(options=options))
        names = [block.name for block in blocks if isinstance(block, Figure)]
        self.assertEqual(len(names), len(set(names)))
        pointers = [block for block in blocks if isinstance(block, Pointer)]
        self.assertEqual(len(pointers), 2)
        self.assertLessEqual({pointer.target for pointer in pointers}, set(names))

    def test_points_without_a_single_valid_one_are_drawn_all_the_same(self):
        folder = self.folder()
        folder.replace([replace(run, failures="spoiled") for run in folder.runs()])
        page.write(folder)
        drawn = (folder.path / "figures" / "sweeps.svg").read_text(encoding="utf-8")
        self.assertEqual(drawn.count('<circle class="o c-stage1"'), 13)

    def test_stages_are_described_as_they_were_recorded(self):
        stage = replace(catalog.stages()["prefetching"], cold=True, authserver=())
        written = self.written(self.folder(stages={"prefetching": stage}))
        self.assertIn("caches dropped before each get of prefetching,", written)
        self.assertIn("argon2id in prefetching", written)

    def test_it_says_what_counts_as_a_full_disk(self):
        probe = DiskProbe(
            disk="vda",
            read_bytes_per_s=2e9,
            write_bytes_per_s=5e8,
            reads_per_s=9e3,
            writes_per_s=8e3,
        )
        behind = replace(probe, read_bytes_per_s=1e9)
        folder = self.folder(disk_probe=probe, disk_probe_behind=behind)
        written = self.written(folder)
        self.assertIn(
            "A full disk (vda): 2,000 MB/s read or 500 written, or a second 9,000", written
        )
        self.assertIn("; by the lowest figures 1,000 MB/s read", written)

    def test_an_experiment_that_is_no_longer_there_is_named(self):
        options = replace(examples.ENVIRONMENT.options, experiments=("table9",))
        with self.assertRaisesRegex(WrongUsage, "no experiment 'table9'"):
            page.write(self.folder(options=options))

    def test_an_experiment_that_measures_nothing_has_a_report(self):
        options = replace(examples.ENVIRONMENT.options, experiments=("table1",))
        self.assertIn("There is no valid point.", self.written(self.folder(options=options)))

    def test_a_folder_without_results_is_an_error(self):
        with tempfile.TemporaryDirectory() as empty, self.assertRaises(Failed):
            page.write(Folder(Path(empty)))

    def test_the_topology_and_the_real_length_of_the_points_are_said(self):
        long = [replace(run, elapsed_s=2.0 + run.repeat) for run in sweep()]
        written = self.written(self.folder(*long))
        self.assertIn("one machine, over loopback", written)
        self.assertIn("They lasted 4.0 s (median), 3.0 to 5.0 s; 12 valid points.", written)
        self.assertIn("Its points lasted 3.0 to 5.0 s.", written)

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
        noisy = [
            replace(run, throughput_rps=run.throughput_rps * (1.0, 0.7, 1.2)[run.repeat - 1])
            for run in sweep()
        ]
        folder = self.folder(*noisy)
        text = markdown.render(compare.document(folder, folder))
        self.assertIn("| ×1.00 | 0.36–2.80 | no difference shown |", text)

    def test_folders_of_downloads_have_their_verdicts_compared(self):
        slow, fast = ((5.0, 5.01, 5.02), (7.0, 7.01, 7.02))
        first, second, third = (
            self.folder(
                *attempts("lerc-channels", 1, 5.0, 5.01, 5.02),
                *attempts("lerc-channels", 4, *of_four),
            )
            for of_four in (slow, fast, fast)
        )
        flipped = markdown.render(compare.document(first, second))
        self.assertIn("0 are the same, 1 flip ", flipped)
        self.assertIn("| flips |", flipped)
        same = markdown.render(compare.document(second, third))
        self.assertIn("1 are the same, 0 flip ", same)
        self.assertNotIn("Maximum throughput, requests/s", same)

    def test_folders_that_have_nothing_in_common_are_refused(self):
        downloads = self.folder(*attempts("lerc-channels", 1, 3.5))
        for first, second in ((self.folder(), downloads), (downloads, downloads)):
            with self.assertRaisesRegex(Failed, "no cell and no finding in common$"):
                compare.document(first, second)


class BottleneckTablesTest(FolderTest):
    def tables(self, *runs: Run) -> dict[str, dict[str, str]]:
        """The one row of each table of the stage, by the names of the columns with their groups."""
        found = {}
        for block in self.blocks(self.folder(*runs)):
            if isinstance(block, Table) and "prefetching" in block.title and block.groups:
                names = [name for name, width in block.groups for _ in range(width)]
                columns = [f"{group} {name}".strip() for group, name in zip(names, block.header)]
                found[block.title] = dict(zip(columns, block.rows[0]))
        return found

    def test_n_star_has_its_range_and_what_was_predicted(self):
        row = self.tables()["Bottlenecks of prefetching"]
        self.assertEqual(
            (row["N* ours"], row["throughput maximum"]), ("3\n3–4", "2,000\n2,000–2,000")
        )
        self.assertIn("N* predicted", row)
        self.assertIn("N* crossing", row)

    def test_failed_clients_are_counted_by_their_cause(self):
        row = self.tables()["Bottlenecks of prefetching"]
        self.assertEqual(row["failed clients"], "busy 10")
        more = [replace(run, errors="busy 2, refused 1") for run in sweep()]
        row = self.tables(*more)["Bottlenecks of prefetching"]
        self.assertEqual(row["failed clients"], "busy 24, refused 12")
        self.assertEqual(self.tables(*sweep())["Bottlenecks of prefetching"]["failed clients"], "0")

    def test_response_times_have_their_percentiles(self):
        runs = [
            replace(run, p50_ms=1.5, p90_ms=12.34, p99_ms=123.4, max_ms=1234.5) for run in sweep()
        ]
        row = self.tables(*runs)["Response times of prefetching"]
        self.assertEqual(
            [row[f"at N* {name}"] for name in ("p50", "p90", "p99", "max")],
            ["1.50", "12.3", "123", "1,234"],
        )

    def test_bytes_are_told_for_each_server(self):
        used = examples.usage()
        store = replace(used.components["store"], write_bytes_per_s=8e6, read_bytes_per_s=2e6)
        used = replace(used, components={**used.components, "store": store})
        row = self.tables(*(replace(run, usage=used) for run in sweep()))[
            "What a request of prefetching needs"
        ]
        self.assertEqual((row["read, kB store"], row["written, kB store"]), ("1.0", "4.0"))
        self.assertEqual((row["read, kB files"], row["written, kB auth"]), ("0", "0"))

    def test_the_only_table_of_a_stage_in_the_summary_is_that_of_the_bottlenecks(self):
        folder = self.folder()
        text = markdown.render(page.Report(folder, folder.environment()).summary())
        self.assertIn("Bottlenecks of prefetching", text)
        self.assertNotIn("Response times", text)
        self.assertNotIn("What a request of", text)


class SweepsTest(FolderTest):
    def test_stages_share_panels_by_two_and_one_with_few_rows_joins_the_one_before_it(self):
        rows = ("new", "1KB", "10KB")
        cells = [
            (stage, row) for stage in ("prefetching", "redis", "turnstile") for row in rows
        ] + [("prefetching-1gbit", "1KB")]
        runs = [replace(run, cell=Cell(*cell)) for cell in cells for run in sweep()]
        (grid,) = (
            block
            for block in self.blocks(self.folder(*runs))
            if isinstance(block, Figure) and block.name == "sweeps"
        )
        self.assertEqual(grid.columns, 2)
        self.assertEqual(
            [canvas.title for canvas in grid.canvases if canvas.title.startswith("1KB")],
            ["1KB: prefetching and 2 more", "1KB: turnstile"],
        )

    def test_throughput_starts_at_0_and_times_are_below_it(self):
        rate, time = (
            block
            for block in self.blocks(self.folder())
            if isinstance(block, Figure) and block.name in ("sweeps", "response-times")
        )
        self.assertEqual([len(one.canvases) for one in (rate, time)], [1, 1])
        self.assertGreaterEqual(rate.canvases[0].height, 180)
        self.assertIn(">0</text>", rate.svg)
        self.assertNotIn(">0</text>", time.svg)  # logarithmic
        for one in (rate, time):
            self.assertIn('class="f band c-stage1"', one.svg)
        self.assertIn("f c-stage1", re.sub(r"<circle[^>]*>", "", rate.svg))  # a diamond, N*


class FindingsTest(FolderTest):
    def test_each_line_of_the_checklist_leads_to_its_evidence(self):
        written = self.written(self.two_stages())
        lines = re.findall(r'<li><i>(.)</i><span><a href="#(finding-002-\d+)">', written)
        self.assertEqual(len(lines), 3)
        for mark, target in lines:
            self.assertIn(mark, "✓✗?◐")
            self.assertEqual(written.count(f'id="{target}"'), 1)

    def test_rows_with_different_verdicts_have_a_mark_of_their_own(self):
        seen, other = Judged("1KB", SEEN), Judged("10KB", "cannot tell")
        self.assertEqual(finding_views.mark([seen, seen]), "✓")
        self.assertEqual(finding_views.mark([seen, other]), "◐")

    def test_the_evidence_has_our_gain_and_says_whether_the_papers_is_inside(self):
        gain = Spread(1.5, 1.2, 1.8, 3, True)
        judged = Judged("1MB", SEEN, gain, (1, 2), paper=2.33)
        self.assertEqual(
            finding_views.evidence(judged),
            ["1MB, 1 → 2 cores", "✓ seen here", "×1.50", "1.20–1.80", "×2.33", "outside", ""],
        )

    def test_the_evidence_says_that_a_maximum_was_not_reached(self):
        gain = Spread(1.5, 1.2, 1.8, 3, True)
        judged = Judged("1MB", CANNOT_TELL, gain, is_lower_bound=True)
        self.assertEqual(finding_views.evidence(judged)[2], "×1.50†")
        self.assertEqual(finding_views.evidence(judged)[-1], "a maximum was not reached")


HOST = replace(
    examples.ENVIRONMENT.host,
    hardware={
        "Processor": "a <fast> one",
        "CPU(s)": "2",
        "Swap": "none",
        "Link": "eth0: 1000 Mbit/s",
        "MTU": "9000",
    },
    versions={"fileserver": "fileserver 0.2.0 (a compiler)"},
    disks={"sda": "a disk"},
)
ENVIRONMENT = replace(examples.ENVIRONMENT, host=HOST, stacks={})


def stack(link: str = "", **settings: str) -> StackRecord:
    return StackRecord(
        commands={},
        pinning="none",
        store="",
        store_settings=settings,
        durability="",
        link=link,
        mtu=1500,
    )


class HardwareTest(unittest.TestCase):
    def table(self, experiment: str, environment: Environment) -> Table:
        folder = examples.results(self, environment=environment)
        scene = Scene(
            catalog.experiments()[experiment],
            [],
            [],
            Analysis([], environment, folder.evidence),
            environment,
            folder,
        )
        return examples.only(Table, hardware(scene))

    def rows(self, experiment: str = "003-table1", **stacks: StackRecord) -> dict[str, Any]:
        found = self.table(experiment, replace(ENVIRONMENT, stacks=stacks))
        return {row[0]: row[1:] for row in found.rows}

    def test_a_paper_with_one_machine_has_one_column(self) -> None:
        found = self.table("003-table1", ENVIRONMENT)
        self.assertEqual(found.header, ["", "this host", "paper: servers"])
        self.assertNotIn("two machines", found.caption)
        rows = self.rows()
        self.assertEqual(rows["Processor"], ["a <fast> one", "name unknown, 1126 MHz"])
        self.assertEqual(rows["Memory"], ["8.0 GB", "1.5 GB"])
        self.assertEqual(rows["Swap"], ["none", "2 GB"])
        self.assertEqual(rows["Disk sda"], ["a disk", ""])

    def test_a_paper_with_two_machines_has_two(self) -> None:
        found = self.table("table1", ENVIRONMENT)
        self.assertEqual(found.header[2:], ["paper: load generator", "paper: servers"])
        self.assertIn("The paper had two machines.", found.caption)
        self.assertEqual(self.rows("table1")["Memory"], ["8.0 GB", "", ""])
        self.assertNotIn("Swap", self.rows("table1"))

    def test_without_a_ramp_the_link_is_that_of_the_host(self) -> None:
        for rows in (self.rows(), self.rows(a=stack())):
            self.assertEqual(rows["Link"], ["eth0: 1000 Mbit/s", "1 Gbit/s Ethernet"])
            self.assertEqual(rows["MTU"], ["9000", "1500"])

    def test_the_link_of_ramps_is_the_one_that_their_hosts_share(self) -> None:
        rows = self.rows(a=stack("360mbit"), b=stack("360mbit"), c=stack("720mbit"), d=stack())
        self.assertEqual((rows["Link"][0], rows["MTU"][0]), ("360mbit, 720mbit", "1500"))

    def test_each_measured_server_has_its_version(self) -> None:
        self.assertEqual(self.rows()["Server"], ["fileserver 0.2.0", "GridFTP 0.13"])
        grid = {"server": "gridftp", "version": "13.24-1"}
        rows = self.rows(a=stack(), b=stack(**grid), c=stack(**grid))
        self.assertEqual(rows["Server"][0], "fileserver 0.2.0, gridftp 13.24-1")
        self.assertEqual(self.rows(b=stack(**grid))["Server"][0], "gridftp 13.24-1")
