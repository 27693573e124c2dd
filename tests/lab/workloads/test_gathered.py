"""What many testers recorded, set beside each other: sums with known answers."""

import unittest
from types import SimpleNamespace
from typing import Any

import examples
from made_up_gathered import gathered, transfer

from lab.kinds.ramp import gathered as records
from lab.kinds.ramp.gathered import Gathered, OfGroup, groups_between
from lab.workloads.outcome import Second
from rig.place import Place

_SERIES = "t,under_way,started,ended,failed,bytes,mean_ms,p50_ms,p99_ms,max_ms\n"
_TRANSFERS = "round,thread,name,bytes,start_unix_s,started_s,asked_s,opened_s,first_byte_s,"
_TRANSFERS += "last_byte_s,failure\n"
_BEGIN_S = 1790000000.0


class _Clocks:
    """Testers' clocks, ahead by so many seconds."""

    def __init__(self) -> None:
        self.ahead_s: dict[str, float] = {}

    def readings(self) -> list[Any]:
        return []

    def ours_s(self, tester: str, theirs_s: float) -> float:
        return theirs_s - self.ahead_s.get(tester, 0.0)


class GatheredTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = examples.folder(self)
        self.testers: Any = SimpleNamespace(
            testers=[],
            lost={},
            gave_up=set(),
            killed_unix_s={},
            start_late_ms={},
            clocks=_Clocks(),
            start_unix_s=_BEGIN_S,
        )

    def add(self, name: str, *, series: str = "", transfers: str = "", why: str = "") -> None:
        """why makes it a lost one. A file is missing if there is no text for it."""
        place = Place(name=name, group=f"group of {name}")
        files = {kind: self.folder / f"{name}.{kind}" for kind in ("series", "transfers")}
        for kind, header, text in (
            ("series", _SERIES, series),
            ("transfers", _TRANSFERS, transfers),
        ):
            if text:
                files[kind].write_text(header + text)
        self.testers.testers.append(SimpleNamespace(name=name, place=place, **files))
        if why:
            self.testers.lost[name] = why

    def gathered(self) -> Gathered:
        return records.of(self.testers, {"requests": 7})

    def test_seconds_are_added_up_and_means_are_weighted(self) -> None:
        self.add("a", series="1,2,5,3,1,300,10,9,12,13\n2,0,0,1,0,100,50,50,50,50\n")
        self.add("b", series="1,4,5,1,0,100,30,30,30,30\n2,1,0,0,0,50,,,,\n3,0,0,1,0,50,9,9,9,9\n")
        self.assertEqual(
            self.gathered().seconds,
            [
                Second(
                    t=1,
                    under_way=6,
                    started=10,
                    ended=4,
                    failed=1,
                    bytes=400,
                    mean_ms=15,
                    max_ms=30,
                ),
                Second(
                    t=2, under_way=1, started=0, ended=1, failed=0, bytes=150, mean_ms=50, max_ms=50
                ),
                Second(
                    t=3, under_way=0, started=0, ended=1, failed=0, bytes=50, mean_ms=9, max_ms=9
                ),
            ],
        )

    def test_percentiles_are_those_of_all_transfers_that_ended_in_a_second(self) -> None:
        line = "1,0,x,10,{},{},{},,{},{},{}\n"
        fast = "".join(
            line.format(_BEGIN_S, 0.1, 0.1, 0.1, 0.1 + number / 1000, "") for number in range(1, 99)
        )
        slow = line.format(_BEGIN_S, 0.1, 0.2, 0.3, 0.9, "")
        slow += line.format(_BEGIN_S, 0.1, 0.2, 0.3, 1.9, "")  # of the next second
        slow += line.format(_BEGIN_S, 0.1, 0.2, "", 0.1005, "refused")
        second = "1,0,0,99,0,0,1,1,1,1\n2,0,0,1,0,0,1,1,1,1\n"
        self.add("a", series=second, transfers=fast)
        self.add("b", series=second, transfers=slow)
        first, then = self.gathered().seconds
        self.assertAlmostEqual(first.p50_ms or 0, 50)
        self.assertAlmostEqual(first.p99_ms or 0, 800)  # 99 transfers: the 99th is the slow one
        self.assertAlmostEqual(then.p50_ms or 0, 1800)

    def test_a_tester_that_began_later_is_moved(self) -> None:
        self.add("a", series="1,1,1,1,0,1,1,1,1,1\n", transfers=_line(_BEGIN_S))
        self.add("b", series="1,2,1,1,0,1,1,1,1,1\n", transfers=_line(_BEGIN_S + 1.9))
        found = self.gathered()
        self.assertEqual([one.under_way for one in found.seconds], [1, 0, 2])
        self.assertEqual([one.p50_ms for one in found.seconds], [250, None, 250])
        self.assertEqual([one.started_s for one in found.transfers], [0.25, 2.15])
        self.assertEqual([one.asked_s for one in found.transfers], [0.3, 2.2])
        self.assertEqual([one.first_byte_s for one in found.transfers], [None, None])
        self.assertEqual([one.last_byte_s for one in found.transfers], [0.5, 2.4])
        self.assertEqual([one.response_s for one in found.transfers], [0.25, 0.25])
        self.assertEqual(found.start_unix_s, _BEGIN_S)
        self.assertEqual(found.transfers[1].tester, "b")
        self.assertEqual(found.transfers[1].group, "group of b")

    def test_clocks_that_differ_do_not_move_anything(self) -> None:
        self.testers.clocks.ahead_s = {"a": 100.0, "b": -3.0}
        self.add("a", series="1,1,1,1,0,1,1,1,1,1\n", transfers=_line(_BEGIN_S + 100))
        self.add("b", series="1,2,1,1,0,1,1,1,1,1\n", transfers=_line(_BEGIN_S - 3))
        found = self.gathered()
        self.assertEqual([one.under_way for one in found.seconds], [3])
        self.assertEqual([one.started_s for one in found.transfers], [0.25, 0.25])
        self.assertEqual(found.start_unix_s, _BEGIN_S)

    def test_a_lost_tester_is_apart_and_its_last_line_may_be_cut_off(self) -> None:
        self.add("a", series="1,1,1,1,0,1,1,1,1,1\n2,1,1,1,0,1,1,1,1,1\n")
        cut = _line(_BEGIN_S) + "2,0,x,10,17900000"
        self.add("b", series="1,5,1,1,0,1,1,1,1,1\n2,5,1", transfers=cut, why="killed")
        self.add("c", why="no word")
        found = self.gathered()
        self.assertEqual([one.under_way for one in found.seconds], [1, 1])
        self.assertEqual([one.under_way for one in found.seconds_of_lost], [5])
        self.assertEqual([one.tester for one in found.transfers], ["b"])
        told = [(one.tester, one.why, one.last_heard_s) for one in found.lost]
        self.assertEqual(told, [("b", "killed", 1.0), ("c", "no word", None)])
        self.assertEqual((found.testers, found.raw), (3, {"requests": 7}))
        self.assertEqual(found.last_loss_s, 1.0)

    def test_a_tester_was_there_until_it_was_killed(self) -> None:
        """Its last line is older, or it has none yet."""
        second = "1,1,1,1,0,1,1,1,1,1\n"
        self.add("a", series=second)
        self.assertIsNone(self.gathered().last_loss_s)
        for name in ("b", "c", "d"):
            self.add(name, series="" if name == "d" else second, why="killed")
        killed_s = {"b": 1.75, "d": 1.5}
        self.testers.killed_unix_s = {name: _BEGIN_S + at for name, at in killed_s.items()}
        found = self.gathered()
        heard_s = {one.tester: one.last_heard_s for one in found.lost}
        self.assertEqual(heard_s, {"b": 1.75, "c": 1.0, "d": 1.5})
        self.assertEqual(found.last_loss_s, 1.75)


def _line(start_unix_s: float) -> str:
    return f"1,0,x,10,{start_unix_s},0.25,0.3,,,0.5,\n"


class HostGroupsTest(unittest.TestCase):
    def test_each_group_has_its_rate_its_mean_and_how_even_its_hosts_are(self) -> None:
        """From 0 to 4 s: far a has 100 bytes, far b three times as many, near c one upload."""
        record = gathered(
            transfer("a", 0, 4),
            *(transfer("b", start, start + 1) for start in range(3)),
            transfer("c", 1, 3, group="near"),
        )
        found = groups_between(record, 0, 4)
        self.assertEqual(
            found,
            {
                "far": OfGroup(hosts=2, bytes_per_s=100, mean_ms=1000, fairness=0.8),
                "near": OfGroup(hosts=1, bytes_per_s=25, mean_ms=2000, fairness=1.0),
            },
        )

    def test_lost_hosts_and_uploads_that_failed_or_never_ended_have_no_part(self) -> None:
        record = gathered(
            transfer("a", 0, 4),
            transfer("b", 0, 2),
            transfer("c", 0, None),
            transfer("a", 1, 3, "timeout"),
            lost=("b",),
        )
        (group,) = groups_between(record, 0, 5).values()
        self.assertEqual((group.hosts, group.mean_ms), (1, 4000))

    def test_without_a_plateau_there_is_nothing(self) -> None:
        self.assertEqual(groups_between(gathered(transfer("a", 0, 4)), 4, 4), {})
