"""What many testers recorded in one load, set beside each other by our clock."""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig.clocks import Reading
from rig.testers import Tester, Testers

from ...workloads import outcome, transfers, uploads
from ...workloads.outcome import Second
from ...workloads.transfers import Transfer, fairness
from ...workloads.uploads import Upload


@dataclass(frozen=True, kw_only=True)
class OfTester(Transfer):
    """A transfer. Its times are since the start of all."""

    tester: str
    group: str
    started_s: float  # before asked_s, if it connected first

    @property
    def response_s(self) -> float | None:
        """None if it failed."""
        if self.failure or self.last_byte_s is None:
            return None
        return self.last_byte_s - self.started_s


@dataclass(frozen=True, kw_only=True)
class Lost:
    """A tester without a result."""

    tester: str
    group: str
    why: str
    # The end of its last line of the series, or when we killed it; None if there is neither.
    last_heard_s: float | None


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """Times are in seconds since start_unix_s, the first start of a tester, by our clock.

    raw and seconds are of the testers with a result; raw without those that gave up. What the lost
    ones did until they were lost is in seconds_of_lost, and among the transfers.
    """

    raw: dict[str, Any]  # of `loadgen merge`
    start_unix_s: float
    testers: int  # the lost ones too
    lost: list[Lost]
    gave_up: list[str]  # testers that are left: no upload succeeded, and they ended early
    seconds: list[Second]
    seconds_of_lost: list[Second]
    transfers: list[OfTester]
    start_late_ms: dict[str, float]  # by the tester's name; not of the lost ones
    clocks: list[Reading]  # [] if all have our clock

    @property
    def last_loss_s(self) -> float | None:
        """From then on all load is that of the testers that are left. None if none was lost, or if
        those that were are not known to have done anything.
        """
        heard_s = (one.last_heard_s for one in self.lost if one.last_heard_s is not None)
        return max(heard_s, default=None)


@dataclass(frozen=True)
class _Record:
    """Of one tester, by its own start."""

    tester: Tester
    start_unix_s: float  # by our clock
    seconds: list[Second]
    transfers: list[OfTester]


def of(testers: Testers, raw: dict[str, Any]) -> Gathered:
    """raw is the result that they came to. Requires: wait_for_output() returned it."""
    records = [_record(testers, one) for one in testers.testers]
    left = [one for one in records if one.tester.name not in testers.lost]
    gone = [one for one in records if one.tester.name in testers.lost]
    start_s = min(one.start_unix_s for one in left)
    return Gathered(
        raw=raw,
        start_unix_s=start_s,
        testers=len(records),
        lost=[_lost(testers, one, start_s) for one in gone],
        gave_up=sorted(testers.gave_up),
        seconds=_seconds(left, start_s),
        seconds_of_lost=_seconds(gone, start_s),
        transfers=[moved for one in records for moved in _moved(one, start_s)],
        start_late_ms=testers.start_late_ms,
        clocks=testers.clocks.readings(),
    )


def _record(testers: Testers, tester: Tester) -> _Record:
    rows = _rows(tester.transfers)
    name, group = tester.name, tester.place.group
    start_s = testers.start_unix_s
    if rows:
        start_s = testers.clocks.ours_s(name, float(rows[0]["start_unix_s"]))
    return _Record(
        tester=tester,
        start_unix_s=start_s,
        seconds=[outcome.of_words(row) for row in _rows(tester.series)],
        transfers=[
            OfTester(
                **vars(transfers.of_words(row)),
                tester=name,
                group=group,
                started_s=float(row["started_s"]),
            )
            for row in rows
        ],
    )


def _rows(path: Path) -> list[dict[str, str]]:
    """The whole lines: the last one of a tester that was killed may be cut off."""
    try:
        whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
    except FileNotFoundError:
        return []
    return list(csv.DictReader(io.StringIO(whole)))


def _moved(record: _Record, start_s: float) -> Iterable[OfTester]:
    """Its transfers by the common start."""
    later_s = record.start_unix_s - start_s
    for one in record.transfers:
        times = {
            name: value if value is None else round(value + later_s, 6)
            for name, value in vars(one).items()
            if name.endswith("_s")
        }
        yield OfTester(**{**vars(one), **times})


def _lost(testers: Testers, record: _Record, start_s: float) -> Lost:
    name = record.tester.name
    heard_unix_s = [record.start_unix_s + one.t for one in record.seconds[-1:]]
    if name in testers.killed_unix_s:
        heard_unix_s.append(testers.killed_unix_s[name])
    return Lost(
        tester=name,
        group=record.tester.place.group,
        why=testers.lost[name],
        last_heard_s=round(max(heard_unix_s) - start_s, 6) if heard_unix_s else None,
    )


def _seconds(records: Sequence[_Record], start_s: float) -> list[Second]:
    """Second by second. Each tester is moved by whole seconds, so its lines stay whole."""
    lines: defaultdict[int, list[Second]] = defaultdict(list)
    responses_ms: defaultdict[int, list[float]] = defaultdict(list)
    for record in records:
        later = round(record.start_unix_s - start_s)
        for second in record.seconds:
            lines[second.t + later].append(second)
        for one in record.transfers:
            if one.response_s is not None and one.last_byte_s is not None:
                responses_ms[math.floor(one.last_byte_s) + 1 + later].append(1000 * one.response_s)
    last = max(lines, default=0)
    return [_sum(t, lines[t], sorted(responses_ms[t])) for t in range(1, last + 1)]


def _sum(t: int, lines: Sequence[Second], responses_ms: Sequence[float]) -> Second:
    """Percentiles cannot be added up, so they are those of the single transfers."""
    ended = sum(one.ended for one in lines)
    in_all_ms = sum(one.ended * one.mean_ms for one in lines if one.mean_ms is not None)
    return Second(
        t=t,
        under_way=sum(one.under_way for one in lines),
        started=sum(one.started for one in lines),
        ended=ended,
        failed=sum(one.failed for one in lines),
        bytes=sum(one.bytes for one in lines),
        mean_ms=in_all_ms / ended if ended else None,
        p50_ms=_percentile(responses_ms, 0.5),
        p99_ms=_percentile(responses_ms, 0.99),
        max_ms=max((one.max_ms for one in lines if one.max_ms is not None), default=None),
    )


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """The smallest value that this share of them does not exceed."""
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else None


@dataclass(frozen=True, kw_only=True)
class OfGroup:
    """Of the hosts that are left, between two moments."""

    hosts: int
    bytes_per_s: float
    mean_ms: float | None  # of the uploads that ended; None if none did
    fairness: float | None  # Jain's index of the rates of its hosts; None if none brought anything


def groups_between(gathered: Gathered, from_s: float, to_s: float) -> dict[str, OfGroup]:
    """By the names of the groups. {} for a stretch without length."""
    lost = {one.tester for one in gathered.lost}
    by_group: defaultdict[str, defaultdict[str, list[Upload]]]
    by_group = defaultdict(lambda: defaultdict(list))
    for one in gathered.transfers:
        if one.tester not in lost and (upload := upload_of(one)):
            by_group[one.group][one.tester].append(upload)
    found = {
        name: _of_group(list(hosts.values()), from_s, to_s) for name, hosts in by_group.items()
    }
    return {name: group for name, group in found.items() if group}


def upload_of(one: OfTester) -> Upload | None:
    """None for one that has no end."""
    if one.last_byte_s is None:
        return None
    return Upload(
        start_s=one.started_s, end_s=one.last_byte_s, bytes=one.bytes, is_whole=not one.failure
    )


def _of_group(hosts: list[list[Upload]], from_s: float, to_s: float) -> OfGroup | None:
    whole = uploads.between([one for host in hosts for one in host], from_s, to_s)
    if whole is None:
        return None
    each = [stretch for host in hosts if (stretch := uploads.between(host, from_s, to_s))]
    return OfGroup(
        hosts=len(hosts),
        bytes_per_s=whole.bytes_per_s,
        mean_ms=None if whole.mean_s is None else 1000 * whole.mean_s,
        fairness=fairness([one.bytes_per_s for one in each]),
    )
