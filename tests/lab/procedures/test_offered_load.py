"""What an open loop measures next, and what the search answers, with servers whose p99 is known."""

import random
import unittest
from collections.abc import Callable
from dataclasses import replace

import examples

from lab.kinds.open_loop import procedure as offered_load
from lab.kinds.open_loop.procedure import OfferedLoad
from lab.plan.catalog import Cell
from lab.plan.planned import Sweep
from lab.procedures.sweep import KneeSweep
from lab.results.records import Run

MAXIMUM_RPS = 1000.0
LIMIT_MS = 20.0
PASSES = 3
SEARCH = OfferedLoad(KneeSweep(Sweep((1, 2, 4, 8), 0), PASSES), LIMIT_MS)
CELL = Cell("turnstile", "1KB", workload="open_loop")
P99 = Callable[[float], float]


def queue_p99(rate_rps: float) -> float:
    """Of a server with 1 ms for each request: it is 20 ms at 770/s."""
    return 4.6 / (1 - rate_rps / MAXIMUM_RPS)


def point(setting, repeat: int, p99: P99, failures: str = "") -> Run:
    if setting.offered_rps is None:
        throughput = min(MAXIMUM_RPS, 600.0 * setting.threads)
        return replace(examples.run(setting.threads, throughput, repeat), cell=CELL)
    return examples.run(
        setting.threads,
        setting.offered_rps,
        repeat,
        failures=failures,
        cell=CELL,
        n_check=None,
        offered_rps=setting.offered_rps,
        p99_ms=p99(setting.offered_rps),
    )


def measured(p99: P99, procedure: OfferedLoad = SEARCH, failures: str = "") -> list[Run]:
    """All points of all passes."""
    runs: list[Run] = []
    for repeat in range(1, PASSES + 1):
        while (setting := procedure.next_setting(runs, repeat)) is not None:
            runs.append(point(setting, repeat, p99, failures))
            assert len(runs) < 200, "the search does not end"
    return runs


class OfferedLoadTest(unittest.TestCase):
    def test_the_first_pass_begins_with_the_maximum_of_a_closed_loop(self):
        runs = measured(queue_p99)
        self.assertEqual([run.threads for run in runs[:4]], [1, 2, 4, 8])
        self.assertEqual({run.offered_rps for run in runs[:4]}, {None})
        self.assertEqual(sum(run.offered_rps is None for run in runs), 4)
        self.assertEqual(offered_load.maximum_rps(runs), MAXIMUM_RPS)

    def test_every_pass_offers_the_same_parts_of_it(self):
        runs = measured(queue_p99)
        for repeat in range(1, PASSES + 1):
            offered = [run.offered_rps for run in runs if run.repeat == repeat]
            in_order = [rate for rate in offered if rate is not None][:10]
            self.assertEqual(in_order, [100, 200, 300, 400, 500, 600, 700, 800, 900, 950])

    def test_the_search_finds_the_most_that_keeps_the_limit(self):
        runs = measured(queue_p99)
        answer = SEARCH.answer(runs)
        assert answer and answer.fails_rps and answer.has_failed
        self.assertLessEqual(answer.keeps_rps, 770)
        self.assertGreater(answer.fails_rps, 770)
        self.assertLessEqual(answer.fails_rps / answer.keeps_rps, 1.05)
        for rate in (answer.keeps_rps, answer.fails_rps):
            self.assertEqual(sum(run.offered_rps == rate for run in runs), answer.confirmations)

    def test_a_lucky_or_unlucky_run_decides_nothing(self):
        """One run of ten has a tenth of its p99, or ten times as much."""
        wrong = 0
        for seed in range(100):
            chance = random.Random(seed)

            def noisy(rate: float, chance: random.Random = chance) -> float:
                luck = chance.random()
                return queue_p99(rate) * (10 if luck < 0.05 else 0.1 if luck < 0.1 else 1)

            answer = SEARCH.answer(measured(noisy))
            assert answer
            wrong += not 700 <= answer.keeps_rps <= 790
        self.assertLessEqual(wrong, 5)

    def test_no_rate_keeps_the_limit(self):
        answer = SEARCH.answer(measured(lambda _rate: 21.0))
        assert answer
        self.assertEqual((answer.keeps_rps, answer.fails_rps), (0, 100))

    def test_every_rate_keeps_the_limit(self):
        answer = SEARCH.answer(measured(lambda _rate: 19.0))
        assert answer
        self.assertEqual((answer.keeps_rps, answer.fails_rps), (950, None))

    def test_a_rate_whose_runs_stay_invalid_is_not_said_to_be_kept(self):
        answer = SEARCH.answer(measured(lambda _rate: 1.0, failures="late"))
        assert answer
        self.assertEqual((answer.keeps_rps, answer.fails_rps), (0, 100))
        self.assertFalse(answer.has_failed)

    def test_without_a_maximum_nothing_is_offered(self):
        failed = [replace(examples.run(n, failures="x"), cell=CELL) for n in (1, 2, 4, 8)]
        self.assertIsNone(SEARCH.next_setting(failed, 1))
        self.assertIsNone(SEARCH.answer(failed))

    def test_rates_that_were_not_offered_yet_keep_nothing(self):
        once = OfferedLoad(KneeSweep(Sweep((1, 2, 4, 8), 0), 1), LIMIT_MS)
        runs = measured(queue_p99, once)
        for count in range(4, 4 + len(offered_load.SHARES)):
            self.assertIsNone(once.answer(runs[:count]), count)

    def test_an_interrupted_search_has_no_answer_and_is_resumed(self):
        runs = measured(queue_p99)
        part = runs[:-1]
        self.assertIsNone(SEARCH.answer(part))
        self.assertIsNone(SEARCH.points_in_all(part))
        self.assertEqual(SEARCH.next_setting(part, PASSES), runs[-1].setting)
        self.assertEqual(SEARCH.points_in_all(runs), len(runs))
