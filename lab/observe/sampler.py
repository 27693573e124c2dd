"""Samples the counters of processes, cores, disks, networks and memory in /proc."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Mapping
from contextlib import suppress

from rig.control_group import ControlGroup

from .moment import INTERVAL_S, MOST_GAP_S, Moment, Sample
from .proc_host import read_host, read_tasks
from .proc_processes import read_process
from .process_trees import ProcessTrees
from .rounds import Rounds
from .server_memory import ServerMemory

MOST_SHARE = 0.05  # of a core, for samples; process_trees.py and server_memory.py have their own


class Sampler:
    """Takes a sample every INTERVAL_S in its own thread, while the block is active.

    They are further apart where one costs so much that MOST_SHARE would be exceeded. Components
    with many processes delay no sample; see process_trees.py.
    """

    def __init__(
        self,
        process_ids: Mapping[str, int],
        interface: str = "",
        group: ControlGroup | None = None,
        memory_of: Collection[str] = (),
        helpers: Collection[int] = (),
    ):
        """interface is that of the link to the load generator; "" if it has none but loopback.
        group is that of the program that serves files, if it has one. memory_of are the components
        of which the PSS is read too: see server_memory.py. A sample has it only if it was read
        after the sample before. helpers are processes of the lab, whose CPU is the lab's.
        """
        self._trees = ProcessTrees(process_ids)
        self._memory_of = memory_of
        self._helpers = helpers
        self._memory = ServerMemory(self._with_memory)
        self._tasks_at_start: Moment = {}
        self._interface = interface
        self._group = group
        self._samples: list[Sample] = []
        self._last_s = 0.0
        self._is_gap_told = False
        self._rounds = Rounds("sampler", self._take_or_tell, interval_s)

    def __enter__(self) -> Sampler:
        self._trees.read_many()
        self._take()  # one sample must be older than the window
        self._last_s = time.monotonic()
        self._memory.start()
        self._trees.start()
        self._rounds.start(INTERVAL_S)
        return self

    def __exit__(self, *_: object) -> None:
        for reading in (self._trees, self._memory, self._rounds):
            reading.stop()  # which may take long for the first two
        self._take()
        self._trees.read_many()
        self._samples = self._trees.completed(self._samples)

    def watch(self, component: str, pid: int) -> None:
        """Adds a process. Any thread may call it."""
        self._trees.watch(component, pid)

    def replace(self, component: str, pid: int) -> None:
        """As watch(), in the place of a process that has ended: the counters go on from there."""
        self._trees.replace(component, pid)

    def samples(self) -> list[Sample]:
        """In order of time. Requires: the sampler has stopped."""
        return self._samples

    def _take_or_tell(self) -> None:
        """A moment that cannot be read, for want of a descriptor for example, has no sample.

        The first time without samples is told at once; usage.gaps() finds them all.
        """
        now_s = time.monotonic()
        if now_s - self._last_s > MOST_GAP_S and not self._is_gap_told:
            print(
                f"lab: no sample of the machine for {now_s - self._last_s:.1f} s", file=sys.stderr
            )
            self._is_gap_told = True
        with suppress(OSError):
            self._take()
            self._last_s = now_s

    def _with_memory(self) -> dict[str, int]:
        watched = self._trees.process_ids()
        return {name: pid for name, pid in watched.items() if name in self._memory_of}

    def _take(self) -> None:
        helped_s = sum(read_process(pid).get("cpu_s", 0.0) for pid in self._helpers)
        values: Moment = {"lab.cpu_s": time.process_time() + helped_s}
        values.update(self._trees.read_few())
        time_s = time.time()  # whatever waits for a core below, the cores themselves are next
        values.update(read_host(self._interface))
        values.update(self._read_tasks())
        values.update(_read_group(self._group))
        values.update(self._read_memory_of_servers())
        self._samples.append(Sample(time_s, values))

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
    """From one sample that used so much of a core to the next."""
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
        "group.cpu_s": usage.cpu_s,
        "group.oom_kills": usage.oom_kills,
    }
    return {name: value for name, value in values.items() if value is not None}
