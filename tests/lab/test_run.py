"""`lab run` without a server: experiments that need none, and points that are made up."""

import contextlib
import io
import time
import unittest
from dataclasses import replace
from functools import partial
from typing import ClassVar
from unittest import mock

import examples

from lab import run
from lab.observe.host import Host
from lab.observe.machine_probe import MachineProbe
from lab.plan.plan import Options
from lab.procedures.measure import Measured
from rig import clocks
from rig.clocks import Reading
from rig.errors import Failed, NotValid, WrongUsage
from rig.servers import Programs

TABLE_1 = examples.options("table1")
TWO_CELLS = examples.options(
    "table4", stages=("turnstile",), rows=("new", "1KB"), threads=(1, 2), repeat=2
)
KNEE = examples.options("knee")


def made_up_point(stand, setting, repeat):
    threads = setting.threads
    made = examples.run(threads, 1000.0 * threads, repeat)
    return Measured(
        run=replace(made, cell=stand.planned.cell, store="sqlite"),
        evidence={"command": "loadgen"},
        transfers=[],
        clocks=[],
        made_in_all=None,
    )


def disturbed_point(stand, setting, repeat, failures="other programs used 80% of the cores"):
    """Its time is that of this command, which may try it once more."""
    made = made_up_point(stand, setting, repeat)
    now = {"started_unix_s": time.time() + 60, "failures": failures}
    return replace(made, run=replace(made.run, **now))


class MadeUpServers:
    """Stand for the servers of a cell."""

    store, durability = "sqlite", "on the disk"
    settings: ClassVar[dict[str, str]] = {}

    def __init__(self, cell):
        self.cell = cell

    def commands(self) -> dict[str, str]:
        return {"fileserver": f"fileserver for {self.cell}"}

    def counts(self) -> dict[str, int]:
        return {}


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = examples.folder(self)
        self.out, self.work = folder / "out", folder / "work"
        self.patch("lab.observe.host.describe", return_value=Host(kernel="6.1"))
        self.patch("rig.iperf3.is_installed", return_value=False)
        self.patch("lab.observe.disk_probe.measure", return_value=None)
        self.patch("lab.run.Programs.require")
        self.reported: list[run.Folder] = []
        self.patch("lab.run.signal.signal")
        self.patch("rig.files.filled", return_value=self.work)
        self.point = self.patch("lab.procedures.measure.point", side_effect=made_up_point)
        self.system = mock.Mock()
        self.system.prepared.side_effect = lambda *_: contextlib.nullcontext(self.system)
        self.system.running.side_effect = self.servers
        known = mock.patch.dict("lab.systems.known.SYSTEMS", {"turnstile": self.system})
        known.start()
        self.addCleanup(known.stop)

    def servers(self, cell, *_):
        return contextlib.nullcontext(MadeUpServers(cell))

    def patch(self, name: str, **how) -> mock.Mock:
        patch = mock.patch(name, **how)
        self.addCleanup(patch.stop)
        return patch.start()

    def report(self, folder: run.Folder) -> str:
        self.reported.append(folder)
        return "the gain that was found"

    def run_lab(self, options: Options, **how):
        places = run.Places(self.out, self.work, Programs(self.work))
        with contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                run.run(options, places, self.report, **how)
            finally:
                self.said = said.getvalue()
        return run.Folder(self.out)

    def test_the_record_says_what_was_run_and_that_it_is_complete(self):
        environment = self.run_lab(TABLE_1).environment()
        self.assertEqual((environment.options, environment.host.kernel), (TABLE_1, "6.1"))
        self.assertTrue(environment.is_complete)
        self.assertEqual(
            self.run_lab(TABLE_1).environment().started_unix_s, environment.started_unix_s
        )

    def test_a_run_ends_with_what_was_found_and_where_it_is(self):
        self.run_lab(TABLE_1)
        self.assertIn(f"the gain that was found\nreport: {self.out}/report.html\n", self.said)

    def test_who_watches_is_told_of_each_point(self):
        watch = mock.Mock()
        folder = self.run_lab(TWO_CELLS, watch=watch)
        self.assertEqual(watch.call_count, len(folder.runs()))

    def test_a_folder_takes_no_points_of_other_settings(self):
        self.run_lab(TABLE_1)
        with self.assertRaisesRegex(
            WrongUsage, "measured with other options, mode: use another --out"
        ):
            self.run_lab(replace(TABLE_1, repeat=3))

    def test_the_clocks_of_each_trial_have_a_file_of_their_own(self):
        def with_clocks(stand, setting, repeat):
            ahead_s = setting.threads + repeat / 10
            read = Reading(t_unix_s=1.79e9, tester="far-1", ahead_s=ahead_s, error_s=0.001)
            return replace(made_up_point(stand, setting, repeat), clocks=[read])

        self.point.side_effect = with_clocks
        folder = self.run_lab(TWO_CELLS)
        self.assertEqual(len(folder.runs()), 8)
        for one in folder.runs():
            (kept,) = clocks.read(self.out / "clocks" / f"{one.name}.csv")
            self.assertEqual((kept.tester, kept.ahead_s), ("far-1", one.threads + one.repeat / 10))

    def test_a_load_from_this_host_has_no_clocks(self):
        self.run_lab(TWO_CELLS)
        self.assertFalse((self.out / "clocks").exists())

    def test_every_cell_is_measured_in_every_pass_and_its_servers_recorded(self):
        folder = self.run_lab(TWO_CELLS)
        measured = [(run.cell.row, run.threads, run.repeat) for run in folder.runs()]
        both = [("new", 1), ("new", 2), ("1KB", 1), ("1KB", 2)]
        self.assertEqual(sorted(measured), sorted((*one, n) for one in both for n in (1, 2)))
        environment = folder.environment()
        self.assertEqual(set(environment.stacks), {"turnstile-new", "turnstile-1KB"})
        self.assertEqual(list(environment.stages), ["turnstile"])

    def test_a_machine_is_probed_once_and_its_result_recorded(self):
        found = MachineProbe(cores=0.009, read_bytes_per_s=2e6)
        measure = self.patch("lab.observe.machine_probe.measure", return_value=found)
        self.patch("rig.control_group.limited")
        machine = replace(TWO_CELLS, machine="486")
        self.run_lab(machine)
        environment = self.run_lab(machine).environment()
        measure.assert_called_once()
        self.assertEqual(environment.machine_probes, {"486": found})
        self.assertEqual(environment.stages["turnstile"].machine.name, "486")

    def test_an_open_loop_has_its_own_points_with_the_limit_that_was_asked_for(self):
        def point(stand, setting, repeat):
            made, rate = made_up_point(stand, setting, repeat), setting.offered_rps
            run = examples.with_figures(made.run, offered_rps=rate)
            return replace(made, run=replace(run, p99_ms=rate and rate / 100))

        self.point.side_effect = point
        options = replace(KNEE, p99_ms=100.0)
        runs = self.run_lab(options).runs()
        self.assertEqual({run.cell.workload for run in runs}, {"open_loop"})
        offered = {run.offered_rps for run in runs} - {None}
        self.assertLess(min(abs(rate - 10_000) for rate in offered), 500)
        before = len(runs)
        self.assertEqual(len(self.run_lab(options).runs()), before)

    def test_a_stage_of_a_system_that_there_is_not_is_wrong_usage(self):
        with (
            mock.patch.dict("lab.systems.known.SYSTEMS", clear=True),
            self.assertRaisesRegex(WrongUsage, "stage turnstile: no system 'turnstile'"),
        ):
            self.run_lab(TWO_CELLS)

    def test_after_three_points_in_a_row_that_others_disturb_the_run_stops(self):
        self.point.side_effect = disturbed_point
        with self.assertRaisesRegex(
            NotValid, f"disturbed 3 points in a row, and the run has stopped: .* --out {self.out}, "
        ):
            self.run_lab(TWO_CELLS)
        folder = run.Folder(self.out)
        self.assertEqual(len(folder.runs()), 6)  # each is tried twice
        self.assertFalse(folder.environment().is_complete)
        self.assertEqual([one.path for one in self.reported], [self.out])

    def test_a_good_try_begins_the_three_again(self):
        good = {4, 6, 12}  # a try of the third, the fourth and the seventh point

        def point(*asked):
            made = self.point.call_count - 1
            return made_up_point(*asked) if made in good else disturbed_point(*asked)

        self.point.side_effect = point
        self.run_lab(TWO_CELLS)
        self.assertIn("5 of 8 points are not valid; other programs disturbed 5 of them", self.said)

    def test_on_a_shared_machine_a_point_that_others_disturb_counts(self):
        self.point.side_effect = disturbed_point
        shared = replace(TWO_CELLS, is_shared=True, threads=None, stages=("prefetching", "redis"))
        made = self.run_lab(shared).runs()
        self.assertEqual({(one.threads, one.failures) for one in made}, {(8, "")})
        said = {one.notes for one in made}
        self.assertEqual(said, {"disturbed: other programs used 80% of the cores"})
        blocks = {one.repeat for one in made if one.pair and one.cell.row == "1KB"}
        self.assertEqual(blocks, set(range(1, 9)))
        self.assertEqual(len([one for one in made if not one.pair]), 2 * 2 * 2)

    def test_a_shared_machine_excuses_no_other_failure(self):
        failures = "other programs used 80% of the cores; 9 timeouts"
        self.point.side_effect = partial(disturbed_point, failures=failures)
        with self.assertRaises(NotValid):
            self.run_lab(replace(TWO_CELLS, is_shared=True))

    def test_anyway_it_goes_on_and_no_valid_point_is_no_result(self):
        self.point.side_effect = disturbed_point
        none_of_8 = "8 of 8 points are not valid; other programs disturbed 8 of them: close those"
        with self.assertRaisesRegex(NotValid, none_of_8):
            self.run_lab(TWO_CELLS, is_anyway=True)
        self.assertTrue(run.Folder(self.out).environment().is_complete)
        self.assertIn("[16 of ~16]", self.said)

    def test_points_that_are_not_valid_for_another_reason_are_all_measured(self):
        self.point.side_effect = partial(disturbed_point, failures="9 timeouts")
        with self.assertRaisesRegex(NotValid, "^8 of 8 points are not valid; the first: 9 timeou"):
            self.run_lab(TWO_CELLS)

    def test_a_repeated_command_measures_only_what_is_missing(self):
        self.run_lab(TWO_CELLS)
        self.point.reset_mock()
        self.run_lab(TWO_CELLS)
        self.point.assert_not_called()

    def test_a_cell_that_cannot_be_measured_is_a_problem_and_the_others_are_measured(self):
        def running(cell, *_):
            if cell.row == "new":
                raise Failed("no disk")
            return self.servers(cell)

        self.system.running.side_effect = running
        with self.assertRaisesRegex(Failed, r"1 cell\(s\) not measured; the first: turnstile, new"):
            self.run_lab(TWO_CELLS)
        folder = run.Folder(self.out)
        self.assertEqual(folder.environment().problems, {"turnstile, new": "no disk"})
        self.assertEqual({run.cell.row for run in folder.runs()}, {"1KB"})
        self.assertEqual([one.path for one in self.reported], [self.out])
