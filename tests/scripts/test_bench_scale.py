"""How cost grows: the exponent, the steps, and one whole run with small numbers."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

from host import PROJECT, ScriptTest, run

sys.path.insert(0, str(PROJECT))

from bench.growth import Curve, drawing, table
from bench.scale_cli import AXES, Axis

SCALE = PROJECT / "scripts" / "bench-scale"
BUILD = Path(os.environ.get("TURNSTILE_BUILD", PROJECT / "build")).resolve()


class GrowthTest(unittest.TestCase):
    def test_the_exponent_is_that_of_the_power(self) -> None:
        for exponent in (-0.5, 0.0, 1.0, 2.0):
            points = [(number, 3 * number**exponent) for number in (1, 10, 100, 1000)]
            self.assertAlmostEqual(Curve("cost", "files", points).exponent(), exponent)

    def test_one_point_and_zeros_have_no_growth(self) -> None:
        self.assertEqual(Curve("cost", "files", [(1, 5.0)]).exponent(), 0)
        self.assertEqual(Curve("cost", "files", [(1, 0.0), (10, 5.0)]).exponent(), 0)

    def test_the_sentence_has_first_last_ratio_and_the_part_of_one(self) -> None:
        points = [(1, 10.0), (101, 1010.0)]
        self.assertEqual(
            Curve("KiB", "files", points, is_a_sum=True).sentence(),
            "KiB, from 1 to 101 files: 10 to 1,010, 101 times, 10 more for each, power 1.00",
        )
        self.assertNotIn("more for each", Curve("rate", "files", points).sentence())

    def test_curves_over_the_same_number_share_the_rows_of_the_table(self) -> None:
        curves = [
            Curve("rate", "files", [(1, 20000.0), (10, 2.5)]),
            Curve("start", "files", [(10, 7.0)]),
            Curve("rate", "accounts", [(1, 1.0)]),
        ]
        words = [line.split() for line in table(curves).splitlines()]
        self.assertEqual(words[0], ["files", "rate", "start"])
        self.assertEqual(words[1:3], [["1", "20,000"], ["10", "2.5", "7"]])
        self.assertEqual(words[3:], [[], ["accounts", "rate"], ["1", "1"]])

    def test_the_drawing_has_a_panel_for_each_curve(self) -> None:
        text = drawing([Curve(f"title{n}", "files", [(1, 1.0), (10, 10.0)]) for n in range(3)])
        self.assertTrue(text.startswith("<?xml"))
        for n in range(3):
            self.assertIn(f"title{n}", text)


class ScaleTest(ScriptTest):
    def test_the_steps_include_the_first_and_the_last_number(self) -> None:
        axis = Axis(lambda *_: [], 1000)
        self.assertEqual(axis.steps(None), [1, 10, 100, 1000])
        self.assertEqual(axis.steps(50), [1, 10, 50])
        self.assertEqual(axis.steps(1), [1])
        self.assertEqual(Axis(lambda *_: [], 6, factor=2).steps(None), [1, 2, 4, 6])

    def test_the_numbers_of_the_promise_are_reached(self) -> None:
        self.assertEqual(AXES["connections"].most, 10_000)
        self.assertEqual(AXES["files"].most, 100_000)
        self.assertEqual(AXES["accounts-sqlite"].most, 1_000_000)
        self.assertEqual(AXES["accounts-redis"].most, 1_000_000)

    def test_an_unknown_axis_is_wrong_usage(self) -> None:
        result = run(sys.executable, SCALE, "pigeons")
        self.assertEqual(result.returncode, 2)
        self.assertIn("unknown axis: pigeons", result.stderr)

    def test_a_small_run_writes_the_table_and_the_drawing(self) -> None:
        with tempfile.TemporaryDirectory(prefix="bench test ") as name:
            for program in ("authserver", "fileserver", "loadgen"):
                (Path(name) / program).symlink_to(BUILD / program)
            result = run(
                *(sys.executable, SCALE),
                *("--build", name, "--most", "3", "--seconds", "0.2"),
                env={**os.environ, "TMPDIR": name},  # a lock of its own
            )
            self.assertEqual(result.returncode, 0, result.stderr)
            text = (Path(name) / "scale.txt").read_text()
            self.assertIn(text, result.stdout)
            for of in ("cores of", "idle", "files", "accounts in SQLite", "accounts in Redis"):
                self.assertIn(of, text)
            self.assertIn("</svg>", (Path(name) / "scale.svg").read_text())
            left = {path.name for path in Path(name).iterdir() if path.is_dir()}
            self.assertFalse([each for each in left if each.startswith("bench-")])
