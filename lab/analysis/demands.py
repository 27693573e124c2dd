"""Service demands: how long a request keeps each resource busy, and where requests queue.

The utilisation law is D = U / X. D is taken at the maximum, where resources are full: all that a
program used there, divided by all requests. No background is subtracted, so the demands of all
programs add up to what was used. A lone request needs more CPU, because it wakes threads that
sleep. So U is no line over X, and the slope of such a line is less than what any request needed.
"""

import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rig.cores import Cores, format_cores

from ..results.records import Run
from .operational_laws import Station


@dataclass(frozen=True, kw_only=True)
class Demands:
    """In seconds for each request."""

    cpu_s: dict[str, float]  # of each component
    disks_s: dict[str, float]

    @property
    def disk_s(self) -> float:
        """That of the busiest disk."""
        return max(self.disks_s.values(), default=0.0)

    @property
    def total_s(self) -> float:
        return sum(self.cpu_s.values()) + sum(self.disks_s.values())


def of_runs(runs: Sequence[Run]) -> Demands:
    """Those of the run in the middle, by its CPU, so that no single run decides; of two, the mean.

    Requires: at least one run, each with a throughput above 0 and with the same programs watched.
    """
    each = sorted((_of_run(run) for run in runs), key=lambda one: sum(one.cpu_s.values()))
    middle = each[(len(each) - 1) // 2 : len(each) // 2 + 1]
    return Demands(
        cpu_s=_means([one.cpu_s for one in middle]), disks_s=_means([one.disks_s for one in middle])
    )


def _of_run(run: Run) -> Demands:
    rate, used = run.throughput_rps, run.usage
    return Demands(
        cpu_s={name: one.cpu_cores / rate for name, one in used.components.items()},
        disks_s={name: one.busy / rate for name, one in used.disks.items()},
    )


def _means(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in found for name in one)
    return {name: statistics.fmean(one.get(name, 0.0) for one in found) for name in names}


def stations(demands: Demands, pins: Mapping[str, Cores]) -> list[Station]:
    """Where requests queue: sets of cores, and disks. No core belongs to two stations.

    Components whose sets of cores overlap cannot use more than the union of the sets. So the union
    with the largest demand for each of its cores becomes a station, without its components and
    cores the next one is looked for, and so on.
    """
    found = []
    left = {name: frozenset(pins[name]) for name in demands.cpu_s}
    while left := {name: cores for name, cores in left.items() if cores}:
        cores = max(_unions(left), key=lambda union: _density(union, left, demands))
        inside = [name for name, own in left.items() if own <= cores]
        found.append(
            Station(
                cores_name(tuple(sorted(cores))),
                sum(demands.cpu_s[name] for name in inside),
                len(cores),
            )
        )
        left = {name: own - cores for name, own in left.items() if name not in inside}
    return found + [Station(f"disk {name}", each) for name, each in demands.disks_s.items()]


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
    demand_s = sum(demands.cpu_s[name] for name, own in sets.items() if own <= union)
    return demand_s / len(union), len(union)
