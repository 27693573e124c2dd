"""The rules of the lab are right about systems whose answers are known; see `make lab-proof`."""

import contextlib
import io
import os
import unittest
from dataclasses import replace
from unittest import mock

from simulated import cases as systems
from simulated import proof, ramps
from simulated.cases import CASES
from simulated.system import System

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
