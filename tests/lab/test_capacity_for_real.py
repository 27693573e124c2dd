"""A ramp for real that goes on until the kernel ends the server, because its memory is limited."""

import re
import unittest
from pathlib import Path

import examples
from networks import why_no_namespace
from real_lab import BUILD, DONE, disk_folder, lab, table, unexplained, why_no_run
from test_ramps_for_real import LATE

from rig.control_group import Limits, limited
from rig.errors import Failed

SCALE = 1000  # 1,819 s of the paper become 2 s
MEMORY = "32M"  # 200 uploads under way may take less; 400 take more


def why_no_group() -> str:
    """Empty where memory can be limited here, else the reason, to skip with."""
    try:
        with limited(Limits(memory_bytes=1 << 26), Path("/tmp")):
            return ""
    except Failed as error:
        return str(error)


class CapacityTest(unittest.TestCase):
    @unittest.skipIf(why_no_run(), why_no_run())
    @unittest.skipIf(why_no_namespace(), why_no_namespace())
    @unittest.skipIf(why_no_group(), why_no_group())
    def test_a_server_that_the_kernel_ends_is_an_answer(self) -> None:
        self.out = examples.folder(self, disk_folder())
        self.run_lab("--memory", MEMORY)
        rows = {row["row"]: row for row in table(self.out / "out" / "points.csv")}
        self.require_an_end(rows["capacity-tried"])
        self.require_an_end(rows["capacity-two-thirds"])
        third = rows["capacity-third"]
        self.assertEqual(bool(third["uploads_borne"]), third["errors"] == "fileserver ended")
        self.require_a_report(rows)

    def require_an_end(self, row: dict[str, str]) -> None:
        """Only a busy machine is why it is not valid."""
        if "a tester began" in row["failures"] and not row["errors"]:
            self.skipTest("not all clients were there at once")
        if int(row["requests"]) == 0:  # nor is a step then what it is about
            self.skipTest("the kernel ended the server before the first upload had")
        self.assertEqual(row["errors"], "fileserver ended")
        self.assertEqual(int(row["memory_limit_bytes"]), 32 << 20)
        self.assertTrue(20 < int(row["uploads_borne"]) <= 900, row["uploads_borne"])
        self.assertGreater(float(row["first_failed_s"]), 0)
        self.assertEqual(unexplained(row["failures"], *LATE), [])

    def require_a_report(self, rows: dict[str, dict[str, str]]) -> None:
        summary = (self.out / "out" / "summary.md").read_text(encoding="utf-8")
        told = (
            r"sink-limited{}: 32 MiB of memory bear [\d,]+ uploads under way; at the end, the kern"
        )
        for row, which in (
            ("capacity-tried", ""),
            ("capacity-two-thirds", ", capacity-two-thirds"),
        ):
            is_valid = not rows[row]["failures"]
            self.assertEqual(bool(re.search(told.format(which), summary)), is_valid, row)

    def run_lab(self, *flags: str) -> None:
        places = ["--work", str(self.out / "work"), "--out", str(self.out / "out")]
        limits = ["--stages", "sink-limited", "--scale", str(SCALE), *flags]
        command = ["run", "003-capacity", "--quick", "--programs", str(BUILD), *places, *limits]
        done = lab(*command)
        if done.returncode == 1 and re.search("INVALID: .*other programs used", done.stderr):
            self.skipTest("a busy machine: a server that is slow needs more memory")
        self.assertIn(done.returncode, DONE, done.stderr)
