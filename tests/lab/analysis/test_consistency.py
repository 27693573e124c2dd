"""Numbers of one measurement agree, whoever counted them."""

import unittest
from dataclasses import replace

import examples

from lab.analysis import consistency
from lab.plan.catalog import Cell

CELL = Cell("redis", "10KB")
SIZE = 10_000


def run(carried: float = 1.02, **changes):
    made = replace(examples.run(4, 1000.0, 1), cell=CELL, elapsed_s=2.0, requests=2000, **changes)
    rate = made.throughput_rps * SIZE * carried
    return replace(made, usage=replace(made.usage, loopback_bytes_per_s=rate))


class ConsistencyTest(unittest.TestCase):
    def said(self, *runs) -> str:
        return " ".join(consistency.contradictions(runs))

    def test_what_agrees_is_no_contradiction(self):
        self.assertEqual(self.said(run(), run(0.99), run(1.2)), "")

    def test_bytes_that_the_kernel_did_not_carry_are_one(self):
        self.assertIn("redis", self.said(run(0.34), run(0.33), run(0.34)))
        self.assertIn("the kernel carried 34% of the bytes", self.said(run(0.34)))

    def test_one_sample_that_missed_a_part_of_a_trial_is_none(self):
        self.assertEqual(self.said(run(0.6), run(1.01), run(1.01)), "")

    def test_requests_that_the_throughput_does_not_make_are_one(self):
        forged = replace(run(), requests=6000)
        self.assertIn("the requests are 3.00 times those", self.said(forged))

    def test_what_was_not_counted_or_is_not_valid_says_nothing(self):
        unknown = replace(run(), usage=replace(run().usage, loopback_bytes_per_s=None))
        self.assertEqual(self.said(unknown, run(0.3, failures="9 timeouts")), "")
        self.assertEqual(self.said(replace(run(0.3), cell=Cell("redis", "new"))), "")
