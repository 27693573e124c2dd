"""What trials of a crowd say: the most users that hold, and the findings about them."""

import unittest
from dataclasses import replace

import examples

from lab.analysis import findings, passes
from lab.analysis.cells import Analysis
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.plan.claims import Bears, Cheaper
from lab.results.records import Run

ENVIRONMENT = replace(
    examples.ENVIRONMENT, mode=catalog.modes()["001", "quick"], descriptors=20_000
)
MORE, FEWER = "pyftpdlib", "vsftpd"


def trial(stage: str, users: int, held: int, cpu: float = 0.1) -> Run:
    return examples.crowd_trial(
        stage, users, held, used=examples.usage({"fileserver": 0.1, "loadgen": cpu})
    )


def searched(stage: str, *steps: tuple[int, int]) -> list[Run]:
    return [trial(stage, users, held) for users, held in steps]


def verdict(claim, runs: list[Run]) -> list[str]:
    return [one.verdict for one in findings.judge(claim, Analysis(runs, ENVIRONMENT))]


class CrowdsTest(unittest.TestCase):
    def test_the_most_that_hold_in_every_trial(self):
        runs = searched("vsftpd", (250, 250), (500, 500), (500, 490), (1000, 700))
        found = Analysis(runs, ENVIRONMENT).crowd(Cell("vsftpd", "10KB", workload="crowd"))
        assert found and found.at_most
        self.assertEqual(found.at_most.users, 250)
        self.assertEqual([step.left for step in found.steps], [250, 495, 700])

    def test_a_crowd_is_in_no_table_of_closed_loops(self):
        analysis = Analysis(searched("vsftpd", (250, 250)), ENVIRONMENT)
        self.assertEqual(analysis.results(), [])


class FindingsTest(unittest.TestCase):
    BEARS = Bears(text="", more=MORE, fewer=FEWER, rows=("10KB",))
    CHEAPER = Cheaper(text="", stage="engine-sigio", than="engine-poll", rows=("10KB",))

    def test_more_users_are_seen_only_where_the_two_searches_leave_a_gap(self):
        few = searched(FEWER, (250, 250), (500, 400), (312, 300))
        many = searched(MORE, (250, 250), (500, 500), (1000, 1000), (2000, 0), (1250, 3))
        alike = searched(MORE, (250, 250), (500, 400), (312, 290))
        reverse = searched(MORE, (250, 90), (125, 125), (160, 100))
        self.assertEqual(verdict(self.BEARS, few + many), [passes.SEEN])
        self.assertEqual(verdict(self.BEARS, few + alike), [passes.CANNOT_TELL])
        self.assertEqual(verdict(self.BEARS, few + reverse), [passes.NOT_SEEN])

    def test_a_search_that_did_not_end_tells_nothing(self):
        few = searched(FEWER, (250, 250), (500, 400))
        many = searched(MORE, (250, 250), (500, 500), (1000, 400), (750, 20), (600, 1))
        self.assertEqual(verdict(self.BEARS, few + many), [passes.CANNOT_TELL])

    def test_less_cpu_needs_every_trial_on_one_side_and_more_than_one(self):
        def trials(stage: str, *cpu: float) -> list[Run]:
            return [trial(stage, 730, 730, cores) for cores in cpu]

        poll = trials("engine-poll", 0.5, 0.6)
        for cpu, expected in (
            ((0.2, 0.3), passes.SEEN),
            ((0.2, 0.55), passes.CANNOT_TELL),
            ((0.7, 0.9), passes.NOT_SEEN),
            ((0.2,), passes.CANNOT_TELL),
        ):
            runs = poll + trials("engine-sigio", *cpu)
            self.assertEqual(verdict(self.CHEAPER, runs), [expected], cpu)

    def test_only_users_that_hold_with_both_are_compared(self):
        poll = [trial("engine-poll", 3000, 2000, 0.1)] * 2
        signals = [trial("engine-sigio", 3000, 3000, 0.5)] * 2
        self.assertEqual(verdict(self.CHEAPER, poll + signals), [passes.CANNOT_TELL])
