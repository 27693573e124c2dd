"""How many more threads, or processes, can be started on this host, and what says so."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_KERNEL = ("threads-max", "pid_max")


@dataclass(frozen=True, order=True)
class Room:
    """`limit` is the name of the setting that leaves so little room, with its value."""

    count: int
    limit: str


def smallest(root: Path = Path("/")) -> Room:
    """By the limits of the system, of the control groups and, unless it is root, of the user.

    Of the last it is not known what other processes have taken.
    """
    return min([*_of_system(root), *_of_groups(root), *_of_user()], default=Room(1 << 40, "none"))


def _of_system(root: Path) -> Iterator[Room]:
    load = _text(root / "proc/loadavg").split()
    used = int(load[3].partition("/")[2]) if len(load) > 3 else 0
    for name in _KERNEL:
        yield from _room(f"kernel.{name}", _text(root / "proc/sys/kernel" / name), used)


def _of_groups(root: Path) -> Iterator[Room]:
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers and "pids" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("pids" if controllers else "")
        own = mount / group.lstrip("/")
        for folder in (own, *own.parents):
            if folder.is_relative_to(mount):
                used = _text(folder / "pids.current").strip() or "0"
                name = "pids.max of the control group"
                yield from _room(name, _text(folder / "pids.max"), int(used))


def _of_user() -> Iterator[Room]:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() != 0 and soft != resource.RLIM_INFINITY:
        yield Room(soft, f"ulimit -u is {soft}")


def _room(name: str, limit: str, used: int) -> Iterator[Room]:
    if limit.strip().isdigit():
        yield Room(max(0, int(limit) - used), f"{name} is {limit.strip()}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
