"""Something that is done again and again, at a bounded cost."""

import os
import threading
import unittest
from unittest import mock

from lab.observe.rounds import Rounds

_LIMIT_S = 60.0


class RoundsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.now_s = 100.0
        self.begun_s: list[float] = []
        self.lasts_s = [0.0] * 5
        clock = mock.patch("lab.observe.rounds.time")
        time = clock.start()
        self.addCleanup(clock.stop)
        time.monotonic.side_effect = lambda: self.now_s
        time.thread_time.side_effect = lambda: self.now_s

    def wait(self, for_s: float) -> bool:
        """In place of a wait for the end: the clock goes on, a hundredth of a second late."""
        self.now_s += max(0.0, for_s) + 0.01
        return not self.lasts_s

    def one(self) -> None:
        self.begun_s.append(self.now_s)
        self.now_s += self.lasts_s.pop(0)

    def run_them(self, every_s: float) -> list[float]:
        rounds = Rounds("test", self.one, lambda _cost_s: every_s)
        with mock.patch.object(rounds, "_is_stopped") as is_stopped:
            is_stopped.wait.side_effect = self.wait
            rounds.start(0.5)
            rounds._thread.join(_LIMIT_S)
        return [round(begun_s, 2) for begun_s in self.begun_s]

    def test_they_begin_every_so_many_seconds_though_each_wakes_late_and_lasts(self) -> None:
        self.lasts_s = [0.1, 0.2, 0.0, 0.1]
        self.assertEqual(self.run_them(0.25), [100.51, 100.76, 101.01, 101.26])

    def test_after_one_that_lasted_long_the_next_begins_at_once_and_none_is_made_up_for(self):
        self.lasts_s = [3.0, 0.0, 0.0]
        self.assertEqual(self.run_them(0.25), [100.51, 103.52, 103.77])

    def test_the_time_between_two_depends_on_what_the_first_has_cost(self) -> None:
        every_s = mock.Mock(return_value=1.0)
        self.lasts_s = [0.1, 0.3]
        rounds = Rounds("test", self.one, every_s)
        with mock.patch.object(rounds, "_is_stopped") as is_stopped:
            is_stopped.wait.side_effect = self.wait
            rounds.start(0.0)
            rounds._thread.join(_LIMIT_S)
        self.assertEqual([round(call.args[0], 2) for call in every_s.call_args_list], [0.1, 0.3])

    def test_what_was_not_started_can_be_stopped(self) -> None:
        Rounds("test", self.one, lambda _cost_s: 1.0).stop()
        self.assertEqual(self.begun_s, [])


class StopTest(unittest.TestCase):
    def test_no_round_runs_after_the_stop(self) -> None:
        entered, left = threading.Event(), threading.Event()
        ended: list[bool] = []

        def one() -> None:
            entered.set()
            left.wait(_LIMIT_S)
            ended.append(True)

        rounds = Rounds("test", one, lambda _cost_s: 1000.0)
        rounds.start(0.0)
        self.assertTrue(entered.wait(_LIMIT_S))
        threading.Timer(0.1, left.set).start()
        rounds.stop()
        self.assertEqual(ended, [True])


class PriorityTest(unittest.TestCase):
    def test_only_its_thread_is_put_before_others(self) -> None:
        threads: list[int] = []
        is_done = threading.Event()

        def one() -> None:
            threads.append(threading.get_native_id())
            is_done.set()

        rounds = Rounds("test", one, lambda _cost_s: 1000.0)
        with mock.patch("os.setpriority") as put:
            rounds.start(0.0)
            self.assertTrue(is_done.wait(_LIMIT_S))
            rounds.stop()
        put.assert_called_once_with(os.PRIO_PROCESS, threads[0], -10)
        self.assertNotEqual(threads[0], threading.get_native_id())

    def test_a_user_who_may_not_do_that_has_rounds_too(self) -> None:
        is_done = threading.Event()
        rounds = Rounds("test", is_done.set, lambda _cost_s: 1000.0)
        with mock.patch("os.setpriority", side_effect=PermissionError(1, "no")):
            rounds.start(0.0)
            self.assertTrue(is_done.wait(_LIMIT_S))
            rounds.stop()
