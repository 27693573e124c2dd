"""A ramp: its command line, its figures from what all testers recorded, and what is not valid."""

import unittest
from dataclasses import replace
from typing import Any

import examples
from made_up_gathered import gathered, transfer

from lab.kinds.ramp import Ramp
from lab.kinds.ramp import load as ramp
from lab.kinds.ramp.gathered import Gathered, Lost
from lab.kinds.ramp.load import RampLoad
from lab.workloads.outcome import Result
from lab.workloads.uploads import Upload
from rig.clocks import Reading
from rig.nodes import Group

RAMP = Ramp(
    name="made-up",
    title="a ramp",
    clients=4,
    every_s=0.5,
    life_s=6,
    file_bytes=2048,
    hosts=(Group(name="far", count=3),),
    scales={},
)
LOAD = RampLoad(
    threads=4,
    server="127.0.0.1:1",
    user="ann",
    password="secret",
    ramp=RAMP,
    upload_name="new%d",
    flags=("--protocol", "ftp"),
)
TOGETHER: dict[str, Any] = {
    "testers": 3,
    "lost": [],
    "gave_up": [],
    "start_spread_ms": 2.0,
    "most_late_ms": 3.0,
    "clock_error_ms": None,
    "last_loss_s": 0.5,
    "plateau_from_s": 1.5,
    "plateau_s": 4.5,
    "plateau_bytes_s": 1e6,
    "plateau_mean_ms": 20.0,
    "plateau_check": 0.99,
    "uploads_borne": 3,
    "first_failed_s": 5.0,
}
UNTIL_IT_ENDS = replace(LOAD, ramp=replace(RAMP, until_it_ends=True))


def result(requests: int = 1000, size: int | None = None, **changes: Any) -> Result:
    """Without fault, unless the changes say otherwise. errors is how many uploads failed."""
    errors = {"total": changes.pop("errors", 0)}
    return examples.result(
        LOAD,
        requests=requests,
        bytes=2048 * requests if size is None else size,
        errors={**errors, "timeout": errors["total"]},
        ramp={**TOGETHER, **changes},
    )


class LoadTest(unittest.TestCase):
    def test_the_flags_are_those_of_the_whole_load(self) -> None:
        self.assertEqual(
            LOAD.command_flags(),
            [
                *("put", "--server", "127.0.0.1:1", "--user", "ann", "--threads", "4"),
                *("--size", "2048", "--ramp", "2", "--life", "6"),
                *("--file", "new%d", "--protocol", "ftp"),
            ],
        )
        self.assertNotIn("--file", replace(LOAD, upload_name="").command_flags())

    def test_its_length_is_that_of_the_ramp_and_memory_is_sampled(self) -> None:
        self.assertEqual(LOAD.run_s, 7.5)
        self.assertTrue(LOAD.needs_memory)

    def test_throughput_is_over_the_whole_ramp(self) -> None:
        found = result(requests=750)
        self.assertEqual((found.elapsed_s, found.throughput_rps), (7.5, 100))

    def test_each_figure_is_declared_and_told(self) -> None:
        found = UNTIL_IT_ENDS.figures(result(lost=["one: gone"]))
        self.assertEqual(set(found), {one.name for one in ramp.FIGURES})
        self.assertEqual((found["testers"], found["testers_lost"]), (3, 1))
        for name in set(found) - {"testers", "testers_lost", "memory_limit_bytes"}:
            self.assertEqual(found[name], TOGETHER[name], name)

    def test_its_memory_is_that_of_the_machine_of_its_stage(self) -> None:
        for memory_bytes in (None, 4096):
            found = replace(LOAD, memory_bytes=memory_bytes).figures(result())
            self.assertEqual(found["memory_limit_bytes"], memory_bytes)

    def test_only_one_that_goes_on_until_memory_ends_may_end_the_server(self) -> None:
        self.assertIsNone(LOAD.without_server())
        self.assertEqual(UNTIL_IT_ENDS.without_server(), {})
        self.assertIsNone(LOAD.figures(result())["uploads_borne"])

    def test_one_whose_server_the_kernel_ended_at_its_limit_went_on_until_memory_ended(self):
        self.assertEqual(LOAD.at_its_limit(), UNTIL_IT_ENDS)


class FailuresTest(unittest.TestCase):
    def check(self, wanted: str, found: Result) -> None:
        (failure,) = LOAD.failures(found)
        self.assertEqual(failure, wanted)

    def test_a_good_result_has_none(self) -> None:
        self.assertEqual(LOAD.failures(result()), [])
        self.assertEqual(LOAD.notes(result()), [])

    def test_of_the_testers_two_thirds_must_be_left(self) -> None:
        one, two = ["a: killed"], ["a: killed", "b: no word"]
        self.assertEqual(LOAD.failures(result(lost=one)), [])
        self.assertEqual(LOAD.notes(result(lost=one)), ["1 of 3 testers were lost"])
        self.check("2 of 3 testers were lost: a: killed", result(lost=two))

    def test_a_tester_must_not_begin_late(self) -> None:
        self.assertEqual(LOAD.failures(result(most_late_ms=50.0)), [])
        self.check("a tester began 51 ms late", result(most_late_ms=51.0))

    def test_a_tester_without_a_success_is_a_fault(self) -> None:
        self.check("no upload of a-1 succeeded", result(gave_up=["a-1", "a-2"]))

    def test_some_upload_must_succeed(self) -> None:
        self.check("no upload succeeded", result(requests=0))
        late = LOAD.failures(result(requests=0, most_late_ms=99.0))
        self.assertEqual(late, ["a tester began 99 ms late", "no upload succeeded"])

    def test_at_most_one_of_a_hundred_may_fail(self) -> None:
        self.assertEqual(LOAD.failures(result(requests=990, errors=10)), [])
        self.check("1.1% errors (timeout 11)", result(requests=989, errors=11))

    def test_the_bytes_are_those_of_whole_uploads(self) -> None:
        self.check("20479 bytes are not 10 uploads", result(requests=10, size=20479))

    def test_on_the_plateau_clients_do_nothing_else(self) -> None:
        self.assertEqual(LOAD.failures(result(plateau_check=0.97)), [])
        self.assertEqual(LOAD.failures(result(plateau_check=None)), [])
        self.check(
            "on the plateau the clients spent 96.9% of their time in uploads",
            result(plateau_check=0.969),
        )


class UntilItEndsTest(unittest.TestCase):
    def test_failed_uploads_and_clients_without_one_are_what_it_asks_for(self) -> None:
        found = result(requests=10, errors=990, plateau_check=0.1, gave_up=["a"])
        self.assertEqual(len(LOAD.failures(found)), 3)
        self.assertEqual(UNTIL_IT_ENDS.failures(found), [])

    def test_all_else_must_hold(self) -> None:
        for changes, wanted in (
            ({"requests": 0}, "no upload succeeded"),
            ({"requests": 10, "size": 20479}, "20479 bytes are not 10 uploads"),
            ({"most_late_ms": 51.0}, "a tester began 51 ms late"),
        ):
            self.assertEqual(UNTIL_IT_ENDS.failures(result(**changes)), [wanted])


class TogetherTest(unittest.TestCase):
    def test_an_upload_begins_when_its_client_does_and_not_when_it_asks(self) -> None:
        seen = ramp.uploads_of(gathered(transfer("a", 1, 2), transfer("a", 2, 3, "timeout")))
        self.assertEqual(
            seen,
            [
                Upload(start_s=1, end_s=2, bytes=100),
                Upload(start_s=2, end_s=3, bytes=100, is_whole=False),
            ],
        )

    def test_uploads_of_lost_testers_and_those_without_an_end_are_left_out(self) -> None:
        found = gathered(
            transfer("a", 1, 2), transfer("b", 1, 3), transfer("a", 2, None), lost=("b",)
        )
        self.assertEqual(ramp.uploads_of(found), [Upload(start_s=1, end_s=2, bytes=100)])

    def test_groups_of_hosts_are_told_apart_on_the_plateau(self) -> None:
        record = gathered(transfer("a", 0, 9), transfer("b", 0, 9, group="near"))
        groups = ramp.together(record, ramp.uploads_of(record), RAMP)["groups"]
        self.assertEqual(
            {name: one["hosts"] for name, one in groups.items()}, {"far": 1, "near": 1}
        )
        self.assertAlmostEqual(groups["near"]["bytes_per_s"], 100 / 9)

    def test_the_plateau_is_of_the_clients_that_are_left(self) -> None:
        """Of four clients two were lost: the others are busy all of the plateau, from 1.5 to 6."""
        seen = [Upload(start_s=0, end_s=4, bytes=400), Upload(start_s=4, end_s=8, bytes=400)]
        found = ramp.together(self.lost_at(None), 2 * seen, RAMP)
        self.assertEqual(found["lost"], ["b: gone"])
        self.assertEqual((found["testers"], found["plateau_check"]), (3, 1.0))
        self.assertEqual((found["plateau_s"], found["plateau_bytes_s"]), (4.5, 200))
        self.assertEqual(found["plateau_mean_ms"], 4000)

    def test_the_plateau_begins_when_no_upload_is_left_of_the_time_before_the_loss(self) -> None:
        """Until 2 s the two that are left have half of a link of 200 B/s, then all of it."""
        seen = [Upload(start_s=0, end_s=3, bytes=200), Upload(start_s=3, end_s=6, bytes=300)]
        for last_s, from_s, rate in (
            (2.0, 3.0, 200),  # not the bytes before 3 s, of which nobody knows when they moved
            (3.0, 3.0, 200),
            (3.1, 6.0, None),
        ):
            found = ramp.together(self.lost_at(0.5, last_s, None), 2 * seen, RAMP)
            self.assertEqual((found["last_loss_s"], found["plateau_from_s"]), (last_s, from_s))
            self.assertEqual(found["plateau_bytes_s"], rate)
            if rate:
                told = (found["plateau_s"], found["plateau_check"], found["plateau_mean_ms"])
                self.assertEqual(told, (3, 1.0, 3000))

    def test_a_loss_on_the_way_up_leaves_the_plateau_as_it_is(self) -> None:
        seen = [Upload(start_s=0, end_s=1.2, bytes=100), Upload(start_s=1.2, end_s=7, bytes=580)]
        found = ramp.together(self.lost_at(1.0), 2 * seen, RAMP)
        self.assertEqual((found["plateau_from_s"], found["plateau_s"]), (1.5, 4.5))
        self.assertAlmostEqual(found["plateau_bytes_s"], 200)
        for gone in (self.lost_at(None), gathered()):
            found = ramp.together(gone, 2 * seen, RAMP)
            self.assertEqual((found["last_loss_s"], found["plateau_from_s"]), (None, 1.5))

    def test_a_loss_behind_the_plateau_leaves_none(self) -> None:
        found = ramp.together(self.lost_at(6.5), [Upload(start_s=0, end_s=1, bytes=1)], RAMP)
        self.assertEqual((found["plateau_from_s"], found["plateau_bytes_s"]), (6.5, None))

    def lost_at(self, *heard_s: float | None) -> Gathered:
        """When they were last heard of."""
        lost = [Lost(tester="b", group="far", why="gone", last_heard_s=one) for one in heard_s]
        return replace(gathered(), lost=lost)

    def test_starts_are_apart_from_the_first_to_the_last(self) -> None:
        found = ramp.together(gathered(), [], RAMP)
        self.assertEqual((found["start_spread_ms"], found["most_late_ms"]), (2.5, 4.0))

    def test_the_error_of_the_clocks_is_the_largest_one(self) -> None:
        readings = [
            Reading(t_unix_s=1.79e9, tester=name, ahead_s=7.0, error_s=error_s)
            for name, error_s in (("a", 0.002), ("b", 0.003), ("c", 0.001))
        ]
        self.assertEqual(ramp.together(gathered(clocks=readings), [], RAMP)["clock_error_ms"], 3)
        self.assertIsNone(ramp.together(gathered(), [], RAMP)["clock_error_ms"])

    def test_uploads_that_were_borne_are_those_under_way_until_the_first_one_failed(self) -> None:
        good = [Upload(start_s=start_s, end_s=5, bytes=1) for start_s in (0, 1, 2, 4.5)]
        failed = [Upload(start_s=3, end_s=end_s, bytes=0, is_whole=False) for end_s in (6, 4)]
        for seen, borne, first_s in ((good + failed, 5, 4), (good, 4, None)):
            found = ramp.together(gathered(gave_up=["a"]), seen, RAMP)
            self.assertEqual((found["uploads_borne"], found["first_failed_s"]), (borne, first_s))
            self.assertEqual(found["gave_up"], ["a"])

    def test_without_a_plateau_or_clients_nothing_is_known_of_it(self) -> None:
        short = replace(RAMP, life_s=1.0)
        for found in (
            ramp.together(gathered(), [], short),
            ramp.together(gathered(raw={"threads": 0}), [], RAMP),
        ):
            told = {name for name, value in found.items() if value is not None}
            self.assertEqual(told & {"plateau_s", "plateau_bytes_s", "plateau_mean_ms"}, set())
            self.assertEqual(found["plateau_from_s"], 1.5)
            self.assertIsNone(found["plateau_check"])
