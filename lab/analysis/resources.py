"""How busy everything was that can be busy: cores, disks, main threads, the network."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace

from rig.cores import Cores
from rig.place import LOOPBACK
from rig.stores import KINDS

from ..results.records import Run
from .demands import Demands, cores_name
from .verdict import FEWEST_PASSES, LOAD_GENERATOR, Resource, leads, least_lead

_OVER_HALF = 0.5  # of the CPU that is used; only then a component of a shared CPU is named


def component_title(component: str, store: str) -> str:
    return KINDS[store].title if component == "store" else component


def of_runs(
    runs: list[Run],
    pins: dict[str, Cores],
    demands: Demands,
    carries_bytes_per_s: float | None,
) -> list[Resource]:
    """How busy each resource was in these runs of one cell, in each pass, or in each run if there
    are few passes.

    carries_bytes_per_s is what the network carries over which they went; it is left out if that was
    not measured. Requires: at least one run.
    """
    if len({run.repeat for run in runs}) < FEWEST_PASSES:
        runs = [replace(run, repeat=number) for number, run in enumerate(runs)]
    found = [_cpu(runs, cores, demands, pins) for cores in _different_sets(runs[0], pins)]
    found = [one for one in found if not any(_is_part_of(one, other) for other in found)]
    resources = [one.resource for one in found]
    resources += [_disk(runs, name, demands) for name in runs[0].usage.disks]
    resources += [
        _main_thread(runs, component)
        for component in runs[0].usage.components
        if component != LOAD_GENERATOR
        and all(run.usage.components[component].main_thread is not None for run in runs)
    ]
    if carries_bytes_per_s and all(carried(run) is not None for run in runs):
        resources += _network(runs, carries_bytes_per_s)
    return resources


@dataclass(frozen=True)
class _Cpu:
    """A set of cores as a resource."""

    cores: frozenset[int]
    resource: Resource


def _different_sets(run: Run, pins: dict[str, Cores]) -> list[Cores]:
    return list(dict.fromkeys(pins[name] for name in run.usage.components))


def _is_part_of(one: _Cpu, other: _Cpu) -> bool:
    """Whether the cores are full only because all of a larger set are."""
    return one.cores < other.cores and not leads(one.resource, other.resource)


def _cpu(runs: list[Run], cores: Cores, demands: Demands, pins: dict[str, Cores]) -> _Cpu:
    """How busy the cores were, and who used most of them."""
    users = [name for name in demands.cpu_s if set(pins[name]) & set(cores)]
    shares = _shares(runs, {user: _cpu_cores(user) for user in users})
    order = sorted(users, key=lambda user: -statistics.median(shares[user].values()))
    titles = {user: component_title(user, runs[0].store) for user in users}
    owner = order[0] if _is_owner(order, shares) else ""
    if len(users) == 1:
        name = f"CPU of {titles[users[0]]}"
    else:
        name = f"CPU (mostly {titles[owner]})" if owner else "shared CPU"
    listing = ", ".join(
        f"{titles[user]} {statistics.median(shares[user].values()):.0%}" for user in order
    )
    return _Cpu(
        frozenset(cores),
        Resource(
            kind="cpu",
            name=name,
            by_pass=_by_pass(runs, lambda run: _busy(run, cores)),
            demand_s=sum(demands.cpu_s[user] for user in users),
            detail=f"{cores_name(cores)}: {listing}",
            owners=(titles[owner],) if owner else (),
            others=tuple(titles[user] for user in order if _trails(shares[user], shares[order[0]])),
        ),
    )


def _busy(run: Run, cores: Cores) -> float:
    return min(1.0, statistics.fmean(run.usage.cores[str(core)].busy for core in cores))


def _cpu_cores(component: str) -> Callable[[Run], float]:
    return lambda run: run.usage.components[component].cpu_cores


def _by_pass(runs: list[Run], value: Callable[[Run], float]) -> dict[int, float]:
    """pass -> the median of its runs."""
    return {
        repeat: statistics.median(value(run) for run in runs if run.repeat == repeat)
        for repeat in sorted({run.repeat for run in runs})
    }


def _shares(
    runs: list[Run], used: dict[str, Callable[[Run], float]]
) -> dict[str, dict[int, float]]:
    """user -> pass -> its share of what all of them used; 0 if nobody used anything."""
    in_pass = {user: _by_pass(runs, value) for user, value in used.items()}
    total = {run.repeat: sum(one[run.repeat] for one in in_pass.values()) or 1.0 for run in runs}
    return {
        user: {repeat: value / total[repeat] for repeat, value in one.items()}
        for user, one in in_pass.items()
    }


def _is_owner(order: list[str], shares: dict[str, dict[int, float]]) -> bool:
    """Whether the first has over half in every pass, and more than the next by more than chance."""
    first = shares[order[0]]
    return min(first.values()) > _OVER_HALF and all(
        _trails(shares[user], first) for user in order[1:]
    )


def _trails(share: dict[int, float], first: dict[int, float]) -> bool:
    least = least_lead(len(share))
    return all(value + least <= first[repeat] for repeat, value in share.items())


def _disk(runs: list[Run], name: str, demands: Demands) -> Resource:
    """How busy the disk was, and who used it. It is named after a component as a CPU is."""
    disks = [run.usage.disks[name] for run in runs]
    read = statistics.median(disk.read_bytes_per_s for disk in disks)
    written = statistics.median(disk.write_bytes_per_s for disk in disks)
    is_write = written > read
    store = runs[0].store
    users = list(demands.cpu_s)
    shares = _shares(runs, {user: _disk_rate(user, is_write) for user in users})
    order = sorted(users, key=lambda user: -statistics.median(shares[user].values()))
    owners = (component_title(order[0], store),) if order and _is_owner(order, shares) else ()
    who = f"{owners[0]}'s " if owners else ""
    return Resource(
        kind="disk",
        name=f"{who}disk {'writes' if is_write else 'reads'}",
        by_pass=_by_pass(runs, lambda run: run.usage.disks[name].busy),
        demand_s=demands.disks_s[name],
        detail=f"{name}: {read / 1e6:,.1f} MB/s read, {written / 1e6:,.1f} written",
        owners=owners,
        others=tuple(
            component_title(user, store)
            for user in order
            if _trails(shares[user], shares[order[0]])
        ),
    )


def _disk_rate(component: str, is_write: bool) -> Callable[[Run], float]:
    def rate(run: Run) -> float:
        used = run.usage.components[component]
        return (used.write_bytes_per_s if is_write else used.read_bytes_per_s) or 0.0

    return rate


def _main_thread(runs: list[Run], component: str) -> Resource:
    title = component_title(component, runs[0].store)
    return Resource(
        kind="thread",
        name=f"the one main thread of {title}",
        by_pass=_by_pass(
            runs, lambda run: min(1.0, run.usage.components[component].main_thread or 0.0)
        ),
        owners=(title,),
    )


def carried(run: Run) -> float | None:
    """Bytes per second over the network between load generator and servers."""
    usage = run.usage
    return usage.loopback_bytes_per_s if run.topology == LOOPBACK else usage.link_bytes_per_s


def _network(runs: list[Run], capacity: float) -> list[Resource]:
    """Loopback is a kind of its own: it costs CPU time, and can only seem to be a limit. It is left
    out where it carried more than iperf3 found, because then nobody knows what it can carry.
    """
    topology = runs[0].topology
    rates = _by_pass(runs, lambda run: carried(run) or 0.0)
    typical = statistics.median(rates.values())
    if topology == LOOPBACK and typical > capacity:
        return []
    return [
        Resource(
            kind="loopback" if topology == LOOPBACK else "network",
            name="the loopback network" if topology == LOOPBACK else f"the link ({topology})",
            by_pass={repeat: min(1.0, rate / capacity) for repeat, rate in rates.items()},
            detail=f"{typical / 1e6:,.0f} of the {capacity / 1e6:,.0f} MB/s of one "
            "iperf3 connection",
        )
    ]
