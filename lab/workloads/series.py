"""What happened in each second of a run, as `loadgen --series` writes it, and to the servers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Second:
    """t counts from 1. Response times are those of the requests that ended; None if none did."""

    t: int
    under_way: int
    started: int
    ended: int  # requests that succeeded
    failed: int
    bytes: int
    mean_ms: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None


@dataclass(frozen=True)
class Event:
    """Something that was done to the servers, so many seconds after the run began."""

    t: float
    what: str


@dataclass(frozen=True)
class Series:
    """Both in the order of time. A run without a series has neither."""

    seconds: tuple[Second, ...] = ()
    events: tuple[Event, ...] = ()

    def with_events(self, happened: Sequence[Event], start_s: float) -> Series:
        """With these too. They have times of the same clock as start_s, when the run began."""
        events = tuple(Event(round(one.t - start_s, 3), one.what) for one in happened)
        return Series(self.seconds, (*self.events, *events))


def of_file(path: Path) -> list[Second]:
    """What `loadgen --series` wrote. Columns of a newer version are ignored."""
    with open(path, newline="", encoding="utf-8") as file:
        return [of_words(row) for row in csv.DictReader(file)]


def of_words(row: dict[str, str]) -> Second:
    """Each column as it is written; "" stands for what there is not. KeyError without a count."""
    values: dict[str, Any] = {}
    for one in fields(Second):
        if one.type == "int":
            values[one.name] = int(row[one.name])
        elif row.get(one.name):
            values[one.name] = float(row[one.name])
    return Second(**values)
