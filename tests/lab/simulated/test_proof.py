"""The rules of the lab are right about systems whose answers are known; see `make lab-proof`."""

import contextlib
import io
import math
import os
import unittest
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from unittest import mock

from simulated import cases as systems
from simulated import proof, ramps, system
from simulated.cases import CASES
from simulated.system import System

from lab.kinds import CLOSED_LOOP
from lab.plan.catalog import Cell
from lab.results.records import Folder

RESULTS = Path(__file__).parents[3] / "docs/results"

# The full gate takes more of them, and make lab-proof a hundred.
_FEW_SEEDS = 20 if os.environ.get("TURNSTILE_GATE") == "full" else 6
_FEWER_SEEDS = 5  # of what takes long


class ProofTest(unittest.TestCase):
    def test_each_case_is_answered_right_and_never_confidently_wrong(self):
        for cases, seeds in ((systems.CASES, _FEW_SEEDS), (ramps.CASES, _FEWER_SEEDS)):
            for case in cases:
                with self.subTest(case.name):
                    found = proof.score(case, seeds)
                    self.assertTrue(found.is_good, found)

    def test_the_same_seed_gives_the_same_answer(self):
        case = CASES[0]
        self.assertEqual(case.ask(7), case.ask(7))

    def test_ninety_five_of_a_hundred_must_be_right_and_one_may_be_wrong(self):
        case = CASES[0]
        self.assertTrue(proof.Score(case, 95, 4, {"x": 1}).is_good)
        self.assertFalse(proof.Score(case, 94, 6, {}).is_good)
        self.assertFalse(proof.Score(case, 98, 0, {"x": 1, "y": 1}).is_good)

    def test_where_a_hundred_say_no_five_hundred_decide(self):
        def case(wrong: set[int]) -> systems.Case:
            return mock.Mock(
                power=0.95, right=("right",), ask=lambda n: "wrong" if n in wrong else "right"
            )

        sure = proof.sure_score(case({3, 99, 100, 200, 300}), 100)
        self.assertEqual((sure.seeds, sure.is_good), (500, True))
        self.assertFalse(proof.sure_score(case({3, 99, 100, 200, 300, 499}), 100).is_good)
        self.assertEqual(proof.sure_score(case({3, 499}), 100).seeds, 100)
        self.assertEqual(proof.sure_score(case({3, 4}), 20).seeds, 20)

    def test_a_case_that_fails_is_named_and_ends_with_status_1(self):
        wrong = replace(CASES[0], right=("not seen here",))
        out = io.StringIO()
        with (
            mock.patch.object(proof, "CASES", (wrong,)),
            mock.patch("sys.argv", ["prove", "--seeds", "2"]),
            contextlib.redirect_stdout(out),
        ):
            self.assertEqual(proof.main(), 1)
        self.assertIn("FAILED seen here: 2", out.getvalue())


class NoiseTest(unittest.TestCase):
    """Of points with three passes in 002. Without its mean over the passes, and that of its pass, a
    point has two thirds of its variance.
    """

    def setUp(self) -> None:
        by_point: dict[tuple[Cell, int], dict[int, float]] = {}
        for run in Folder(RESULTS / "002").runs():
            if run.is_valid and not run.pair and run.cell.kind is CLOSED_LOOP:
                logs = by_point.setdefault((run.cell, run.threads), {})
                logs[run.repeat] = math.log(run.throughput_rps)
        whole = {point: logs for point, logs in by_point.items() if len(logs) == 3}
        lefts = {
            point: {repeat: log - fmean(logs.values()) for repeat, log in logs.items()}
            for point, logs in whole.items()
        }
        of_pass = {repeat: fmean(left[repeat] for left in lefts.values()) for repeat in (1, 2, 3)}
        self.by_cell: dict[tuple[Cell, int], list[float]] = {}
        for (cell, _), left in lefts.items():
            for repeat, deviation in left.items():
                found = self.by_cell.setdefault((cell, repeat), [])
                found.append(deviation - of_pass[repeat])

    def test_it_is_that_of_the_recorded_runs(self) -> None:
        groups = self.by_cell.values()
        freedom = sum(len(group) - 1 for group in groups)
        within = sum((one - fmean(group)) ** 2 for group in groups for one in group) / freedom
        between = fmean(fmean(group) ** 2 - within / len(group) for group in groups)
        self.assertAlmostEqual(math.sqrt(1.5 * within), system.BETWEEN_POINTS, delta=0.005)
        self.assertAlmostEqual(math.sqrt(1.5 * between), system.BETWEEN_CELLS, delta=0.005)


class SystemTest(unittest.TestCase):
    def test_a_lone_request_takes_all_that_it_needs(self):
        system = System(cpu_ms={"fileserver": 1.0}, disk_ms=2.0, lock_ms=1.0, delay_ms=4.0)
        self.assertAlmostEqual(system.throughput(1, 1.0, 1.0), 1000 / 8)

    def test_many_users_fill_what_is_narrowest(self):
        disk = System(cpu_ms={"fileserver": 1.0}, disk_ms=2.0)
        self.assertAlmostEqual(disk.throughput(400, 1.0, 1.0), 500, delta=1)
        stolen = System(cpu_ms={"fileserver": 1.0}, stolen=0.2)
        self.assertAlmostEqual(stolen.throughput(400, 1.0, 1.0), 1600, delta=1)
        link = System(cpu_ms={"fileserver": 1.0}, size_bytes=100_000, link_bytes_per_s=1e8)
        self.assertAlmostEqual(link.throughput(400, 1.0, 1.0), 1000, delta=1)
