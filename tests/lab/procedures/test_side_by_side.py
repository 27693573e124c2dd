"""Two stages side by side: which trials a block has, what is missing, and what gain they give."""

import unittest
from dataclasses import replace
from unittest import mock

import examples

from lab.analysis import gains
from lab.analysis.cells import Analysis
from lab.plan.catalog import Cell
from lab.plan.planned import Pair, Setting
from lab.procedures import side_by_side

PAIR = Pair("multithreaded", "prefetching", "1KB")
BEFORE, AFTER = PAIR.cells
WARM = ("prefetching", "redis")  # stages


def trial(cell: Cell, block: int, rate: float, **changes):
    made = examples.run(8, rate, block)
    return replace(made, cell=cell, pair=PAIR.name, **changes)


def block(number: int, rates: tuple[float, ...], **last):
    """A B B A; `last` changes the last trial."""
    cells = (BEFORE, AFTER, AFTER, BEFORE)
    runs = [trial(cell, number, rate) for cell, rate in zip(cells, rates)]
    return [*runs[:-1], replace(runs[-1], **last)]


class BlocksTest(unittest.TestCase):
    def test_the_sides_of_a_block_alternate_and_the_next_block_begins_with_the_other(self):
        bench = mock.Mock(runs=[])
        order = []

        def side(index: int) -> mock.Mock:
            def make(_setting, number, _pair):
                order.append(index)
                bench.runs.append(trial(PAIR.cells[index], number, 1000.0))
                return bench.runs[-1]

            return mock.Mock(make=make)

        sides: list = [side(0), side(1)]
        for _ in range(2):
            side_by_side._make_block(bench, PAIR, sides, Setting(8))
        self.assertEqual(order, [0, 1, 1, 0, 1, 0, 0, 1])
        self.assertEqual(side_by_side.missing_blocks(bench.runs, PAIR, 5), 3)

    def test_a_block_with_a_bad_trial_or_without_all_four_does_not_count(self):
        runs = block(1, (1, 2, 2, 1)) + block(2, (1, 2, 2, 1), failures="disturbed")
        runs += block(3, (1, 2, 2, 1))[:3]
        self.assertEqual(list(side_by_side.complete_blocks(runs, PAIR)), [1])
        self.assertEqual(side_by_side.missing_blocks(runs, PAIR, 3), 2)

    def test_both_are_measured_at_the_larger_of_their_n_stars(self):
        runs = [replace(examples.run(n, rate), cell=BEFORE) for n, rate in ((1, 500), (4, 990))]
        runs += [replace(examples.run(n, rate), cell=AFTER) for n, rate in ((4, 1500), (16, 3000))]
        self.assertEqual(side_by_side.same_threads(runs, PAIR), 11)
        self.assertIsNone(side_by_side.same_threads(runs[:2], PAIR))
        runs += block(1, (9e9, 9e9, 9e9, 9e9))  # those of blocks say nothing about N*
        self.assertEqual(side_by_side.same_threads(runs, PAIR), 11)

    def test_too_little_memory_for_both_is_said(self):
        made = examples.planned("table4", rows=("new", "100MB"))
        files, new = (
            [replace(made.planned[Cell(stage, row)], file_count=10**9) for stage in WARM]
            for row in ("100MB", "new")
        )
        with self.assertRaisesRegex(side_by_side.Failed, "both at once need .* GB of memory"):
            side_by_side._require_memory(files)
        side_by_side._require_memory(new)
        is_cold = replace(files[0], stage=replace(files[0].stage, cold=True))
        side_by_side._require_memory([is_cold, files[1]])


class GainTest(unittest.TestCase):
    def gain(self, runs):
        swept = [
            replace(examples.run(threads, 1000.0, repeat), cell=cell)
            for cell in PAIR.cells
            for threads in (1, 8)
            for repeat in (1, 2, 3)
        ]
        analysis = Analysis(swept + runs, examples.ENVIRONMENT)
        return gains.gain(analysis, PAIR.before, PAIR.after, PAIR.row)

    def test_a_drift_within_blocks_and_between_them_cancels_out(self):
        runs = []
        for number, level in ((1, 1000.0), (2, 600.0), (3, 300.0)):
            runs += block(number, tuple(level * x for x in (1.0, 1.9, 1.8, 0.855)))
        gain = self.gain(runs)
        self.assertAlmostEqual(gain.spread.median, 2.0, places=3)
        self.assertAlmostEqual(gain.spread.low, gain.spread.high, places=3)
        self.assertEqual(gain.threads, 8)

    def test_with_too_few_blocks_it_is_that_of_the_passes(self):
        gain = self.gain(block(1, (1.0, 2.0, 2.0, 1.0)) + block(2, (1.0, 2.0, 2.0, 1.0)))
        self.assertEqual((gain.spread.median, gain.threads), (1.0, None))

    def test_trials_of_blocks_are_in_no_sweep(self):
        analysis = Analysis(
            [replace(examples.run(1, 1000.0), cell=AFTER), *block(1, (9e9, 9e9, 9e9, 9e9))],
            examples.ENVIRONMENT,
        )
        self.assertEqual(analysis.result(AFTER).best.throughput.median, 1000.0)
        self.assertIsNone(analysis.result(BEFORE))


class PairsTest(unittest.TestCase):
    def pairs(self, *experiments: str, **options):
        return examples.planned(*experiments, mode="full", **options).pairs

    def test_experiments_that_show_gains_have_a_pair_for_each_gain_once(self):
        found = self.pairs("table4", "figure13", rows=("1KB",))
        self.assertEqual(set(found), {PAIR, Pair("prefetching", "redis", "1KB")})
        self.assertEqual(len(found), 2)
        self.assertEqual(self.pairs("table2"), ())

    def test_with_numbers_of_threads_by_hand_nothing_else_is_measured(self):
        self.assertEqual(self.pairs("table4", threads=(1, 2)), ())
