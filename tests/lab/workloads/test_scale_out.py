"""A closed loop against hosts behind a proxy: its command line, its plan, and a lost host."""

import unittest
from dataclasses import replace
from typing import Any

import examples

from lab import kinds
from lab.kinds.scale_out import load as scale_out
from lab.kinds.scale_out.load import FromHosts, LostHost, WithALostHost, of_series
from lab.plan import catalog
from lab.plan.catalog import Cell
from lab.plan.planned import Setting
from lab.workloads.load import Asked, Kill
from lab.workloads.outcome import Event, Second, Series

# A host is lost after 5.5 s. Two seconds later the others have their share; it is back at 11.5 s.
RATES = [300, 300, 310, 300, 290, 120, 60, 200, 210, 200, 190, 150, 240, 300, 300, 90]
EVENTS = (Event(5.5, "fileserver-3 killed"), Event(11.5, "fileserver-3 started again"))


def series(rates: list[int] = RATES, **failed: int) -> Series:
    """failed are the numbers of seconds, as s7=4."""
    seconds = [
        Second(
            t=t, under_way=9, started=rate, ended=rate, failed=failed.get(f"s{t}", 0), bytes=rate
        )
        for t, rate in enumerate(rates, 1)
    ]
    return Series(tuple(seconds), EVENTS)


def seen(found: Series) -> LostHost:
    told = of_series(found, 3)
    assert told
    return told


def load(stage: str, mode: str = "quick") -> FromHosts:
    todo = examples.planned("scale-out", mode=mode)
    asked = Asked(
        planned=todo.planned[Cell(stage, "10KB", workload="scale_out")],
        setting=Setting(96),
        repeat=2,
        server="198.19.1.4:8000",
        user="ann",
        password="secret",
    )
    made = asked.load()
    assert isinstance(made, FromHosts)
    return made


class LostHostTest(unittest.TestCase):
    def test_the_rates_before_without_and_after(self):
        found = seen(series())
        self.assertEqual((found.before_rps, found.without_rps, found.after_rps), (300, 200, 300))

    def test_the_others_have_taken_over_in_the_first_second_with_their_share(self):
        found = seen(series())
        self.assertEqual(found.taken_over_s, 8 - 5.5)
        self.assertEqual(found.whole_again_s, 14 - 11.5)

    def test_one_good_second_alone_does_not_count(self):
        rates = list(RATES)
        rates[8] = 20  # the ninth
        self.assertEqual(seen(series(rates)).taken_over_s, 10 - 5.5)

    def test_others_that_never_have_their_share(self):
        rates = [50 if 5 <= index < 11 else rate for index, rate in enumerate(RATES)]
        found = seen(series(rates))
        self.assertIsNone(found.taken_over_s)
        self.assertIsNone(found.without_rps)

    def test_two_hosts_leave_a_half(self):
        half = [150 if 5 <= index < 11 else rate for index, rate in enumerate(RATES)]
        self.assertIsNone(seen(series(half)).taken_over_s)
        told = of_series(series(half), 2)
        assert told
        self.assertEqual(told.taken_over_s, 0.5)

    def test_failures_are_counted_apart_before_the_loss(self):
        found = seen(series(s3=2, s7=5))
        self.assertEqual((found.failed, found.failed_before), (7, 2))

    def test_a_run_without_a_loss_says_nothing(self):
        self.assertIsNone(of_series(replace(series(), events=EVENTS[:1]), 3))


class LoadTest(unittest.TestCase):
    def test_all_files_are_asked_for_equally_often(self):
        flags = " ".join(load("scale-out-3").command_flags())
        self.assertIn("get --server 198.19.1.4:8000 --threads 96 --seconds 5 --warmup 1", flags)
        self.assertIn("--file 10KB%d.txt --files 3000 --seed 2 --protocol http", flags)
        self.assertNotIn("--popularity", flags)

    def test_files_held_are_those_of_the_hits_whatever_the_hosts_say(self):
        before = dict.fromkeys((scale_out.FROM_MEMORY, scale_out.FROM_DISK), 0.0)
        before |= {scale_out.IN_MEMORY: 3006.0, "names": 3000.0, "names_of_most": 1050.0}
        before |= {"names_of_last": 990.0, "names_moved": 990.0}
        after = before | {scale_out.FROM_MEMORY: 300.0, scale_out.FROM_DISK: 600.0}
        made = load("scale-out-3-same")
        self.assertEqual(
            made.figures_of_server(before, after),
            {
                "hit_share": 1 / 3,
                "files_in_memory": 3006.0,
                "files_held": 1000.0,
                "share_of_most": 0.35,
                "names_of_lost": 990.0,
                "names_moved": 990.0,
            },
        )
        lost = load("scale-out-3-lost").figures_of_server(before, after)
        self.assertNotIn("hit_share", lost)
        self.assertEqual(lost["names_moved"], 990.0)

    def test_the_last_host_is_lost_for_a_third_of_the_run(self):
        made = load("scale-out-3-lost")
        self.assertEqual(made.kill, Kill("fileserver-3", 11.0, 21.0))
        self.assertTrue(made.needs_series)
        self.assertIsNone(load("scale-out-3").kill)

    def test_requests_may_fail_once_the_host_is_lost_and_not_before(self):
        self.assertEqual(self.failures(series(s7=900)), [])
        (why,) = self.failures(series(s2=3))
        self.assertIn("3 requests failed before", why)
        (why,) = self.failures(replace(series(), events=()))
        self.assertIn("fileserver-3 was not lost", why)

    def test_littles_law_of_those_that_succeeded_is_no_failure_then(self):
        law = "X*R is 0.885 of N. Of the threads' time, 11.5% went to failed requests"
        self.assertEqual(self.failures(series(), invalid_because=[law]), [])
        (why,) = self.failures(series(), invalid_because=["it had no core"])
        self.assertEqual(why, "load generator: it had no core")

    def test_the_figures_of_a_loss(self):
        made = self.lost()
        result = replace(examples.result(made), series=series(s7=4))
        found = made.figures(result)
        self.assertEqual((found["failed_requests"], found["rate_without_rps"]), (4, 200))
        self.assertEqual(found["rate_before_rps"], 300)
        self.assertEqual((found["taken_over_s"], found["whole_again_s"]), (2.5, 2.5))
        self.assertLessEqual(set(found), set(kinds.figures()))

    def lost(self) -> WithALostHost:
        made = load("scale-out-3-lost")
        assert isinstance(made, WithALostHost)
        return replace(made, size_bytes=1000)

    def failures(self, happened: Series, **changes: Any) -> list[str]:
        made = self.lost()
        return made.failures(replace(examples.result(made, **changes), series=happened))


class PlanTest(unittest.TestCase):
    def test_a_quick_run_takes_less_than_three_minutes(self):
        self.assertLess(examples.planned("scale-out").seconds, 3 * 60)

    def test_the_stages_differ_in_their_hosts_only(self):
        stages = [catalog.stages()[one] for one in catalog.experiments()["scale-out"].stages]
        parts = [one.cluster for one in stages]
        self.assertEqual([one.hosts for one in parts if one], [1, 2, 3, 3, 3])
        for what in ("system", "store", "authserver", "fileserver", "loadgen", "steps"):
            self.assertEqual(len({getattr(one, what) for one in stages}), 1, what)
        for what in ("cores", "link", "files", "in_memory"):
            self.assertEqual(len({getattr(one, what) for one in parts}), 1, what)

    def test_all_hosts_and_the_others_fit_into_two_cores(self):
        """The proxy needs about as much as all hosts together, and the rest half of that."""
        most = max(one.hosts * one.cores for s in catalog.stages().values() if (one := s.cluster))
        self.assertLess(2.5 * most, 1.0)

    def test_one_host_has_memory_for_a_third_of_the_files(self):
        todo = examples.planned("scale-out")
        self.assertEqual(todo.file_counts, {"10KB": 3000})
        how = todo.stages["scale-out-1"].cluster
        assert how
        self.assertEqual(round(how.in_memory * how.files), 1002)

    def test_a_load_generator_on_another_host_does_not_reach_them(self):
        self.assertEqual(examples.planned("scale-out", client="elsewhere").cells, ())
