"""Samples the counters of processes, cores, disks, networks and memory in /proc."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..rig.control_group import ControlGroup
from ..rig.host import network_counters, open_ends
from .server_memory import ServerMemory

INTERVAL_S = 0.25
MOST_SHARE = 0.2  # of a core, for sampling: a server may have thousands of processes
MOST_GAP_S = 1.0  # between two samples; a longer one is told

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_SECTOR_BYTES = 512
_NS_PER_S = 1e9
_REFAULTS = "workingset_refault"  # older kernels have one line, newer ones one for files
_CORE_DELAY_FIELD = 8  # of the line of a core in /proc/schedstat; its name is field 0

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


class Sampler:
    """Takes a sample every INTERVAL_S in its own thread, while the block is active.

    The pause is longer where a sample costs so much that MOST_SHARE would be exceeded.
    """

    def __init__(
        self,
        process_ids: dict[str, int],
        interface: str = "",
        group: ControlGroup | None = None,
        memory_of: Collection[str] = (),
    ):
        """interface is that of the link to the load generator; "" if it has none but loopback.
        group is that of the program that serves files, if it has one. memory_of are the components
        of which the PSS is read too: see server_memory.py. A sample has it only if it was read
        after the sample before.
        """
        self._process_ids = process_ids
        self._memory_of = memory_of
        self._memory = ServerMemory(self._with_memory)
        self._tasks_at_start: Moment = {}
        self._past: Moment = {}  # what processes counted that others have replaced
        self._interface = interface
        self._group = group
        self._samples: list[Sample] = []
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler")

    def __enter__(self) -> Sampler:
        self._take()  # one sample must be older than the window
        self._memory.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_stopped.set()
        self._thread.join()
        self._memory.stop()
        self._take()

    def watch(self, component: str, pid: int) -> None:
        """Adds a process. Any thread may call it: it only replaces a dict."""
        self._process_ids = {**self._process_ids, component: pid}

    def replace(self, component: str, pid: int) -> None:
        """As watch(), in the place of a process that has ended: the counters go on from there."""
        last = next(
            (one.values for one in reversed(self._samples) if f"{component}.cpu_s" in one.values),
            {},
        )
        counted = {
            name: value
            for name, value in last.items()
            if name.startswith(f"{component}.") and not is_gauge(name)
        }
        self._past = {**self._past, **counted}
        self.watch(component, pid)

    def samples(self) -> list[Sample]:
        """In order of time. Requires: the sampler has stopped."""
        return self._samples

    def _run(self) -> None:
        """A moment that cannot be read, for want of a descriptor for example, has no sample.

        The first time without samples is told at once; usage.gaps() finds them all.
        """
        last_s, is_told, wait_s = time.monotonic(), False, INTERVAL_S
        while not self._is_stopped.wait(wait_s):
            now_s, cost_before_s = time.monotonic(), time.thread_time()
            if now_s - last_s - wait_s > MOST_GAP_S and not is_told:
                print(f"lab: no sample of the machine for {now_s - last_s:.1f} s", file=sys.stderr)
                is_told = True
            try:
                self._take()
            except OSError:
                continue
            last_s = now_s
            wait_s = interval_s(time.thread_time() - cost_before_s)

    def _with_memory(self) -> dict[str, int]:
        return {name: pid for name, pid in self._process_ids.items() if name in self._memory_of}

    def _take(self) -> None:
        values: Moment = {"lab.cpu_s": time.process_time()}
        for component, pid in self._process_ids.items():
            own = {f"{component}.{name}": value for name, value in read_process(pid).items()}
            values.update({name: value + self._past.get(name, 0.0) for name, value in own.items()})
        for read in (_read_cores, _read_run_queues, read_disks, _read_memory):
            values.update(read())
        values.update(self._read_tasks())
        values.update(_read_network(self._interface))
        values.update(_read_group(self._group))
        values.update(self._read_memory_of_servers())
        self._samples.append(Sample(time.time(), values))

    def _read_tasks(self) -> Moment:
        """How many there are on the host, and how many more than at the start."""
        tasks = read_tasks()
        self._tasks_at_start = self._tasks_at_start or tasks
        return {
            **{f"host.{name}": count for name, count in tasks.items()},
            **{f"host.added_{name}": n - self._tasks_at_start[name] for name, n in tasks.items()},
        }

    def _read_memory_of_servers(self) -> Moment:
        found = self._memory.found()
        values = {f"{name}.proportional_bytes": size for name, size in found.items()}
        cpu_s = self._memory.cpu_s
        return values if cpu_s is None else {**values, "lab.server_memory_cpu_s": cpu_s}


def interval_s(cost_s: float) -> float:
    """Until the next sample, when the last one used so much of a core."""
    return max(INTERVAL_S, cost_s / MOST_SHARE)


def is_gauge(name: str) -> bool:
    return name.endswith(_GAUGES)


def read_process(pid: int) -> Moment:
    """Counters of one process and its children, dead and alive; {} when it is gone.

    A server of the process model works in child processes. Its own record contains those that have
    ended and were reaped; the living ones are added here.
    """
    try:
        own = _read_stat(Path(f"/proc/{pid}/stat"))
        main_thread = _read_stat(Path(f"/proc/{pid}/task/{pid}/stat"))
        status = _read_fields(Path(f"/proc/{pid}/io"))
        sizes = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    values = {
        "cpu_s": own.cpu_s + own.reaped_children_s,
        "main_thread_s": main_thread.cpu_s,
        **_run_queue_delay(pid),
        "minor_faults": own.minor_faults,
        "major_faults": own.major_faults,
        "read_bytes": status.get("read_bytes", 0),
        "write_bytes": status.get("write_bytes", 0),
        "resident_bytes": own.resident_bytes,
        "virtual_bytes": int(sizes[0]) * _PAGE_BYTES,
        "text_bytes": int(sizes[3]) * _PAGE_BYTES,
        "data_bytes": int(sizes[5]) * _PAGE_BYTES,
        "processes": 1,
        "threads": own.threads,
    }
    for child in _living_children(pid):
        try:
            stat = _read_stat(Path(f"/proc/{child}/stat"))
        except (FileNotFoundError, ProcessLookupError):
            continue
        values["cpu_s"] += _exact_cpu_s(child, stat) + stat.reaped_children_s
        values["resident_bytes"] += stat.resident_bytes
        values["processes"] += 1
        values["threads"] += stat.threads
    return values


def _run_queue_delay(pid: int) -> Moment:
    """How long the first thread was ready to run and had no core; {} if the kernel does not count.

    Other threads are left out. Reading those of thousands of connections would cost too much, and
    the delays of a thread that has ended are gone.
    """
    try:
        delay_ns = Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {"main_thread_delay_s": int(delay_ns) / _NS_PER_S}


@dataclass(frozen=True)
class _Stat:
    cpu_s: float
    reaped_children_s: float
    minor_faults: int
    major_faults: int
    resident_bytes: int
    threads: int


def _read_stat(path: Path) -> _Stat:
    fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    # fields[0] is the third field of proc(5), so that field n of the manual is fields[n - 3]
    return _Stat(
        (int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
        (int(fields[13]) + int(fields[14])) / _TICKS_PER_S,
        int(fields[7]) + int(fields[8]),
        int(fields[9]) + int(fields[10]),
        int(fields[21]) * _PAGE_BYTES,
        int(fields[17]),
    )


def _exact_cpu_s(pid: str, stat: _Stat) -> float:
    """stat has whole ticks, and thousands of idle sessions with less than one are not nothing.

    What the scheduler says is exact, but only of one thread.
    """
    if stat.threads != 1:
        return stat.cpu_s
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except (OSError, IndexError):
        return stat.cpu_s  # it has ended, or this kernel does not count


def _living_children(pid: int) -> list[str]:
    """All below it. In every server that the lab knows, it is the main thread that forks."""
    found: list[str] = []
    parents = [str(pid)]
    for parent in parents:  # grows while it is read
        try:
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents += children.split()
        found += children.split()
    return found


def _read_fields(path: Path) -> dict[str, int]:
    lines = path.read_text(encoding="ascii").splitlines()
    return {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}


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


def _read_group(group: ControlGroup | None) -> Moment:
    """The peak is that since the servers were started. What a kernel does not say is left out."""
    if group is None:
        return {}
    usage = group.usage()
    values = {
        "group.used_bytes": usage.memory_bytes,
        "group.peak_bytes": usage.peak_memory_bytes,
        "group.cached_bytes": usage.page_cache_bytes,
        "group.refaults": usage.refaults,
        "group.throttled_s": usage.throttled_s,
    }
    return {name: value for name, value in values.items() if value is not None}
