"""points.csv and environment.json: what is written is read back."""

import contextlib
import csv
import io
import shutil
import unittest
from dataclasses import replace
from pathlib import Path

import examples

from lab import cli
from lab.results.packed import Recorded
from lab.results.records import Folder, Run
from lab.results.usage_table import UsageTable
from rig.errors import Failed


class RecordsTest(unittest.TestCase):
    def setUp(self):
        self.folder = examples.results(self)

    def test_a_run_comes_back_as_it_was(self):
        runs = [
            examples.run(),
            examples.run(
                4,
                2500.0,
                2,
                errors="busy 3",
                failures="a, b; c",
                notes='said "so"',
                is_generator_limit=True,
            ),
        ]
        added = [self.folder.add(run, {"samples": [run.threads]}) for run in runs]
        self.assertEqual(
            self.folder.runs(), [replace(run, trial=n + 1) for n, run in enumerate(runs)]
        )
        self.assertEqual(self.folder.runs(), added)
        self.assertEqual(self.folder.evidence(added[1]), {"samples": [4]})

    def test_the_second_try_of_a_point_keeps_the_evidence_of_the_first(self):
        first = self.folder.add(examples.run(failures="disturbed"), {"samples": [1]})
        again = Folder(self.folder.path).add(examples.run(), {"samples": [2]})
        self.assertEqual((first.trial, again.trial), (1, 2))
        self.assertEqual(self.folder.evidence(first), {"samples": [1]})
        self.assertEqual(self.folder.evidence(again), {"samples": [2]})

    def test_a_packed_folder_is_read_and_nothing_of_it_is_lost(self):
        run, before = self.packed()
        self.assertEqual([one.name for one in self.folder.path.iterdir()], ["recorded.zip"])
        packed = Folder(self.folder.path)
        self.assertEqual(packed.runs(), [run])
        self.assertEqual(packed.environment(), examples.ENVIRONMENT)
        self.assertEqual(packed.evidence(run), {"samples": [1]})
        packed.prepare()
        self.assertEqual(self.files(), before)
        second = packed.add(examples.run(2), {})
        self.assertEqual(Folder(self.folder.path).runs(), [run, second])

    def test_lab_report_packs_a_folder_when_it_is_asked_to(self):
        self.folder.add(examples.run(), {})
        self.folder.write_environment(examples.ENVIRONMENT)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(cli.main(["report", "--pack", str(self.folder.path)]), 0)
        there = {one.name for one in self.folder.path.iterdir()}
        self.assertEqual(there, {"recorded.zip", "report.html", "summary.md", "figures"})

    def test_a_lab_that_was_killed_while_it_packed_or_unpacked_has_lost_nothing(self):
        run, before = self.packed()
        archive = self.folder.path / "recorded.zip"
        for name in before:  # killed when this file was there, and no other one
            with self.subTest(name):
                path = self.folder.path / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(before[name])
                self.assertEqual(Folder(self.folder.path).runs(), [run])
                Folder(self.folder.path).prepare()
                self.assertEqual(self.files(), before)
                Folder(self.folder.path).pack()
                self.assertTrue(archive.exists())

    def test_a_file_beside_the_archive_counts_more_than_the_one_in_it(self):
        run, before = self.packed()
        changed = replace(run, notes="changed")
        self.folder.replace([changed])
        Folder(self.folder.path).prepare()
        self.assertEqual(Folder(self.folder.path).runs(), [changed])
        self.assertEqual(self.files().keys(), before.keys())

    def test_equal_files_make_an_equal_archive(self):
        self.packed()
        archive = self.folder.path / "recorded.zip"
        first = archive.read_bytes()
        Recorded(self.folder.path).unpack()
        (self.folder.path / "points.csv").touch()
        Folder(self.folder.path).pack()
        self.assertEqual(archive.read_bytes(), first)

    def packed(self) -> tuple[Run, dict[str, bytes]]:
        """A folder with one run, which is packed. Returns what was there before."""
        run = self.folder.add(examples.run(), {"samples": [1]})
        self.folder.write_environment(examples.ENVIRONMENT)
        before = self.files()
        self.folder.pack()
        return run, before

    def files(self) -> dict[str, bytes]:
        paths = (path for path in self.folder.path.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder.path)): path.read_bytes() for path in paths}

    def test_what_the_machine_did_has_a_line_for_each_trial_component_and_metric(self):
        self.folder.add(examples.run(), {})
        with open(self.folder.path / "usage.csv", newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual(list(lines[0]), ["trial", "component", "metric", "value"])
        self.assertIn(
            {"trial": "1", "component": "fileserver", "metric": "threads", "value": "3"}, lines
        )
        self.assertLessEqual(
            {"core 0", "disk vda", "machine"}, {line["component"] for line in lines}
        )

    def test_the_number_of_a_trial_that_was_never_written_is_not_used_again(self):
        UsageTable(self.folder.path).add(1, examples.usage({"cache": 1.0}))
        self.folder.add(examples.run(), {})
        self.assertEqual(self.folder.runs(), [examples.run(trial=2)])

    def test_a_component_that_was_not_there_stays_away(self):
        run = examples.run(used=examples.usage({"fileserver": 0.5, "loadgen": 0.5}))
        self.folder.add(run, {})
        self.assertEqual(list(self.folder.runs()[0].usage.components), ["fileserver", "loadgen"])

    def test_all_points_can_be_written_again(self):
        run = self.folder.add(examples.run(), {})
        self.folder.replace([replace(run, failures="counted otherwise")])
        self.assertFalse(self.folder.runs()[0].is_valid)

    def test_an_empty_folder_has_nothing(self):
        self.assertEqual((self.folder.runs(), self.folder.find_environment()), ([], None))


class OtherVersionsTest(unittest.TestCase):
    """points.csv of an older or newer lab, which measured less or more."""

    def setUp(self):
        self.folder = examples.results(self)
        self.folder.add(examples.run(), {})
        self.points = self.folder.path / "points.csv"

    def change(self, without: tuple[str, ...] = (), **more: str) -> None:
        self.change_file(self.points, without, more)

    def change_file(self, path: Path, without: tuple[str, ...], more: dict[str, str]) -> None:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [{**row, **more} for row in csv.DictReader(file)]
        kept = [name for name in rows[0] if name not in without]
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, kept, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)

    def test_columns_are_read_by_name_and_a_missing_one_was_not_measured(self):
        self.change(("p99_ms",))
        (run,) = self.folder.runs()
        self.assertEqual((run.p99_ms, run.p90_ms), (None, examples.run().p90_ms))

    def test_a_metric_that_is_missing_was_not_measured_and_a_new_one_is_left_unread(self):
        usage = self.folder.path / "usage.csv"
        kept = [
            line
            for line in usage.read_text(encoding="utf-8").splitlines()
            if not line.startswith(("1,fileserver,threads", "1,machine,accepts"))
        ]
        kept += ["1,fileserver,colour,2", "1,cache,cpu_cores,0.25"]
        usage.write_text("\n".join([*kept, ""]), encoding="utf-8")
        used = self.folder.runs()[0].usage
        self.assertEqual((used.components["fileserver"].threads, used.accepts_per_s), (None, None))
        self.assertEqual(used.components["authserver"].threads, 3)
        self.assertEqual(used.components["cache"].cpu_cores, 0.25)

    def test_a_run_without_its_throughput_is_none(self):
        self.change(("throughput_rps",))
        with self.assertRaisesRegex(Failed, "has no column 'throughput_rps'"):
            self.folder.runs()

    def test_what_says_that_a_run_is_invalid_may_not_be_missing(self):
        self.change(("failures",))
        with self.assertRaisesRegex(Failed, "has no column 'failures'"):
            self.folder.runs()

    def test_an_older_folder_takes_further_points(self):
        self.change(("p99_ms",))
        self.folder.prepare()
        self.folder.add(examples.run(2), {})
        self.assertEqual([run.p99_ms for run in self.folder.runs()], [None, 2.0])

    def test_a_newer_folder_is_read_but_not_written(self):
        self.change(colour="red")
        self.assertEqual(self.folder.runs(), [examples.run(trial=1)])
        with self.assertRaisesRegex(Failed, "newer lab, which measured colour"):
            self.folder.prepare()


class WideFolderTest(unittest.TestCase):
    """A folder whose usage is in columns of points.csv, as older versions wrote it."""

    def setUp(self):
        self.path = examples.folder(self)
        recorded = Path(__file__).parents[1] / "recorded"
        shutil.copytree(recorded, self.path, dirs_exist_ok=True)

    def test_its_trials_are_numbered_and_become_long_when_points_are_added(self):
        before = Folder(self.path).runs()
        self.assertEqual([run.trial for run in before], list(range(1, len(before) + 1)))
        self.assertIn("store", before[0].usage.components)
        self.assertTrue(before[0].usage.cores and before[0].usage.disks)
        folder = Folder(self.path)
        folder.prepare()
        self.assertEqual(folder.runs(), before)
        self.assertNotIn("cpu_cores", (self.path / "points.csv").read_text(encoding="utf-8"))
        self.assertEqual(folder.add(examples.run(), {}).trial, len(before) + 1)

    def test_its_evidence_is_found_by_its_older_name(self):
        folder = Folder(self.path)
        self.assertTrue(any(folder.evidence(run) for run in folder.runs()))
