"""Samples the counters of processes, cores, disks, networks and memory in /proc."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Collection

from ..rig.control_group import ControlGroup
from .moment import INTERVAL_S, MOST_GAP_S, Moment, Sample, is_gauge
from .proc_host import read_host, read_tasks
from .proc_processes import read_process
from .server_memory import ServerMemory

MOST_SHARE = 0.2  # of a core, for sampling: a server may have thousands of processes


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
        values.update(read_host(self._interface))
        values.update(self._read_tasks())
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
