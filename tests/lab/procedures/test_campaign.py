"""Which point is measured next, given the points of the folder."""

import time
import unittest
from dataclasses import replace

import examples

from lab.plan import plan
from lab.plan.catalog import Cell
from lab.plan.plan import Options
from lab.procedures.bench import Bench
from lab.procedures.campaign import Campaign, Course
from lab.procedures.progress import Progress
from lab.results.records import Folder
from rig.servers import Programs

OPTIONS = examples.options("table4", stages=("prefetching",), rows=("1KB",))
ORDERED = examples.options("000-order")
_SIX = [(6, 1), (6, 2), (6, 3)]
DISTURBED = "other programs used 80% of the cores"


def course_of(campaign: Campaign, cell: Cell) -> Course:
    return next(one for one in campaign._courses if one.planned.cell == cell)


def made_by(campaign: Campaign, stage: str, spoiled=frozenset()) -> list[tuple[int, int]]:
    """The points of the first pass. Those with the numbers in spoiled, from 0, are disturbed."""
    course = course_of(campaign, Cell(stage, "1MiB", workload="burst"))
    made: list[tuple[int, int]] = []
    while len(made) < 50 and (setting := course.next(1)) is not None:
        failures = DISTURBED if len(made) in spoiled else ""
        made.append((setting.threads, course.number(setting, 1)))
        run = examples.run(setting.threads, repeat=made[-1][1], failures=failures)
        run = replace(run, cell=course.planned.cell, started_unix_s=time.time() + 60)
        course.all_runs.append(run)
    return made


class CampaignTest(unittest.TestCase):
    """What comes next, given what is in the folder; nothing is run."""

    def setUp(self):
        self.work = examples.folder(self)
        self.folder = Folder(self.work / "out")
        self.folder.prepare()

    def next(self, *runs, repeat: int = 1) -> int | None:
        for run in runs:
            self.folder.add(run, {})
        following = course_of(self.campaign(OPTIONS), examples.CELL).next(repeat)
        return following.threads if following else None

    def campaign(self, options: Options) -> Campaign:
        return Campaign(
            Bench(
                plan=plan.make(options, (0, 1), self.work),
                folder=self.folder,
                environment=examples.ENVIRONMENT,
                programs=Programs(self.work),
                work=self.work,
                progress=Progress(1, 1),
                runs=self.folder.runs(),
            )
        )

    def test_a_stage_may_say_in_which_order_its_repetitions_are(self):
        for stage, expected in {
            "order-interleaved": [(2, 1), (4, 1), (6, 1)],
            "order-blocked": [(2, 1), (2, 2), (2, 3), (4, 1), (4, 2), (4, 3), *_SIX],
        }.items():
            self.assertEqual(made_by(self.campaign(ORDERED), stage), expected)

    def test_a_disturbed_repetition_of_a_block_is_made_again_once_and_keeps_its_number(self):
        first = [(2, 1), (2, 1), (2, 2), (2, 3), (4, 1), (4, 2), (4, 3), *_SIX]
        self.assertEqual(made_by(self.campaign(ORDERED), "order-blocked", spoiled={0}), first)
        third = [(2, 1), (2, 2), (2, 3), (2, 3), (4, 1), (4, 2), (4, 3), *_SIX]
        spoiled = {2, 3}  # the second try of the third repetition too
        self.assertEqual(made_by(self.campaign(ORDERED), "order-blocked", spoiled), third)

    def test_a_new_cell_begins_with_one_thread(self):
        self.assertEqual(self.next(), 1)

    def test_what_is_there_is_not_measured_again(self):
        self.assertEqual(self.next(examples.run(1), examples.run(2, 1900.0)), 4)

    def test_a_disturbed_point_is_measured_again_by_a_later_command(self):
        spoiled = examples.run(2, failures=DISTURBED)
        self.assertEqual(self.next(examples.run(1), spoiled, spoiled), 2)

    def test_but_only_once_more_by_the_same_one(self):
        now = replace(examples.run(2, failures=DISTURBED), started_unix_s=time.time() + 60)
        self.assertEqual(self.next(examples.run(1), now), 2)
        self.assertEqual(self.next(examples.run(1), now, now), 4)

    def test_a_point_that_passed_at_last_is_done(self):
        self.assertEqual(self.next(examples.run(1, failures=DISTURBED), examples.run(1)), 2)

    def test_a_point_that_failed_for_another_reason_stays_so(self):
        self.assertEqual(
            self.next(examples.run(1), examples.run(2, failures="X·R is 0.900 of N")), 4
        )

    def test_the_second_pass_repeats_what_decides(self):
        swept = [
            examples.run(1, 1000.0),
            examples.run(2, 2000.0),
            examples.run(4, 2010.0),
            examples.run(8, 2000.0),
        ]
        self.assertEqual(self.next(*swept, repeat=2), 1)
        self.assertEqual(self.next(*swept, examples.run(1, 990.0, 2), repeat=2), 2)
