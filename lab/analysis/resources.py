"""How busy a run kept everything that can be busy: cores, disks, main threads, the network."""

from __future__ import annotations

import statistics

from ..plan.catalog import COMPONENTS
from ..results.records import Run
from ..rig.cores import Cores, format_cores
from ..rig.place import LOOPBACK
from ..rig.stores import KINDS
from . import operational_laws
from .operational_laws import Station
from .verdict import Resource, listed

_STANDS_OUT = 1.15  # a component that uses so many times what the next one uses is named alone


def component_title(component: str, store: str) -> str:
    return KINDS[store].title if component == "store" else component


def of_run(
    run: Run,
    pins: dict[str, Cores],
    stations: list[Station],
    carries_bytes_per_s: float | None,
) -> list[Resource]:
    """How busy everything was that can be busy. stations have the service demands at N = 1.

    carries_bytes_per_s is what the network can carry, over which this run went; it is left out if
    that was not measured.
    """
    demands = {station.name: station.demand_s for station in stations}
    sharers = _sharers(run, pins)
    found = [_cpu(run, cores, _all_users(cores, sharers), demands) for cores in sharers]
    found += [_disk(run, name, demands) for name in run.usage.disks]
    found += [
        _main_thread(component_title(component, run.store), used.main_thread)
        for component, used in run.usage.components.items()
        if component != "loadgen" and used.main_thread is not None
    ]
    if carries_bytes_per_s:
        found += _network(run, carries_bytes_per_s)
    return found


def demand_stations(run: Run, pins: dict[str, Cores]) -> list[Station]:
    """The service demands D = U / X of one request, at each set of cores and at each disk."""
    rate = run.throughput_rps
    stations = [
        Station(
            _cores_name(cores),
            operational_laws.service_demand_s(
                sum(run.usage.components[user].cpu_cores for user in users), rate
            ),
            len(cores),
        )
        for cores, users in _sharers(run, pins).items()
    ]
    stations += [
        Station(f"disk {name}", operational_laws.service_demand_s(disk.busy, rate))
        for name, disk in run.usage.disks.items()
    ]
    return stations


def _sharers(run: Run, pins: dict[str, Cores]) -> dict[Cores, list[str]]:
    """Each different set of cores, and the components that use it."""
    found: dict[Cores, list[str]] = {}
    for component in COMPONENTS:
        if component in run.usage.components:
            found.setdefault(pins[component], []).append(component)
    return found


def _all_users(cores: Cores, sharers: dict[Cores, list[str]]) -> list[str]:
    """The components that may use one of these cores, even if their own set is a different one."""
    return [user for others, users in sharers.items() if set(others) & set(cores) for user in users]


def _cores_name(cores: Cores) -> str:
    return f"core {cores[0]}" if len(cores) == 1 else f"cores {format_cores(cores)}"


def _cpu(run: Run, cores: Cores, users: list[str], demands: dict[str, float]) -> Resource:
    """How busy the cores were, and which server used most of them.

    The load generator's share is in the detail. Whether it was the limit is judged elsewhere.
    """
    used = {user: run.usage.components[user].cpu_cores for user in users}
    busy = statistics.fmean(run.usage.cores[str(core)].busy for core in cores)
    total = sum(used.values()) or 1.0
    order = sorted(used, key=lambda user: -used[user])
    shares = ", ".join(
        f"{component_title(user, run.store)} {used[user] / total:.0%}" for user in order
    )
    servers = [user for user in order if user != "loadgen"] or order
    owners = tuple(
        component_title(user, run.store)
        for user in servers
        if used[servers[0]] < _STANDS_OUT * used[user]
    )
    most = listed(owners)
    name = f"CPU (servers: mostly {most})" if len(users) > 1 else f"CPU of {most}"
    return Resource(
        kind="cpu",
        name=name,
        busy=min(1.0, busy),
        demand_s=demands.get(_cores_name(cores)),
        detail=f"{_cores_name(cores)}: {shares}",
        owners=owners,
    )


def _disk(run: Run, name: str, demands: dict[str, float]) -> Resource:
    disk = run.usage.disks[name]
    is_write = disk.write_bytes_per_s > disk.read_bytes_per_s
    rates = {
        component: (used.write_bytes_per_s if is_write else used.read_bytes_per_s) or 0.0
        for component, used in run.usage.components.items()
    }
    component = max(rates, key=lambda key: rates[key], default="")
    owners = (component_title(component, run.store),) if component and rates[component] > 0 else ()
    who = f"{owners[0]}'s " if owners else ""
    return Resource(
        kind="disk",
        name=f"{who}disk {'writes' if is_write else 'reads'}",
        busy=disk.busy,
        demand_s=demands.get(f"disk {name}"),
        detail=f"{name}: {disk.read_bytes_per_s / 1e6:,.1f} MB/s read, "
        f"{disk.write_bytes_per_s / 1e6:,.1f} written",
        owners=owners,
    )


def _main_thread(title: str, busy: float) -> Resource:
    return Resource(
        kind="thread",
        name=f"the one main thread of {title}",
        busy=min(1.0, busy),
        owners=(title,),
    )


def _network(run: Run, capacity: float) -> list[Resource]:
    """Loopback is a kind of its own: it costs CPU time, and can only seem to be a limit."""
    is_link = run.topology != LOOPBACK
    usage = run.usage
    carried = usage.link_bytes_per_s if is_link else usage.loopback_bytes_per_s
    if carried is None:
        return []
    return [
        Resource(
            kind="network" if is_link else "loopback",
            name=f"the link ({run.topology})" if is_link else "the loopback network",
            busy=min(1.0, carried / capacity),
            detail=f"{carried / 1e6:,.0f} of the {capacity / 1e6:,.0f} MB/s of one iperf3 "
            "connection",
        )
    ]
