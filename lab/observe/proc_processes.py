"""Reads the counters of a process, with all that it started, in /proc."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from .moment import Moment

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_NS_PER_S = 1e9
_SWITCHES = re.compile(r"voluntary_ctxt_switches:\s+(\d+)")  # and nonvoluntary ones


def read_process(pid: int) -> Moment:
    """Counters of one process and its children, dead and alive; {} when it is gone.

    A server of the process model works in child processes. Its own record contains those that have
    ended and were reaped; the living ones are added here.
    """
    try:
        own = _read_stat(f"/proc/{pid}/stat")
        main_thread = _read_stat(f"/proc/{pid}/task/{pid}/stat")
        status = _read_fields(f"/proc/{pid}/io")
        sizes = _text(f"/proc/{pid}/statm").split()
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
            stat = _read_stat(f"/proc/{child}/stat")
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
        delay_ns = _text(f"/proc/{pid}/schedstat").split()[1]
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


def _read_stat(path: str) -> _Stat:
    fields = _text(path).rpartition(")")[2].split()
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
        return int(_text(f"/proc/{pid}/schedstat").split()[0]) / 1e9
    except (OSError, IndexError):
        return stat.cpu_s  # it has ended, or this kernel does not count


@dataclass(frozen=True)
class Switched:
    """Context switches of a thread until this moment, voluntary ones and others."""

    time_s: float  # wall clock, as the load generator's window
    count: int


def context_switches(pid: int) -> dict[str, Switched]:
    """By the id of the thread, of a process and of its living children.

    On full cores it takes long to read thousands of threads, so each has a moment of its own.
    """
    found = {}
    for one in (str(pid), *_living_children(pid)):
        with suppress(FileNotFoundError, ProcessLookupError):
            for thread in os.listdir(f"/proc/{one}/task"):
                with suppress(FileNotFoundError, ProcessLookupError):
                    status = _text(f"/proc/{one}/task/{thread}/status")
                    count = sum(map(int, _SWITCHES.findall(status)))
                    found[thread] = Switched(time.time(), count)
    return found


def has_more_than(count: int, pid: int) -> bool:
    """Whether it has so many living children, with theirs. It looks for no more than these."""
    return next(islice(_living_children(pid), count, None), None) is not None


def _living_children(pid: int) -> Iterator[str]:
    """All below it. In every server that the lab knows, it is the main thread that forks."""
    parents = [str(pid)]
    for parent in parents:  # grows while it is read
        try:
            children = _text(f"/proc/{parent}/task/{parent}/children")
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents += children.split()
        yield from children.split()


def _read_fields(path: str) -> dict[str, int]:
    lines = _text(path).splitlines()
    return {name: int(value) for name, _, value in (line.partition(": ") for line in lines)}


def _text(path: str) -> str:
    """Cheaper than by a Path; there may be thousands of processes."""
    with open(path, "rb", buffering=0) as file:
        return file.read().decode("ascii", errors="replace")
