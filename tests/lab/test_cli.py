"""The command line of the lab: wrong usage, failures, `list`."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

import examples
from real_lab import ROOT, lab

from lab import cli
from lab.plan import catalog
from lab.report import page
from rig.errors import Failed, NotValid


def called(*arguments: str) -> tuple[int, str]:
    """The status, and what was printed as an error."""
    status, _, errors = printed(*arguments)
    return status, errors


def printed(*arguments: str) -> tuple[int, str, str]:
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(output):
        try:
            status = cli.main(list(arguments))
        except SystemExit as end:  # that of --help
            status = end.code if isinstance(end.code, int) else 1
    return status, output.getvalue(), errors.getvalue()


class CommandLineTest(unittest.TestCase):
    def test_wrong_usage_is_one_line_and_exit_status_2(self):
        for arguments in (
            [],
            ["run"],
            ["run", "table9"],
            ["run", "table4", "--threads", "0"],
            ["bogus"],
            ["run", "table4", "--sizes", "3KB"],
            ["run", "table4", "--stages", "none"],
            ["run", "table4", "--seconds", "0"],
            ["run", "table4", "--repeat", "x"],
            ["run", "table4", "--store", "oracle"],
            ["run", "table4", "--pin", "disk=1"],
            ["run", "table4", "--quik"],
            ["compare", "one"],
            ["search"],
            ["search", "users", "--targets", "none"],
            ["search", "users", "--file", "3KB"],
            ["search", "users", "--pace", "0"],
            ["search", "users", "--engine", "select"],
            ["search", "users", "ours"],
            ["search", "users", "--memory", "1T"],
            ["search", "users", "--machine", "cray"],
            ["run", "001-servers", "--stages", "redis"],
            ["run", "failover", "--stages", "turnstile"],
            ["run", "failover", "--client", "elsewhere"],
            ["run", "mix", "--stages", "turnstile"],
            ["run", "table4", "--series", "--client", "elsewhere"],
            ["run", "knee", "--shared"],
            ["run", "table4", "--note", "two\nlines"],
            ["run", "table4", "--note", "x" * 501],
        ):
            status, errors = called(*arguments)
            self.assertEqual(status, 2, arguments)
            self.assertEqual(errors.count("\n"), 1, errors)
            self.assertTrue(errors.startswith("lab: "), errors)

    def test_a_folder_without_results_is_exit_status_1(self):
        status, errors = called("report", "/nonexistent")
        self.assertEqual(status, 1)
        self.assertEqual(errors.count("\n"), 1)

    def test_a_folder_that_contradicts_itself_gets_no_report(self):
        forged = replace(examples.run(1, 1000.0, 1), elapsed_s=2.0, requests=6000)
        made = examples.results(self, forged, environment=examples.ENVIRONMENT)
        status, errors = called("report", str(made.path))
        self.assertEqual(status, 1)
        self.assertRegex(errors, "^lab: .* contradicts itself, so it gets no report: prefetching")
        self.assertFalse((made.path / "report.html").exists())

    def test_a_run_that_has_ended_is_watched_once(self):
        runs = [examples.run(threads, 1000.0 * threads, 1) for threads in (1, 2)]
        made = examples.results(self, *runs, environment=examples.ENVIRONMENT)
        with mock.patch("os.nice") as nice:
            status, output, errors = printed("watch", str(made.path))
        self.assertEqual((status, errors), (0, ""))
        nice.assert_called_once_with(19)
        first, title, *_ = output.splitlines()
        self.assertEqual(first, str(made.path / "report.html"))
        self.assertEqual(title, page.Report(made, made.environment()).document().title)

    def test_the_doctor_examines_the_host_for_every_workload(self):
        for experiment in ("table4", "001-servers", "000-table1"):
            with self.subTest(experiment):
                done = lab("doctor", experiment, "--quick", "--pin", "none")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertIn("open files (soft, hard)", done.stdout)
                self.assertRegex(done.stdout.splitlines()[-1], rf"^{experiment}: about \d")

    def test_rows_that_no_experiment_has_are_wrong_usage(self):
        self.assertEqual(
            called("run", "prefetch", "--sizes", "1KB"),
            (2, "lab: --sizes 1KB: prefetch has 100KB\n"),
        )
        self.assertEqual(called("run", "table1", "--sizes", "new")[0], 2)

    def test_a_misspelt_name_brings_the_names_that_are_like_it(self):
        for arguments, meant in (
            (["run", "prefecth"], "no experiment 'prefecth': did you mean prefetch?"),
            (["run", "fig5"], "did you mean figure5"),
            (["run", "table4", "--stages", "redsi"], "--stages: no 'redsi': did you mean redis?"),
        ):
            status, errors = called(*arguments)
            self.assertEqual(status, 2)
            self.assertIn(meant, errors)
            self.assertIn("`lab list --all` has all names", errors)
            self.assertLess(len(errors), 160)
        self.assertNotIn("did you mean", called("run", "xyzzy")[1])

    def test_a_client_that_ssh_does_not_reach_is_said_before_anything_is_prepared(self):
        with tempfile.TemporaryDirectory() as folder:
            out, work = Path(folder) / "out", Path(folder) / "work"
            arguments = ["run", "table1", "--client", "far", "--out", str(out), "--work", str(work)]
            with mock.patch("lab.cli.remote.ask", side_effect=Failed("far: no such host")):
                status, errors = called(*arguments)
            self.assertEqual((status, list(Path(folder).iterdir())), (1, []))
        self.assertEqual(errors, "lab: far: no such host; `ssh far` must work without a password\n")

    def test_results_are_below_the_folder_that_the_environment_names(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict(os.environ, TURNSTILE_LAB_RESULTS=folder):
                done = lab("run", "table1", "--work", f"{folder}/work")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(list(Path(folder).glob("table1-*/report.html"))), 1)

    def test_nothing_is_measured_where_a_part_would_be_missing(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("lab.cli.namespace.enter"),
            mock.patch("lab.cli.lock.only_lab", lambda **_: contextlib.nullcontext()),
            mock.patch("lab.cli.doctor.before_a_run", side_effect=Failed("no root")) as before,
            mock.patch("lab.cli.run.run") as ran,
        ):
            command = ["run", "table1", "--out", f"{folder}/out", "--work", f"{folder}/work"]
            self.assertEqual(called(*command), (1, "lab: no root\n"))
            ran.assert_not_called()
            self.assertEqual(before.call_args.kwargs, {"is_anyway": False})
            before.side_effect = None
            self.assertEqual(called(*command, "--anyway"), (0, ""))
            ran.assert_called_once()
            self.assertEqual(before.call_args.kwargs, {"is_anyway": True})

    def test_a_run_without_a_valid_point_is_exit_status_3(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("lab.cli.namespace.enter"),
            mock.patch("lab.cli.lock.only_lab", lambda **_: contextlib.nullcontext()),
            mock.patch("lab.cli.doctor.before_a_run"),
            mock.patch("lab.cli.run.run", side_effect=NotValid("none")) as ran,
        ):
            command = ["run", "table1", "--out", f"{folder}/out", "--work", f"{folder}/work"]
            self.assertEqual(called(*command), (3, "lab: none\n"))
            self.assertEqual(ran.call_args.kwargs, {"is_anyway": False, "watch": None})
        _, output, _ = printed("run", "-h")
        self.assertIn("\n  3  no point is valid", output)

    def test_an_experiment_without_points_says_what_it_does(self):
        with tempfile.TemporaryDirectory() as folder:
            done = lab("run", "table1", "--out", f"{folder}/out", "--work", f"{folder}/work")
            summary = (Path(folder) / "out" / "summary.md").read_text(encoding="utf-8")
        self.assertIn("table1: a table of this machine, at once; results in", done.stderr)
        self.assertRegex(summary.splitlines()[0], r"^# The machine: .*, \d+ cores?$")

    def test_every_command_with_many_flags_has_them_in_groups_with_examples(self):
        for words, heading in (
            (["run"], "what is measured:"),
            (["doctor"], "how long and how often:"),
            (["search", "users"], "of this search:"),
        ):
            status, output, _ = printed(*words, "-h")
            self.assertEqual(status, 0)
            self.assertTrue(output.startswith(f"usage: lab {' '.join(words)} "), output)
            self.assertIn(f"\n{heading}\n", output)
            self.assertIn("\nexamples:\n", output)
            self.assertLess(len(output.splitlines()[0]), 80)

    def test_the_examples_of_the_help_are_commands_that_there_are(self):
        for words in (["run"], ["doctor"], ["search", "users"]):
            _, output, _ = printed(*words, "-h")
            lines = output.partition("\nexamples:\n")[2].splitlines()
            self.assertGreater(len(lines), 1)
            for line in lines:
                command = line.strip().removeprefix("sudo ").removeprefix("scripts/lab ")
                cli._parser().parse_args(command.partition("   ")[0].split())


class ListTest(unittest.TestCase):
    def listed(self, *arguments: str) -> str:
        status, output, errors = printed("list", *arguments)
        self.assertEqual((status, errors), (0, ""))
        return output

    def test_the_main_paper_comes_first_and_every_experiment_is_there(self):
        words = [line.split()[0] for line in self.listed().splitlines()]
        order = [words.index(name) for name in ("table1", "all", "ph2", "000-table1", "000")]
        self.assertEqual(order, sorted(order))
        self.assertLessEqual(set(catalog.experiments()), set(words))

    def test_the_files_that_make_an_experiment_are_there_from_its_data_to_its_report(self):
        for name, experiment in catalog.experiments().items():
            paths = [line.split()[0] for line in self.listed("--why", name).splitlines()[1:]]
            self.assertEqual(paths[0], f"lab/papers/{experiment.paper}/experiments.json")
            self.assertEqual(
                f"lab/kinds/{experiment.workload}/load.py" in paths, bool(experiment.stages), name
            )
            self.assertEqual(paths[-1], "lab/report/page.py")
            self.assertEqual([path for path in paths if not (ROOT / path).is_file()], [])
            self.assertEqual(len(set(paths)), len(paths))
        self.assertEqual(called("list", "--why", "all")[0], 2)

    def test_a_reader_that_has_seen_enough_is_no_error(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        command = [str(ROOT / "scripts" / "lab"), "list"]
        with os.fdopen(write_end, "wb") as nobody:
            ended = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, check=False)
        self.assertEqual((ended.returncode, ended.stderr), (141, b""))

    def test_machines_servers_and_stages_of_other_papers_are_listed_on_demand(self):
        short, whole = (
            {line.split()[0] for line in self.listed(*arguments).splitlines()}
            for arguments in ([], ["--all"])
        )
        for name in ("486", "pentium-90", "vsftpd-tuned", "engine-poll"):
            self.assertNotIn(name, short)
            self.assertIn(name, whole)
        self.assertLessEqual(set(catalog.stages()), whole)
