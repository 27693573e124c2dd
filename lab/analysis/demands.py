"""Service demands by the utilisation law, U = B + D X, over all runs of a cell.

D, the slope, is the time that a request keeps a resource busy. B, the intercept, is the part that
does not grow with the throughput. The slope is a median, so that no single run decides. It is taken
within each pass, because between passes the speed of the machine may change.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rig.cores import Cores, format_cores

from ..results.records import Run
from .operational_laws import Station

_FAR_APART = 1.5  # two runs show a slope if the throughputs differ by this factor
_MOST_BACKGROUND = 0.5  # more of U than this is no background: U is not a line over X


@dataclass(frozen=True)
class Law:
    """One resource: U = background + demand_s X, in servers busy (1.5 cores: 1.5)."""

    demand_s: float
    background: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Demands:
    cpu: dict[str, Law]  # of each component
    disks: dict[str, Law]

    @property
    def cpu_s(self) -> dict[str, float]:
        return {component: law.demand_s for component, law in self.cpu.items()}

    @property
    def disk_s(self) -> float:
        """That of the busiest disk."""
        return max((law.demand_s for law in self.disks.values()), default=0.0)


def of_runs(runs: list[Run]) -> Demands:
    """Requires: at least one run, each with a throughput above 0."""
    return Demands(
        cpu={
            name: fit((run, run.usage.components[name].cpu_cores) for run in having)
            for name in _names(run.usage.components for run in runs)
            if (having := [run for run in runs if name in run.usage.components])
        },
        disks={
            name: fit((run, run.usage.disks[name].busy) for run in having)
            for name in _names(run.usage.disks for run in runs)
            if (having := [run for run in runs if name in run.usage.disks])
        },
    )


def fit(used: Iterable[tuple[Run, float]]) -> Law:
    """The law of one resource, from each run and how many servers were busy in it.

    Without two runs far apart, or where no line with a small background fits, D is U / X of the
    runs near the maximum. Requires: at least one run.
    """
    points = [(run.repeat, run.throughput_rps, busy) for run, busy in used]
    slopes = [
        ((busy - other_busy) / (rate - other_rate), abs(rate - other_rate))
        for (repeat, rate, busy), (other, other_rate, other_busy) in itertools.combinations(
            points, 2
        )
        if repeat == other and max(rate, other_rate) >= _FAR_APART * min(rate, other_rate)
    ]
    if slopes:
        demand_s = _weighted_median(slopes)
        background = statistics.median(busy - demand_s * rate for _, rate, busy in points)
        typical = statistics.median(busy for _, _, busy in points)
        if demand_s > 0 and 0 <= background <= _MOST_BACKGROUND * typical:
            return Law(demand_s, background)
    highest = max(rate for _, rate, _ in points)
    return Law(
        statistics.median(busy / rate for _, rate, busy in points if _FAR_APART * rate >= highest)
    )


def stations(demands: Demands, pins: Mapping[str, Cores]) -> list[Station]:
    """Where requests queue: sets of cores, and disks. No core belongs to two stations.

    Components whose sets of cores overlap cannot use more than the union of the sets. So the union
    with the largest demand for each of its cores becomes a station, without its components and
    cores the next one is looked for, and so on.
    """
    found = []
    left = {name: frozenset(pins[name]) for name in demands.cpu}
    while left := {name: cores for name, cores in left.items() if cores}:
        cores = max(_unions(left), key=lambda union: _density(union, left, demands))
        inside = [name for name, own in left.items() if own <= cores]
        found.append(
            Station(
                cores_name(tuple(sorted(cores))),
                sum(demands.cpu[name].demand_s for name in inside),
                len(cores),
                sum(demands.cpu[name].background for name in inside),
            )
        )
        left = {name: own - cores for name, own in left.items() if name not in inside}
    return found + [
        Station(f"disk {name}", law.demand_s, 1, law.background)
        for name, law in demands.disks.items()
    ]


def cores_name(cores: Cores) -> str:
    return f"core {cores[0]}" if len(cores) == 1 else f"cores {format_cores(cores)}"


def _unions(sets: Mapping[str, frozenset[int]]) -> set[frozenset[int]]:
    different = set(sets.values())
    return {
        frozenset().union(*chosen)
        for count in range(1, len(different) + 1)
        for chosen in itertools.combinations(different, count)
    }


def _density(
    union: frozenset[int], sets: Mapping[str, frozenset[int]], demands: Demands
) -> tuple[float, int]:
    """The demand for each core of those who can go nowhere else; of two equal, the larger union."""
    demand_s = sum(demands.cpu[name].demand_s for name, own in sets.items() if own <= union)
    return demand_s / len(union), len(union)


def _weighted_median(values: list[tuple[float, float]]) -> float:
    """Of (value, weight). Requires: at least one."""
    half = sum(weight for _, weight in values) / 2
    for value, weight in sorted(values):
        half -= weight
        if half <= 0:
            return value
    return max(values)[0]


def _names(dicts: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for one in dicts for name in one))
