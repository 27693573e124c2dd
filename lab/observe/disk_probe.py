"""What the disk of the work folder can do: bytes and requests per second, with several under way.

The kernel calls a disk busy while it has at least one request. A disk that works at many requests
at once is then "busy" all the time, long before it is full. So a run's use of the disk is compared
with what the disk did here, as the network is with iperf3.
"""

from __future__ import annotations

import mmap
import os
import random
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path

from rig.errors import Failed

from .moment import Moment
from .proc_host import read_disks
from .usage import DiskUsage, Usage

_FILE_BYTES = 128 << 20
_LARGE_BYTES, _SMALL_BYTES = 1 << 20, 4096
_UNDER_WAY = 16


@dataclass(frozen=True, kw_only=True)
class DiskProbe:
    """The most of each kind that the disk did, as its own counters tell it."""

    disk: str
    read_bytes_per_s: float
    write_bytes_per_s: float
    reads_per_s: float  # of 4 KiB
    writes_per_s: float  # of 4 KiB, each on the disk before the next of its thread

    def or_more(self, usages: Iterable[Usage]) -> DiskProbe:
        """With what the disk did in one of these, where that is more."""
        disks = [usage.disks[self.disk] for usage in usages if self.disk in usage.disks]
        return replace(
            self,
            **{
                field.name: max(
                    [getattr(self, field.name)]
                    + [getattr(disk, field.name) or 0.0 for disk in disks]
                )
                for field in fields(self)
                if field.name != "disk"
            },
        )

    def share(self, disk: DiskUsage) -> float:
        """How much of what the disk can do was used, 0 … 1, in bytes or in requests."""
        read = disk.read_bytes_per_s / self.read_bytes_per_s
        written = disk.write_bytes_per_s / self.write_bytes_per_s
        requests = (disk.reads_per_s or 0.0) / self.reads_per_s
        requests += (disk.writes_per_s or 0.0) / self.writes_per_s
        return min(1.0, max(read + written, requests))


def calibrated(usage: Usage, probe: DiskProbe | None) -> Usage:
    """The same, in which `busy` of the probed disk is the share of what it can do."""
    if not probe or probe.disk not in usage.disks:
        return usage
    disk = usage.disks[probe.disk]
    return replace(usage, disks={**usage.disks, probe.disk: replace(disk, busy=probe.share(disk))})


def measure(folder: Path, seconds: float) -> DiskProbe:
    """Takes four times as long, and some time to write a file. Failed when it cannot be done."""
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
        rates = {
            counter: _rates(step, _LARGE_BYTES if "bytes" in counter else _SMALL_BYTES, seconds)
            for counter, step in steps.items()
        }
    except OSError as error:
        raise Failed(f"the disk was not probed: {path}: {error.strerror}") from error
    finally:
        os.close(descriptor)
        path.unlink()
    return _probe(rates)


def _probe(rates: dict[str, Moment]) -> DiskProbe:
    """The disk behind the folder is the one that had most to do."""
    names = {name.split(".")[1] for name in rates["read_bytes"]}
    if not names:
        raise Failed("the disk was not probed: no disk is in /proc/diskstats")
    disk = max(names, key=lambda name: rates["write_bytes"].get(f"disk.{name}.write_bytes", 0.0))
    found = {counter: rates[counter][f"disk.{disk}.{counter}"] for counter in rates}
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
