"""What is known of one moment: counters, which only rise, and gauges, by their names."""

from dataclasses import dataclass

INTERVAL_S = 0.25  # between two samples
MOST_GAP_S = 1.0  # a longer one is told

_HALFWAY = 0.5  # between two samples

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
    "oom_kills",
)
Moment = dict[str, float]


@dataclass(frozen=True)
class Sample:
    time_s: float  # wall clock, as the load generator's window
    values: Moment


def is_gauge(name: str) -> bool:
    return name.endswith(_GAUGES)


def on_line(first: Sample, second: Sample, time_s: float) -> Moment:
    """Counters as if they rose evenly, also before and after the two. A gauge is the nearer one."""
    length = second.time_s - first.time_s
    share = (time_s - first.time_s) / length if length > 0 else 1.0
    nearest = first if share < _HALFWAY else second
    line = {
        name: first.values.get(name, 0.0) + share * (value - first.values.get(name, 0.0))
        for name, value in second.values.items()
    }
    return {
        name: nearest.values.get(name, second.values[name]) if is_gauge(name) else value
        for name, value in line.items()
    }
