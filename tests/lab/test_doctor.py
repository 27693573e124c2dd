"""`lab run` begins with what the doctor finds short, and ends there if a part would be missing."""

import contextlib
import io
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from lab import doctor
from lab.observe.limits import Finding
from lab.plan.plan import Options
from rig.errors import Failed

OPTIONS = Options(experiments=("prefetch",), mode="quick", pin="none")
FINE = Finding("setpriv", "/bin/setpriv", "installed")
BUSY = Finding("cores used by other programs", "70%", "at most 10%", "wait or stop them")
WARM = Finding("may drop caches", "no", "yes", "run it with sudo", "the stage multithreaded")


class BeforeARunTest(unittest.TestCase):
    def before(self, *findings: Finding, is_anyway: bool = False) -> str:
        """What is printed."""
        printed = io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("lab.observe.limits.compare", return_value=list(findings)),
            contextlib.redirect_stderr(printed),
        ):
            doctor.before_a_run(OPTIONS, Path(folder), Path(folder), is_anyway=is_anyway)
        return printed.getvalue()

    def test_nothing_is_said_where_nothing_is_short(self) -> None:
        self.assertEqual(self.before(FINE), "")

    def test_what_is_short_is_printed_with_what_to_do_and_the_run_goes_on(self) -> None:
        first, second = self.before(FINE, BUSY).splitlines()
        self.assertTrue(first.startswith("SHORT  cores used by other programs  70% (wanted:"))
        self.assertTrue(second.strip() == "fix: wait or stop them", second)

    def test_a_run_that_would_miss_a_part_ends_with_one_line_that_says_what_to_do(self) -> None:
        with self.assertRaises(Failed) as failed:
            self.before(FINE, BUSY, WARM)
        self.assertEqual(
            str(failed.exception),
            "the stage multithreaded cannot be measured: run it with sudo, "
            "or add --anyway to measure the rest",
        )

    def test_of_several_parts_each_has_what_to_do_and_is_named_once(self) -> None:
        also_lost = replace(WARM, fix="scripts/setup lab")
        other = replace(WARM, loses="the stage redis", fix="apt-get install x")
        with self.assertRaises(Failed) as failed:
            self.before(also_lost, WARM, WARM, other)
        self.assertEqual(
            str(failed.exception),
            "the stage multithreaded cannot be measured: scripts/setup lab; run it with sudo; "
            "for the stage redis: apt-get install x, or add --anyway to measure the rest",
        )

    def test_it_goes_on_if_the_rest_is_wanted(self) -> None:
        self.assertIn("may drop caches", self.before(FINE, WARM, is_anyway=True))

    def test_another_host_is_asked_before_this_one_is_examined(self) -> None:
        options = Options(experiments=("table1",), mode="quick", pin="none", client="far")
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("lab.observe.limits.compare") as compare,
            mock.patch("lab.doctor.compare", side_effect=Failed("far: no route")),
            self.assertRaisesRegex(Failed, "no route"),
        ):
            doctor.before_a_run(options, Path(folder), Path(folder), is_anyway=False)
        compare.assert_not_called()
