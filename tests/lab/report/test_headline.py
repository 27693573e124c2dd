"""The title of a report is what was found."""

import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import examples

from lab.analysis.verdict import NOT_SATURATED, Resource, Verdict
from lab.observe.callgrind import Profile, Share
from lab.plan.catalog import Cell
from lab.report import headline, overview, page
from lab.report.document import Document, Heading, Table
from lab.results.records import Folder, Run

FULL = examples.usage(core_busy=0.98)
OPTIONS = examples.ENVIRONMENT.options
NOTHING_MEASURED = replace(examples.ENVIRONMENT, stacks={}, file_counts={}, stages={})


def sweep(cell: Cell, factor: float, **changes) -> list[Run]:
    """Four points in three passes."""
    return [
        replace(examples.run(threads, factor * rate, repeat, FULL, **changes), cell=cell)
        for repeat in (1, 2, 3)
        for threads, rate in ((1, 1000.0), (2, 1800.0), (4, 2000.0), (8, 1990.0))
    ]


BEFORE, AFTER = Cell("prefetching", "1KB"), Cell("redis", "1KB")


class TitleTest(unittest.TestCase):
    def document(self, *runs: Run, environment=examples.ENVIRONMENT) -> Document:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Folder(Path(temporary))
            folder.prepare()
            folder.write_environment(environment)
            for run in runs:
                folder.add(run, {})
            return page.Report(folder, folder.environment()).document()

    def title(self, *runs: Run) -> str:
        return self.document(*runs).title

    def test_it_is_the_gain_and_what_limits_it_now(self) -> None:
        self.assertEqual(
            self.title(*sweep(BEFORE, 1.0), *sweep(AFTER, 1.3)),
            "redis: ×1.30, limited by the CPU that all share",
        )

    def test_of_several_gains_it_is_the_largest(self) -> None:
        runs = [*sweep(BEFORE, 1.0), *sweep(AFTER, 1.3)]
        runs += [*sweep(Cell("prefetching", "10KB"), 1.0), *sweep(Cell("redis", "10KB"), 2.0)]
        self.assertTrue(
            self.title(*runs).startswith("redis: ×2.00 at get 10KB, the largest of 2 sure gains, ")
        )

    def test_of_a_shared_machine_it_is_the_gain_in_cpu_time(self) -> None:
        shared = replace(
            examples.ENVIRONMENT, options=replace(examples.ENVIRONMENT.options, is_shared=True)
        )
        less = examples.usage({"fileserver": 0.35, "authserver": 0.0, "store": 0.0, "loadgen": 1.0})
        after = [replace(run, usage=less) for run in sweep(AFTER, 1.0)]
        made = self.document(*sweep(BEFORE, 1.0), *after, environment=shared)
        self.assertEqual(
            made.title, "redis: the CPU time of a request is 2.00 times less than in prefetching"
        )
        grey = made.blocks[made.grey_from :]
        self.assertIn(Heading(2, "Sweeps over N"), grey)
        self.assertNotIn(Heading(2, "The paper’s findings, one by one"), grey)
        none = self.document(*sweep(BEFORE, 1.0), *sweep(AFTER, 1.0), environment=shared)
        self.assertEqual(none.title, "No gain in the CPU time of a request can be told")
        self.assertIsNone(self.document(*sweep(BEFORE, 1.0)).grey_from)

    def test_it_is_said_again_with_the_first_sentences_of_the_page(self) -> None:
        runs = [*sweep(BEFORE, 1.0), *sweep(AFTER, 1.3)]
        said = page.write(examples.results(self, *runs, environment=examples.ENVIRONMENT))
        self.assertTrue(said.startswith("redis: ×1.30, limited by the CPU that all share\nA get"))

    def test_the_page_of_a_run_that_goes_on_is_loaded_again_and_seldom_written(self) -> None:
        made = examples.results(self, *sweep(BEFORE, 1.0), environment=examples.ENVIRONMENT)
        written = mock.Mock(side_effect=page.write)
        watch = page.watching(written)
        watch(made)
        watch(made)
        self.assertEqual(written.call_count, 1)
        again = '<meta http-equiv="refresh" content="5">'
        self.assertIn(again, (made.path / "report.html").read_text())
        page.write(made)
        self.assertNotIn(again, (made.path / "report.html").read_text())

    def test_where_nothing_can_be_reported_yet_the_watch_goes_on(self) -> None:
        page.watching(page.write)(Folder(examples.folder(self)))

    def test_without_a_sure_gain_it_is_the_limit(self) -> None:
        limit = "limited by the CPU that all share"
        self.assertEqual(self.title(*sweep(BEFORE, 1.0)), f"prefetching, get 1KB: {limit}")
        slower = [*sweep(BEFORE, 1.0), *sweep(AFTER, 0.5)]
        self.assertEqual(self.title(*slower), f"redis, get 1KB: {limit}")

    def test_where_nothing_is_named_it_says_what_was_compared(self) -> None:
        idle = [replace(run, usage=examples.usage()) for run in sweep(BEFORE, 1.0)]
        self.assertEqual(self.title(*idle), "Where the time goes: 1 request, 1 stage, 2 cores")

    def test_of_one_answer_it_is_the_first_clause(self) -> None:
        cell = Cell("turnstile", "1KB", workload="open_loop")
        runs = [replace(run, cell=cell) for run in sweep(BEFORE, 1.0)]
        environment = replace(examples.ENVIRONMENT, options=replace(OPTIONS, experiments=("knee",)))
        self.assertEqual(
            self.document(*runs, environment=environment).title,
            "turnstile, get 1KB, open loop: The search for the most that keeps p99 under 10 ms did "
            "not end",
        )

    def test_of_answers_by_size_it_is_the_first_sentence(self) -> None:
        answers = (
            "Files of 1KB. With memory, 1.5 of 2 s; it was expected. More.",
            "Files of 2KB. Nothing.",
        )
        self.assertEqual(headline._lead(answers), "Files of 1KB: With memory, 1.5 of 2 s")
        self.assertEqual(headline._lead(answers[1:]), "Files of 2KB: Nothing")
        self.assertEqual(headline._lead(["One: 1.5 s; so.", "Another: 2 s."]), "")
        self.assertEqual(headline._lead([f"Files of 1KB. {'long ' * 25}."]), "")
        self.assertEqual(headline._lead([]), "")

    def test_many_answers_are_a_table(self) -> None:
        few, many = ([f"stage {n}: it took {n} s." for n in range(count)] for count in (6, 7))
        self.assertEqual(len(overview.told(few)), 6)
        (table,) = overview.told(many)
        assert isinstance(table, Table)
        self.assertEqual(table.rows[1], ["stage 1", "it took 1 s"])
        self.assertEqual(len(overview.told([*many, "no colon"])), 8)

    def test_that_many_points_failed_comes_first(self) -> None:
        good = sweep(BEFORE, 1.0)
        bad = [replace(run, failures="spoiled") for run in good]
        self.assertTrue(
            self.title(*good, *bad[:4]).startswith(
                "4 of 16 points failed their checks. The others: "
            )
        )
        self.assertTrue(self.title(*good, *bad[:3]).startswith("prefetching, get 1KB: "))
        self.assertEqual(self.title(*bad), "12 of 12 points failed their checks")

    def test_a_limit_that_has_no_name_is_not_given_one(self) -> None:
        def limited(label: str, *names: str) -> str:
            alike = tuple(Resource(kind="cpu", name=name, by_pass={1: 0.9}) for name in names)
            return headline._limited(Verdict(label, "", alike))

        self.assertEqual(limited(NOT_SATURATED), "and throughput still rose at the last N")
        self.assertEqual(limited("none over 70%"), "limited by nothing that was measured")
        self.assertEqual(limited("load generator"), "limited by the load generator")
        self.assertEqual(
            limited("alike", "shared CPU", "disk reads"),
            "limited by the CPU that all share or disk reads",
        )

    def test_a_table_of_the_machine_has_no_sections_about_points(self) -> None:
        environment = replace(NOTHING_MEASURED, options=replace(OPTIONS, experiments=("table1",)))
        document = self.document(environment=environment)
        self.assertEqual(document.title, "The machine: a <fast> one, 2 cores")
        headings = [block.text for block in document.blocks if isinstance(block, Heading)]
        self.assertEqual(headings[0], "Table 1: hardware of this host, in the paper's rows")
        self.assertEqual(headings[1:], ["Environment"])
        tables = [getattr(block, "title", "") for block in document.blocks]
        self.assertNotIn("Different files of each size", tables)

    def test_a_profile_names_the_function_that_has_most(self) -> None:
        share = Share("crc32", 0.42)
        profile = Profile(
            command="valgrind",
            requests=10,
            row="1MB",
            stage="multithreaded",
            functions=(share,),
            with_callees=(share,),
        )
        environment = replace(NOTHING_MEASURED, profile=profile)
        document = self.document(
            environment=replace(environment, options=replace(OPTIONS, experiments=("figure3",)))
        )
        self.assertEqual(document.title, "42% of the fileserver’s instructions are in crc32")

    def test_what_was_not_measured_is_said_without_points_too(self) -> None:
        environment = replace(NOTHING_MEASURED, problems={"redis, get 1KB": "no disk"})
        headings = [
            block.text
            for block in self.document(environment=environment).blocks
            if isinstance(block, Heading)
        ]
        self.assertIn("Invalid points, and remarks", headings)
