"""What one run of the load generator came to, whatever its users did."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
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


@dataclass(frozen=True, kw_only=True)
class Result:
    """The load generator's result."""

    requests: int
    elapsed_s: float
    throughput_rps: float
    bytes: int
    errors: dict[str, int]
    response_ms: dict[str, Any]  # of a crowd only the mean is known
    is_valid: bool = True
    invalid_because: list[str] = field(default_factory=list)
    start_s: float
    end_s: float
    used_cores: float
    is_bottleneck: bool
    starved_share: float = 0.0  # of its threads' time without a core, where it says that it matters
    noise: float = 0.0
    think_s: float = 0.0  # mean pause before a request, as it was made; 0 without --think
    made_in_all: int | None = None  # requests with warm-up, cool-down and errors; None if unknown
    series: Series = field(default_factory=Series)
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any], **own: Any) -> Result:
        """What results of loops and bursts have alike, and what is their own.

        KeyError when a field is missing.
        """
        alike = {
            "errors": {
                cause: count for cause, count in raw["errors"].items() if cause != "total" and count
            },
            "response_ms": known_times(raw["response_time_ms"], own["requests"]),
            "is_valid": raw["valid"],
            "invalid_because": list(raw["invalid_because"]),
            "start_s": raw["started_unix_s"],
            "end_s": raw["started_unix_s"] + raw["elapsed_s"],
            "used_cores": raw["cpu"]["used_cores"],
            "is_bottleneck": raw["cpu"]["is_bottleneck"],
            "starved_share": starved_share(raw),
            "think_s": raw.get("think_s", 0.0),
        }
        return cls(raw=raw, **alike, **own)

    def moved(self, seconds: float) -> Result:
        """By another clock."""
        return replace(self, start_s=self.start_s + seconds, end_s=self.end_s + seconds)

    @property
    def errors_total(self) -> int:
        return sum(self.errors.values())

    @property
    def error_list(self) -> str:
        return ", ".join(f"{cause} {count}" for cause, count in sorted(self.errors.items()))


def known_times(times: dict[str, Any], requests: int) -> dict[str, Any]:
    """With None for a percentile beyond which no request lies: loadgen has the longest time."""
    least = {"p90": 10, "p99": 100, "p99.9": 1000}
    return {name: ms if requests >= least.get(name, 0) else None for name, ms in times.items()}


def starved_share(raw: dict[str, Any]) -> float:
    """KeyError when a field is missing."""
    delay = raw["run_delay"]
    return float(delay["share"]) if delay["is_starved"] else 0.0
