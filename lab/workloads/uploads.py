"""Uploads that were seen one by one, by the clients or by the server, as a course over time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Upload:
    """Times are seconds since the common start of all clients."""

    start_s: float
    end_s: float
    bytes: int
    is_whole: bool = True


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A step of time, by its middle. The bytes of an upload are spread evenly over its time. One
    without length brings them all in its step.
    """

    t: float
    load: float  # uploads under way, on average
    ended: int  # whole ones
    bytes_per_s: float
    mean_ms: float | None  # of those that ended; None if none did


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """What was done between two moments."""

    seconds: float
    load: float
    ended: int
    bytes_per_s: float
    mean_s: float | None

    def check(self, clients: int) -> float:
        """The part of the clients' time that they spent in uploads; 1 if they never pause."""
        return self.load / clients


def over_time(uploads: Sequence[Upload], length_s: float, step_s: float) -> list[Moment]:
    """Requires: length_s and step_s are more than 0."""
    count = max(1, int(length_s / step_s + 0.5))
    busy, moved = [0.0] * count, [0.0] * count
    ended, took = [0] * count, [0.0] * count
    for one in uploads:
        _spread(one, step_s, busy, moved)
        last = math.floor(one.end_s / step_s)
        if one.is_whole and 0 <= last < count:
            ended[last] += 1
            took[last] += one.end_s - one.start_s
    return [
        Moment(
            t=(index + 0.5) * step_s,
            load=busy[index] / step_s,
            ended=ended[index],
            bytes_per_s=moved[index] / step_s,
            mean_ms=1000 * took[index] / ended[index] if ended[index] else None,
        )
        for index in range(count)
    ]


def _spread(one: Upload, step_s: float, busy: list[float], moved: list[float]) -> None:
    length_s = one.end_s - one.start_s
    first, last = max(0, int(one.start_s / step_s)), math.floor(one.end_s / step_s)
    if length_s == 0 and 0 <= last < len(moved):  # by a log of whole seconds
        moved[last] += one.bytes
    for index in range(first, min(last, len(busy) - 1) + 1):
        within_s = min(one.end_s, (index + 1) * step_s) - max(one.start_s, index * step_s)
        if within_s > 0:
            busy[index] += within_s
            moved[index] += one.bytes * within_s / length_s


def most_under_way(uploads: Sequence[Upload], until_s: float) -> int:
    """Before this moment. An upload that ends when another one starts is over."""
    changes = [(one.start_s, 1) for one in uploads] + [(one.end_s, -1) for one in uploads]
    now = most = 0
    for _, change in sorted(one for one in changes if one[0] < until_s):
        now += change
        most = max(most, now)
    return most


def between(uploads: Sequence[Upload], from_s: float, to_s: float) -> Stretch | None:
    """None for a stretch without length. The mean is that of whole uploads that ended in it."""
    if to_s <= from_s:
        return None
    busy_s = moved = 0.0
    times = []
    for one in uploads:
        within_s = min(one.end_s, to_s) - max(one.start_s, from_s)
        if within_s > 0:
            busy_s += within_s
            moved += one.bytes * within_s / (one.end_s - one.start_s)
        elif one.start_s == one.end_s and from_s <= one.end_s < to_s:
            moved += one.bytes
        if one.is_whole and from_s <= one.end_s < to_s:
            times.append(one.end_s - one.start_s)
    return Stretch(
        seconds=to_s - from_s,
        load=busy_s / (to_s - from_s),
        ended=len(times),
        bytes_per_s=moved / (to_s - from_s),
        mean_s=sum(times) / len(times) if times else None,
    )
