"""Clocks elsewhere are compared with ours, and what they show in between is known."""

import itertools
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass, field
from pathlib import Path

from rig import clocks
from rig.clocks import Clock, Clocks, Reading
from rig.errors import Failed
from rig.place import HERE, Place

# A clock that is ahead by the first number, and by the second one more each second since the third.
# It tells its time as often as the fourth says. It waits so long before it looks at its clock, and
# so long before it tells, but for the exchanges of which the number ends with the last argument.
_CLOCK = """
import sys, time
ahead, drift, since, most, before, behind, quick = map(float, sys.argv[1:])
for number, line in enumerate(sys.stdin):
    if number >= most:
        break
    waits = number % 10 != quick
    time.sleep(before * waits)
    now = time.time()
    time.sleep(behind * waits)
    print(repr(now + ahead + drift * (now - since)), flush=True)
"""
_LONG_S = 60.0


@dataclass(frozen=True, kw_only=True)
class _Elsewhere(Place):
    ahead_s: float = 0.0
    drift: float = 0.0
    answers: float = 1e9
    before_s: float = 0.0
    behind_s: float = 0.0
    quick: float = -1
    since_s: float = field(default_factory=time.time)

    def clock_command(self) -> list[str]:
        numbers = [self.ahead_s, self.drift, self.since_s, self.answers]
        numbers += [self.before_s, self.behind_s, self.quick]
        return [sys.executable, "-I", "-S", "-c", _CLOCK, *map(repr, numbers)]

    def true_s(self, ours_s: float) -> float:
        return ours_s + self.ahead_s + self.drift * (ours_s - self.since_s)


class ClocksTest(unittest.TestCase):
    def compared(self, *places: Place, every_s: float = 0.05) -> Clocks:
        found = Clocks(places, every_s)
        self.addCleanup(found.close)
        return found

    def wait_for(self, count: int, compared: Clocks, tester: str) -> None:
        deadline = time.monotonic() + _LONG_S
        while sum(one.tester == tester for one in compared.readings()) < count:
            self.assertLess(time.monotonic(), deadline, compared.readings())
            time.sleep(0.01)

    def test_a_reading_is_wrong_by_no_more_than_its_error(self) -> None:
        for ahead_s in (-3600.0, -0.25, 0.0, 0.25, 3600.0):
            clock = Clock("far", _Elsewhere(ahead_s=ahead_s).clock_command())
            self.addCleanup(clock.close)
            reading = clock.read()
            self.assertLessEqual(abs(reading.ahead_s - ahead_s), reading.error_s + 1e-6)
            self.assertGreater(reading.error_s, 0)
            self.assertEqual(reading.tester, "far")

    def test_the_quickest_exchange_is_taken(self) -> None:
        place = _Elsewhere(ahead_s=7.0, before_s=0.05, quick=7)
        clock = Clock("far", place.clock_command())
        self.addCleanup(clock.close)
        deadline = time.monotonic() + _LONG_S
        while clock.read().error_s >= 0.025:  # on a busy machine all may be slow
            self.assertLess(time.monotonic(), deadline)

    def test_one_way_may_take_longer_than_the_other(self) -> None:
        for place in (_Elsewhere(ahead_s=7.0, before_s=0.01), _Elsewhere(behind_s=0.01)):
            clock = Clock("far", place.clock_command())
            self.addCleanup(clock.close)
            reading = clock.read()
            self.assertLessEqual(abs(reading.ahead_s - place.ahead_s), reading.error_s + 1e-6)

    def test_what_a_clock_that_drifts_shows_is_known_between_two_readings(self) -> None:
        place = _Elsewhere(name="far", ahead_s=10.0, drift=0.5)
        compared = self.compared(place, every_s=0.4)
        self.wait_for(3, compared, "far")
        compared.close()
        readings = compared.readings()
        error_s = max(one.error_s for one in readings) * 1.5  # it drifts during the exchange too
        for before, after in itertools.pairwise(readings):
            for share in (0.0, 0.25, 0.5, 0.75):
                ours_s = before.t_unix_s + share * (after.t_unix_s - before.t_unix_s)
                theirs_s = compared.theirs_s("far", ours_s)
                self.assertLessEqual(abs(theirs_s - place.true_s(ours_s)), error_s + 1e-5)
                self.assertAlmostEqual(compared.ours_s("far", theirs_s), ours_s, places=5)

    def test_beyond_all_readings_the_next_one_holds(self) -> None:
        compared = self.compared(_Elsewhere(name="far", ahead_s=10.0, drift=0.5))
        self.wait_for(2, compared, "far")
        compared.close()
        first, last = compared.readings()[0], compared.readings()[-1]
        self.assertEqual(compared.theirs_s("far", 0.0), first.ahead_s)
        self.assertEqual(compared.theirs_s("far", 4e9), 4e9 + last.ahead_s)
        self.assertEqual(compared.ours_s("far", 4e9), 4e9 - last.ahead_s)

    def test_the_last_reading_is_made_by_the_end(self) -> None:
        compared = self.compared(_Elsewhere(name="far", ahead_s=1.0), every_s=1000)
        self.assertEqual(len(compared.readings()), 1)
        compared.close()
        self.assertEqual(len(compared.readings()), 2)
        compared.close()
        self.assertEqual(len(compared.readings()), 2)

    def test_a_place_with_our_clock_has_no_readings(self) -> None:
        compared = self.compared(HERE, _Elsewhere(name="far", ahead_s=1.0))
        self.wait_for(2, compared, "far")
        compared.close()
        self.assertEqual({one.tester for one in compared.readings()}, {"far"})
        self.assertEqual(compared.theirs_s(HERE.name, 17.0), 17.0)
        self.assertEqual(compared.ours_s(HERE.name, 17.0), 17.0)

    def test_a_clock_that_falls_silent_keeps_its_readings_and_the_others_go_on(self) -> None:
        silent = _Elsewhere(name="silent", ahead_s=5.0, answers=50)  # enough for two readings
        compared = self.compared(silent, _Elsewhere(name="far"))
        self.wait_for(5, compared, "far")
        compared.close()
        names = [one.tester for one in compared.readings()]
        self.assertIn(names.count("silent"), (1, 2))
        self.assertGreaterEqual(names.count("far"), 5)
        self.assertAlmostEqual(compared.theirs_s("silent", 0.0), 5.0, delta=_LONG_S)

    def test_a_clock_that_never_answers_is_named(self) -> None:
        with self.assertRaises(Failed) as caught:
            self.compared(_Elsewhere(name="far"), _Elsewhere(name="mute", answers=0))
        self.assertEqual(str(caught.exception), "mute did not tell its time")

    def test_readings_are_kept_in_a_table(self) -> None:
        readings = [
            Reading(t_unix_s=1790000000.125, tester="a", ahead_s=-0.1 / 3, error_s=0.0001),
            Reading(t_unix_s=1790000030.5, tester="b, c", ahead_s=12.0, error_s=1e-9),
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "clocks.csv"
            clocks.write(path, readings)
            self.assertEqual(clocks.read(path), readings)
            self.assertTrue(path.read_text().startswith("t_unix_s,tester,ahead_s,error_s\n"))
