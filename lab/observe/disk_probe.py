"""What the disk of the work folder can do: bytes and requests per second, with several under way.

The kernel calls a disk busy while it has at least one request. A disk that works at many requests
at once is then "busy" all the time, long before it is full. So a run's use of the disk is compared
with what the disk did here before and after all runs, as the network is with iperf3. What it can do
changes: others use it too, and that of a virtual machine may be faster for a while. Where these
figures differ, none of them is believed alone, see marks().
"""

import math
import mmap
import os
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from rig.errors import Failed

from .moment import Moment
from .proc_host import read_disks
from .usage import DiskUsage, Usage

_FILE_BYTES = 128 << 20
_LARGE_BYTES, _SMALL_BYTES = 1 << 20, 4096
_UNDER_WAY = 16
_TRIES = 3
_LEAST_S = 2.0  # of a run that shows what the disk can do
_QUANTILE = 0.95
_MOST_APART = 1.3  # figures of one disk that are further apart contradict each other


@dataclass(frozen=True, kw_only=True)
class DiskProbe:
    """What the disk did of each kind, as its own counters tell it."""

    disk: str
    read_bytes_per_s: float
    write_bytes_per_s: float
    reads_per_s: float  # of 4 KiB
    writes_per_s: float  # of 4 KiB, each on the disk before the next of its thread

    def share(self, disk: DiskUsage) -> float:
        """How much of what the disk can do was used, 0 … 1, in bytes or in requests. While a disk
        has no request, it is not used.
        """
        read = disk.read_bytes_per_s / self.read_bytes_per_s
        written = disk.write_bytes_per_s / self.write_bytes_per_s
        requests = (disk.reads_per_s or 0.0) / self.reads_per_s
        requests += (disk.writes_per_s or 0.0) / self.writes_per_s
        return min(1.0, disk.busy, max(read + written, requests))


_COUNTERS = [field.name for field in fields(DiskProbe) if field.name != "disk"]


def marks(probes: Sequence[DiskProbe], runs: Iterable[tuple[float, Usage]]) -> list[DiskProbe]:
    """What may be all that the disk can do: the most of each kind that it was seen to do. If a
    probe says less, that one comes first. runs are how many seconds each took, and what was used.

    Requires: there is a probe.
    """
    disk = probes[0].disk
    long = [usage.disks[disk] for s, usage in runs if s >= _LEAST_S and disk in usage.disks]
    least = {name: min(getattr(one, name) for one in probes) for name in _COUNTERS}
    most = {
        name: max(
            *(getattr(one, name) for one in probes),
            _high([getattr(one, name) or 0.0 for one in long]),
        )
        for name in _COUNTERS
    }
    agree = all(most[name] <= _MOST_APART * least[name] for name in _COUNTERS)
    return [DiskProbe(disk=disk, **found) for found in ([most] if agree else [least, most])]


def _high(values: list[float]) -> float:
    """The largest, but for one in twenty of those that are over half of it: a maximum of more runs
    is larger.
    """
    upper = sorted(value for value in values if 2 * value > max(values))
    return upper[math.ceil(_QUANTILE * len(upper)) - 1] if upper else 0.0


def calibrated(usage: Usage, mark: DiskProbe) -> Usage:
    """The same, in which `busy` of the probed disk is the share of what it can do."""
    if mark.disk not in usage.disks:
        return usage
    disk = usage.disks[mark.disk]
    return replace(usage, disks={**usage.disks, mark.disk: replace(disk, busy=mark.share(disk))})


def measure(folder: Path, seconds: float) -> DiskProbe:
    """The median of three tries of each kind. Takes twelve times as long, and some time to write a
    file. Failed when it cannot be done.
    """
    path = folder / "disk-probe"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
    except OSError as error:
        raise Failed(f"the disk was not probed: {path}: {error.strerror}") from error
    try:
        _fill(descriptor)
        steps: dict[str, Callable[[mmap.mmap, int], object]] = {
            "read_bytes": lambda block, at: os.preadv(descriptor, [block], at),
            "write_bytes": lambda block, at: os.pwritev(descriptor, [block], at),
            "reads": lambda block, at: os.preadv(descriptor, [block], at),
            "writes": lambda block, at: _write_through(descriptor, block, at),
        }
        tries = [
            {
                counter: _rates(step, _LARGE_BYTES if "bytes" in counter else _SMALL_BYTES, seconds)
                for counter, step in steps.items()
            }
            for _ in range(_TRIES)
        ]
    except OSError as error:
        raise Failed(f"the disk was not probed: {path}: {error.strerror}") from error
    finally:
        os.close(descriptor)
        path.unlink()
    return _probe(tries)


def _probe(tries: list[dict[str, Moment]]) -> DiskProbe:
    """The disk behind the folder is the one that had most to do."""
    rates = tries[0]
    names = {name.split(".")[1] for name in rates["read_bytes"]}
    if not names:
        raise Failed("the disk was not probed: no disk is in /proc/diskstats")
    disk = max(names, key=lambda name: rates["write_bytes"].get(f"disk.{name}.write_bytes", 0.0))
    found = {
        counter: statistics.median(one[counter][f"disk.{disk}.{counter}"] for one in tries)
        for counter in rates
    }
    if not all(found.values()):
        raise Failed("the disk was not probed: the work folder is on none of /proc/diskstats")
    return DiskProbe(
        disk=disk,
        read_bytes_per_s=found["read_bytes"],
        write_bytes_per_s=found["write_bytes"],
        reads_per_s=found["reads"],
        writes_per_s=found["writes"],
    )


def _fill(descriptor: int) -> None:
    with mmap.mmap(-1, _LARGE_BYTES) as block:
        block.write(os.urandom(_LARGE_BYTES))
        for at in range(0, _FILE_BYTES, _LARGE_BYTES):
            os.pwritev(descriptor, [block], at)
    os.fsync(descriptor)


def _write_through(descriptor: int, block: mmap.mmap, at: int) -> None:
    os.pwritev(descriptor, [block], at)
    os.fdatasync(descriptor)


def _rates(step: Callable[[mmap.mmap, int], object], block_bytes: int, seconds: float) -> Moment:
    """The rates of all counters of disks while threads repeat the step at random places."""
    end = time.monotonic() + seconds
    errors: list[OSError] = []

    def repeat() -> None:
        with mmap.mmap(-1, block_bytes) as block:
            block.write(os.urandom(block_bytes))
            try:
                while time.monotonic() < end:
                    step(block, random.randrange(_FILE_BYTES // block_bytes) * block_bytes)
            except OSError as error:
                errors.append(error)

    threads = [threading.Thread(target=repeat) for _ in range(_UNDER_WAY)]
    before, started = read_disks(), time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after, took = read_disks(), time.monotonic() - started
    if errors:
        raise errors[0]
    return {name: (value - before.get(name, 0.0)) / took for name, value in after.items()}
