"""What is known of one moment: counters, which only rise, and gauges, by their names."""

from __future__ import annotations

from dataclasses import dataclass

INTERVAL_S = 0.25  # between two samples
MOST_GAP_S = 1.0  # a longer one is told

# One moment: name -> value. Counters only rise. The names of gauges have one of these endings.
_GAUGES = (
    "resident_bytes",
    "proportional_bytes",
    "virtual_bytes",
    "text_bytes",
    "data_bytes",
    "processes",
    "threads",
    "used_bytes",
    "cached_bytes",
    "peak_bytes",
    "load_average",
    "open_ends",
)
Moment = dict[str, float]


@dataclass(frozen=True)
class Sample:
    time_s: float  # wall clock, as the load generator's window
    values: Moment


def is_gauge(name: str) -> bool:
    return name.endswith(_GAUGES)
