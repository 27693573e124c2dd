"""Round trips beside a load: their times, and those that are lost."""

import time
import unittest
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import examples

from lab.observe.moment import Sample
from lab.observe.round_trips import RoundTrip, RoundTrips, figures
from rig.place import HERE, Place
from rig.processes import Program


class LosesEachOther(RoundTrips):
    """Answers the even numbers only, and after 10 ms."""

    def _echo(self) -> None:
        while not self._is_closed.is_set():
            with suppress(TimeoutError):
                data, sender = self._ours.recvfrom(64)
                if data[7] % 2 == 0:
                    time.sleep(0.01)
                    self._ours.sendto(self._answer + data[:63], sender)


class Late(RoundTrips):
    """Answers after 0.4 s."""

    def _echo(self) -> None:
        while not self._is_closed.is_set():
            with suppress(TimeoutError):
                data, sender = self._ours.recvfrom(64)
                time.sleep(0.4)
                self._ours.sendto(self._answer + data[:63], sender)


class Silent(RoundTrips):
    """Never answers, as a firewall would."""

    def _echo(self) -> None:
        self._is_closed.wait()


class LongWay(Place):
    longest_s = 30.0


class WithoutPython(Place):
    def start(self, name: str, command: list[str], log_path: Path, **_: Any) -> Program:
        return Program(name, ["false"], log_path)


class RoundTripsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self)

    def trips(self, way: RoundTrips, seconds: float = 1.0) -> list[RoundTrip]:
        with way:
            time.sleep(seconds)
        return way.found()

    def test_each_has_its_moment_and_its_time(self) -> None:
        begun_s = time.time()
        found: list[RoundTrip] = []
        for seconds in (1, 5, 25):  # a loaded machine starts the probe late
            if len(found) < 2:
                found = self.trips(RoundTrips(HERE, self.folder), seconds)
        self.assertGreaterEqual(len(found), 2)
        moments = [one.sent_s for one in found]
        self.assertEqual(moments, sorted(moments))
        self.assertTrue(begun_s <= moments[0] and moments[-1] <= time.time())
        self.assertTrue(all(one.took_ms and one.took_ms > 0 for one in found), found)

    def test_those_without_an_answer_are_lost(self) -> None:
        found = self.trips(LosesEachOther(HERE, self.folder))
        self.assertTrue(all(one.took_ms is None for one in found[1::2]), found)
        for one in found[::2]:
            assert one.took_ms is not None
            self.assertGreaterEqual(one.took_ms, 10)

    def test_an_answer_is_lost_only_behind_the_longest_time_of_the_link(self) -> None:
        with mock.patch("lab.observe.round_trips._LOST_AFTER_S", 0.1):
            found = self.trips(Late(LongWay(), self.folder), 0.1)
        self.assertTrue(found)
        self.assertTrue(all(one.took_ms and one.took_ms >= 400 for one in found), found)

    def test_where_nothing_is_answered_the_probe_ends_by_itself_and_all_are_lost(self) -> None:
        with mock.patch("lab.observe.round_trips._LOST_AFTER_S", 0.2):
            found = self.trips(Silent(HERE, self.folder), 0.1)
        self.assertTrue(found)
        self.assertEqual(figures(found, FiguresTest.WINDOW), {"rtt_lost": 1.0})

    def test_where_no_probe_can_run_there_is_none(self) -> None:
        self.assertEqual(self.trips(RoundTrips(WithoutPython(), self.folder), 0.1), [])

    def test_a_failure_of_the_load_stops_it(self) -> None:
        way = RoundTrips(HERE, self.folder)
        with self.assertRaises(ZeroDivisionError), way:
            (pid,) = way.helpers()
            raise ZeroDivisionError
        self.assertFalse(Path(f"/proc/{pid}").exists())
        self.assertEqual(way.found(), [])


class FiguresTest(unittest.TestCase):
    WINDOW = [Sample(10.0, {}), Sample(20.0, {})]

    def test_they_are_of_the_window(self) -> None:
        trips = [
            RoundTrip(9.9, 500.0),
            *(RoundTrip(11.0 + n, ms) for n, ms in enumerate((30.0, 10.0, 20.0, None))),
            RoundTrip(20.1, 900.0),
        ]
        found = figures(trips, self.WINDOW)
        self.assertEqual(found, {"rtt_p50_ms": 20.0, "rtt_max_ms": 30.0, "rtt_lost": 0.25})

    def test_the_p50_is_of_the_middle_half(self) -> None:
        times = ((10.5, 20.0), (12.0, 20.0), (13.0, 80.0), (17.0, 90.0), (18.0, 20.0), (19.0, 20.0))
        trips = [RoundTrip(sent_s, ms) for sent_s, ms in times]
        self.assertEqual(figures(trips, self.WINDOW)["rtt_p50_ms"], 80.0)
        self.assertEqual(figures(trips[:2], self.WINDOW)["rtt_p50_ms"], 20.0)

    def test_where_all_are_lost_there_is_no_time(self) -> None:
        self.assertEqual(figures([RoundTrip(11.0, None)], self.WINDOW), {"rtt_lost": 1.0})

    def test_without_one_there_is_nothing(self) -> None:
        self.assertEqual(figures([RoundTrip(9.0, 1.0)], self.WINDOW), {})
