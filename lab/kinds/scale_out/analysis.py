"""Sums up the trials over hosts behind a proxy, and says when more of them bring nothing more."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from rig.cable import bits_per_s

from ...analysis.passes import OfPasses
from ...plan import catalog
from ...plan.catalog import Cell, Stage
from ...plan.claims import Side
from ...results.records import Run
from . import KIND, Cluster

_HOST = "fileserver"  # and fileserver-2 and so on
PROXY, AUTHSERVER = "proxy", "authserver"


@dataclass(frozen=True)
class HostsResult(OfPasses):
    """All valid trials of a stage, with its largest number of users; there is one at least."""

    stage: Stage
    cluster: Cluster
    runs: list[Run]

    def demand_s(self, owner: str) -> float | None:
        """CPU time for a request, by the utilisation law D = U / X; None if it was not watched.

        That of a host is for a request that it has itself, so it is the sum over all hosts.
        """
        found = [used / run.throughput_rps for run in self.runs if (used := _used(run, owner))]
        return statistics.median(found) if found else None

    @property
    def busy(self) -> float:
        """Of the shares of a core that all hosts have together, what they used."""
        shares = self.cluster.hosts * self.cluster.cores
        return statistics.median(_used(run, _HOST) for run in self.runs) / shares

    @property
    def bytes_each(self) -> float:
        """Of a file, without headers."""
        return statistics.median(run.bytes / run.requests for run in self.runs)


def _used(run: Run, owner: str) -> float:
    """Cores. With the store it is that of the authserver too."""
    used = run.usage.components
    if owner == _HOST:
        return sum(one.cpu_cores for name, one in used.items() if name.startswith(_HOST))
    names = (AUTHSERVER, "store") if owner == AUTHSERVER else (owner,)
    return sum(used[name].cpu_cores for name in names if name in used)


def of_stages(runs: Sequence[Run], stages: Sequence[Stage], row: str) -> list[HostsResult]:
    """In the order of the stages; of those that were measured."""
    found = (_of_stage(runs, stage, row) for stage in stages)
    return [one for one in found if one]


def steady(found: Sequence[HostsResult]) -> list[HostsResult]:
    """Those in which no host was lost."""
    return [one for one in found if not one.cluster.is_lost]


def _of_stage(runs: Sequence[Run], stage: Stage, row: str) -> HostsResult | None:
    cell = Cell(stage.name, row, workload=KIND.name)
    own = [run for run in runs if run.cell == cell and run.is_valid]
    most = max((run.threads for run in own), default=0)
    at = [run for run in own if run.threads == most]
    return HostsResult(stage, stage.cluster, at) if at and stage.cluster else None


def measured(of: Side, row: str, runs: Sequence[Run], _discard: int) -> HostsResult | None:
    """None where it was not."""
    return _of_stage(runs, catalog.stages()[of.stage], row)


@dataclass(frozen=True, kw_only=True)
class Station:
    """What all requests pass, whatever host has them. demand_s is the time of one core, or of one
    link, for a request.
    """

    name: str
    demand_s: float
    full_at: int  # with so many hosts as they were measured
    full_at_cores: int  # with so many hosts of a whole core each

    @property
    def most_rps(self) -> float:
        return 1 / self.demand_s

    def needed(self, rate_rps: float) -> int:
        """How many of them carry this rate."""
        return math.ceil(rate_rps * self.demand_s)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What the demands of one stage say of other numbers of hosts, by the operational laws."""

    host_demand_s: float
    host_rps: float  # of a host as it was measured: its share of a core, over its demand
    core_rps: float  # of one with a whole core
    stations: list[Station]  # the one that is full first comes first

    def at_most_rps(self, hosts: int, *, has_whole_cores: bool) -> float:
        """The asymptote for so many hosts, with one station of each kind."""
        each = self.core_rps if has_whole_cores else self.host_rps
        return min(hosts * each, *(one.most_rps for one in self.stations))


def on_paper(found: HostsResult) -> Paper | None:
    """None where the demands were not seen."""
    host_s, how = found.demand_s(_HOST), found.cluster
    proxy_s, auth_s = found.demand_s(PROXY), found.demand_s(AUTHSERVER)
    if not host_s or not proxy_s or not auth_s:
        return None
    link_s = 8 * found.bytes_each / bits_per_s(how.proxy_link)
    demands = {
        "the proxy, one core": proxy_s,
        f"its link, {how.proxy_link}": link_s,
        "the authserver with its store, one core": auth_s,
    }
    host_rps, core_rps = how.cores / host_s, 1 / host_s
    stations = [
        Station(
            name=name,
            demand_s=demand_s,
            full_at=math.ceil(1 / demand_s / host_rps),
            full_at_cores=math.ceil(1 / demand_s / core_rps),
        )
        for name, demand_s in sorted(demands.items(), key=lambda item: -item[1])
    ]
    return Paper(host_demand_s=host_s, host_rps=host_rps, core_rps=core_rps, stations=stations)
