"""Reads the counters of the host in /proc: cores, tasks, disks, networks and memory."""

import os
from collections.abc import Mapping
from pathlib import Path

from rig.host import network_counters, open_ends

from .moment import Moment

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_SECTOR_BYTES = 512
_NS_PER_S = 1e9
_REFAULTS = "workingset_refault"  # older kernels have one line, newer ones one for files
_CORE_DELAY_FIELD = 8  # of the line of a core in /proc/schedstat; its name is field 0


def read_host(link: str) -> Moment:
    """All but the tasks. The cores are first, since their rates are of a sample's time.

    link is the interface to the load generator; "" if there is none.
    """
    return {
        **_read_cores(),
        **_read_network(link),
        **_read_run_queues(),
        **read_disks(),
        **_read_memory(),
    }


def _read_cores() -> Moment:
    values: Moment = {}
    with open("/proc/stat", encoding="ascii") as stat:
        for line in stat:
            name, *ticks = line.split(maxsplit=9)
            if name == "ctxt":
                values["host.context_switches"] = int(ticks[0])
                break
            if name == "cpu" or not name.startswith("cpu"):
                continue
            user, nice, system, idle, wait, hard_irq, soft_irq, steal = (
                int(t) / _TICKS_PER_S for t in ticks[:8]
            )
            core = name.removeprefix("cpu")
            values[f"core.{core}.user_s"] = user + nice
            values[f"core.{core}.system_s"] = system + hard_irq + soft_irq
            values[f"core.{core}.wait_s"] = wait
            values[f"core.{core}.idle_s"] = idle
            values[f"core.{core}.stolen_s"] = steal
    return values


def _read_run_queues() -> Moment:
    """The load average, and the time that all threads of the host together waited for a core."""
    load = float(Path("/proc/loadavg").read_text(encoding="ascii").split()[0])
    values: Moment = {"host.load_average": load}
    try:
        schedstat = Path("/proc/schedstat").read_text(encoding="ascii")
    except OSError:
        return values  # this kernel does not count it
    return {**values, "host.run_delay_s": run_delay_s(schedstat)}


def read_tasks() -> Moment:
    """The processes that the lab can see, and the threads of the whole kernel."""
    threads = Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[2]
    processes = sum(name.isdigit() for name in os.listdir("/proc"))
    return {"processes": processes, "threads": int(threads)}


def run_delay_s(schedstat: str) -> float:
    """The sum over all cores, from the text of /proc/schedstat."""
    cores = [line.split() for line in schedstat.splitlines() if line.startswith("cpu")]
    return sum(int(core[_CORE_DELAY_FIELD]) for core in cores) / _NS_PER_S


def read_disks() -> Moment:
    """Whole disks that were ever used. They include their partitions."""
    values: Moment = {}
    with open("/proc/diskstats", encoding="ascii") as diskstats:
        for line in diskstats:
            fields = line.split()
            name = fields[2]
            if (
                name.startswith(("loop", "ram", "zram", "dm-", "md"))
                or not Path(f"/sys/block/{name}").exists()
            ):
                continue
            if fields[3] == fields[7] == "0":
                continue
            values[f"disk.{name}.read_bytes"] = int(fields[5]) * _SECTOR_BYTES
            values[f"disk.{name}.write_bytes"] = int(fields[9]) * _SECTOR_BYTES
            values[f"disk.{name}.reads"] = int(fields[3])
            values[f"disk.{name}.writes"] = int(fields[7])
            values[f"disk.{name}.busy_s"] = int(fields[12]) / 1000
    return values


def _read_network(link: str) -> Moment:
    """This network namespace: bytes over loopback and the link, and its connections."""
    values: Moment = {}
    with open("/proc/net/dev", encoding="ascii") as devices:
        for line in devices:
            name, _, counters = line.partition(":")
            if name.strip() == "lo":
                values["loopback.bytes"] = int(counters.split()[0])
            if link and name.strip() == link:
                values["link.received_bytes"] = int(counters.split()[0])
                values["link.sent_bytes"] = int(counters.split()[8])
    tcp = network_counters("Tcp")
    values["tcp.accepts"] = tcp["PassiveOpens"]
    values["tcp.received_segments"] = tcp["InSegs"]
    values["tcp.sent_segments"] = tcp["OutSegs"]
    values["tcp.retransmits"] = tcp["RetransSegs"]
    values["tcp.open_ends"] = open_ends()
    values["udp.sent_datagrams"] = network_counters("Udp")["OutDatagrams"]
    return values


def _read_memory() -> Moment:
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        lines = dict(line.split(":") for line in meminfo)
    kilobytes = {name: int(value.split()[0]) for name, value in lines.items()}
    with open("/proc/vmstat", encoding="ascii") as vmstat:
        refaults = [int(line.split()[1]) for line in vmstat if line.startswith(_REFAULTS)]
    return {
        "memory.used_bytes": (kilobytes["MemTotal"] - kilobytes["MemAvailable"]) * 1024,
        "memory.ganglia_used_bytes": ganglia_used(kilobytes) * 1024,
        "memory.swap_used_bytes": (kilobytes["SwapTotal"] - kilobytes["SwapFree"]) * 1024,
        "memory.cached_bytes": kilobytes["Cached"] * 1024,
        "memory.refaults": sum(refaults),
    }


def ganglia_used(sizes: Mapping[str, int]) -> int:
    """By the formula of Ganglia: swap counts, and what is cached does not.

    Ganglia took shared memory off too. Today it is a part of the cache, and would be taken off
    twice.
    """
    free = sizes["MemFree"] + sizes["Buffers"] + sizes["Cached"] + sizes["SwapFree"]
    return sizes["MemTotal"] + sizes["SwapTotal"] - free
