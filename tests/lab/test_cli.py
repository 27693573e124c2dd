"""The command line of the lab: wrong usage, failures, `list`."""

import contextlib
import io
import unittest

from real_lab import lab

from lab import cli


def called(*arguments: str) -> tuple[int, str]:
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        status = cli.main(list(arguments))
    return status, errors.getvalue()


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
            ["search", "users", "--rate", "0"],
            ["search", "users", "--engine", "select"],
            ["search", "users", "ours"],
            ["search", "users", "--memory", "1T"],
            ["search", "users", "--machine", "cray"],
            ["run", "001-servers", "--stages", "redis"],
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

    def test_the_doctor_examines_the_host_for_every_workload(self):
        for experiment in ("table4", "001-servers", "000-table1"):
            with self.subTest(experiment):
                done = lab("doctor", experiment, "--quick", "--pin", "none")
                self.assertIn(done.returncode, (0, 1), done.stderr)
                self.assertIn("open files (soft, hard)", done.stdout)
                self.assertRegex(done.stdout.splitlines()[-1], rf"^{experiment}: about \d")

    def test_the_list_needs_nothing(self):
        self.assertEqual(called("list"), (0, ""))
