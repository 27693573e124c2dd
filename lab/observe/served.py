"""Transfers as a server recorded them, and what it did in each second by that record."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Served:
    """One transfer, up or down. Times are seconds since 1970, by the clock of the server."""

    start_s: float
    end_s: float
    bytes: int  # that were moved
    peer_address: str  # of the client; "" if the log does not say
    name: str
    is_whole: bool
    resolution_s: float  # of the times: 1.0 for a log of whole seconds, which are cut off


@dataclass(frozen=True, kw_only=True)
class ServerSecond:
    """As workloads/series.py has the clients' view: t counts from 1."""

    t: int
    under_way: int  # at its end
    started: int
    ended: int  # transfers that were whole
    failed: int
    bytes: int
    mean_ms: float | None  # of those that ended; None if none did


def per_second(served: Iterable[Served], from_s: float, to_s: float) -> list[ServerSecond]:
    """A line for each second of the window; the last one may be a part of a second.

    A log says when a transfer began and ended, and no more. So its bytes are spread evenly over the
    time between. Those of one transfer add up exactly. What lies outside of the window is left out.
    Of transfers that are shorter than the resolution of their log, under_way and mean_ms say
    nothing. Requires: from_s < to_s.
    """
    seconds = [_Sums() for _ in range(math.ceil(to_s - from_s))]
    for one in served:
        _add(seconds, one, from_s, to_s)
    under_way, found = sum(second.before for second in seconds), []
    for number, sums in enumerate(seconds, start=1):
        under_way += sums.started - sums.ended - sums.failed
        found.append(
            ServerSecond(
                t=number,
                under_way=under_way,
                started=sums.started,
                ended=sums.ended,
                failed=sums.failed,
                bytes=sums.bytes,
                mean_ms=statistics.fmean(sums.times_ms) if sums.times_ms else None,
            )
        )
    return found


@dataclass
class _Sums:
    before: int = 0  # of the first second: transfers that had begun before the window
    started: int = 0
    ended: int = 0
    failed: int = 0
    bytes: int = 0
    times_ms: list[float] = field(default_factory=list)


def _add(seconds: list[_Sums], one: Served, from_s: float, to_s: float) -> None:
    if one.end_s < from_s or one.start_s >= to_s:
        return
    first = math.floor(one.start_s - from_s)
    if first < 0:
        seconds[0].before += 1
    else:
        seconds[first].started += 1
    last = math.floor(one.end_s - from_s)
    if one.end_s < to_s and one.is_whole:
        seconds[last].ended += 1
        seconds[last].times_ms.append(1000 * (one.end_s - one.start_s))
    elif one.end_s < to_s:
        seconds[last].failed += 1
    first, last = max(0, first), min(last, len(seconds) - 1)
    moved = _moved(one, from_s) if one.start_s < from_s else 0
    for number in range(first, last + 1):
        until = _moved(one, min(from_s + number + 1, to_s))
        seconds[number].bytes += until - moved
        moved = until


def _moved(one: Served, until_s: float) -> int:
    """The bytes that were moved before."""
    if until_s >= one.end_s:
        return one.bytes
    share = (until_s - one.start_s) / (one.end_s - one.start_s)
    return int(one.bytes * share)
