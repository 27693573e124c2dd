"""Control groups: a part of the machine for a program and for all that it starts.

Both versions are supported. Version 1 has a hierarchy of folders for each controller, version 2
has one hierarchy for all. A group of version 1 lies below the lab's own group, so that no limit
that already holds is lost. One of version 2 lies at the top, because a group with processes may
not have limited groups below it.

The scheduler shares the cores between groups, whatever number of programs each has. So a group of
version 1 without a limit of cores has no part in the controller of cores.
"""

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from . import group_usage
from .errors import Failed
from .group_usage import ACCOUNTS, GroupUsage

_PERIOD_S = 0.1  # in which a group gets its share of the cores
_NAME = "turnstile-lab"
_NUMBERS = itertools.count(1)
_TIMEOUT_S = 10.0
_ALWAYS = ("memory", "freezer")  # for usage() and freeze(), even without a limit
_WAITING_BYTES = 8 << 20  # beyond the limit of a page cache, for what waits for room
_ENTER = 'while [ "$1" != -- ]; do echo $$ >"$1" || exit 1; shift; done; shift; exec "$@"'


@dataclass(frozen=True, kw_only=True)
class Limits:
    """None: no limit."""

    memory_bytes: int | None = None  # page cache and socket buffers count too; there is no swap
    cache_bytes: int | None = None  # memory beyond that of the idle programs, see limit_cache()
    cores: float | None = None  # CPU time per time; 0.1 is a tenth of a core
    period_s: float = _PERIOD_S  # in which it gets that; what is not used in it is lost
    read_bytes_per_s: float | None = None  # from the disk below a folder
    processes: int | None = None  # threads count too


@dataclass(frozen=True, kw_only=True)
class Hierarchies:
    """Where this kernel shows its groups. A test has folders of its own instead."""

    root: Path = Path("/sys/fs/cgroup")
    own: Path = Path("/proc/self/cgroup")

    @property
    def is_unified(self) -> bool:
        return (self.root / "cgroup.controllers").exists()

    def parent(self, controller: str) -> Path:
        """The folder below which a group is made. A container may not see its own group."""
        if self.is_unified:
            return self.root
        for line in self.own.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            inside = self.root / controller / path.lstrip("/")
            if controller in controllers.split(",") and inside.is_dir():
                return inside
        return self.root / controller


@dataclass(frozen=True, kw_only=True)
class ControlGroup:
    """Its folder for each controller; with version 2 the same folder for all."""

    folders: dict[str, Path] = field(default_factory=dict)
    is_unified: bool = False
    limits: Limits = Limits()

    @property
    def prefix(self) -> list[str]:
        """Words before a command that put it into the group before it is executed.

        Nothing that it starts is ever outside. The process id stays the same.
        """
        files = dict.fromkeys(str(folder / "cgroup.procs") for folder in self.folders.values())
        return ["sh", "-c", _ENTER, "sh", *files, "--"]

    @property
    def to_freeze(self) -> Path:
        """The folder of the group for the controller that stops its processes."""
        return self.folders["freezer"]

    def freeze(self) -> None:
        """Returns when no process of the group runs. Failed when the kernel cannot do it in time.

        A frozen process ends only after thaw(), whatever signal it gets.
        """
        self._set_frozen(True)
        deadline = time.monotonic() + _TIMEOUT_S
        while not self._is_frozen():
            if time.monotonic() > deadline:
                self.thaw()
                raise Failed(f"a control group did not freeze within {_TIMEOUT_S:.0f} s")
            time.sleep(0.001)

    def thaw(self) -> None:
        """Lets all go on. Does nothing to a group that is not frozen."""
        self._set_frozen(False)

    def limit_cache(self) -> None:
        """Limits memory to what the programs use now and cache_bytes; without those does nothing.

        Page cache that no program has mapped is not in use. So a server of today gets the page
        cache of an old machine, whatever it needs itself. Where it is short, the programs wait,
        and none is killed: pages that are being read cannot be given up at once. Requires: the
        programs are ready and idle. What a session takes later comes out of the cache, as it did on
        the old machine.
        Failed when the kernel refuses the limit.
        """
        if self.limits.cache_bytes is None:
            return
        used = self.usage()
        idle_bytes = (used.memory_bytes or 0) - (used.page_cache_bytes or 0)
        idle_bytes += used.mapped_bytes or 0
        most = idle_bytes + self.limits.cache_bytes
        try:
            _write(self.folders["memory"], _cache(most, self.is_unified))
        except OSError as error:
            raise Failed(f"no limit of memory: {error.filename}: {error.strerror}") from error

    @property
    def oom_kills(self) -> int:
        """Its processes that the kernel ended at limits.memory_bytes; 0 without that limit."""
        return (self.usage().oom_kills or 0) if self.limits.memory_bytes else 0

    def why_killed(self) -> str:
        """ "" if the kernel ended none."""
        if not self.oom_kills:
            return ""
        limit = f"{(self.limits.memory_bytes or 0) / (1 << 20):,.0f} MiB"
        return f"the kernel ended the server at {limit} of memory (oom_kill {self.oom_kills})"

    def usage(self) -> GroupUsage:
        return group_usage.of_folders(self.folders, self.is_unified)

    def _set_frozen(self, is_frozen: bool) -> None:
        folder = self.to_freeze
        if self.is_unified:
            (folder / "cgroup.freeze").write_text("1" if is_frozen else "0")
        else:
            (folder / "freezer.state").write_text("FROZEN" if is_frozen else "THAWED")

    def _is_frozen(self) -> bool:
        folder = self.to_freeze
        if self.is_unified:
            return group_usage.numbers(folder / "cgroup.events").get("frozen") == 1
        return (folder / "freezer.state").read_text().strip() == "FROZEN"


@contextmanager
def limited(
    limits: Limits, work: Path, hierarchies: Hierarchies | None = None
) -> Iterator[ControlGroup]:
    """A new group. It is thawed and removed when the block is left.

    Its processes must have ended by then. work is a folder on the disk whose rate is limited.
    Failed when this user or this kernel cannot have such a group; then nothing of it is left.
    """
    hierarchies = hierarchies or Hierarchies()
    group = ControlGroup(is_unified=hierarchies.is_unified, limits=limits)
    try:
        _make(group, limits, work, hierarchies)
    except OSError as error:
        _remove(group.folders)
        raise Failed(f"no control group: {error.filename}: {error.strerror}") from error
    except BaseException:
        _remove(group.folders)
        raise
    try:
        yield group
    finally:
        group.thaw()
        _remove(group.folders)


def remove_leftovers(hierarchies: Hierarchies | None = None) -> None:
    """Removes the groups of killed labs that ran in the same group as this one.

    A group with processes stays, but is thawed, so that they can end.
    """
    hierarchies = hierarchies or Hierarchies()
    for controller in ("freezer", "memory", "cpu", ACCOUNTS, "blkio", "pids"):
        for folder in hierarchies.parent(controller).glob(f"{_NAME}-*-*"):
            maker = folder.name.split("-")[-2]
            if Path(f"/proc/{maker}").exists():
                continue
            with contextlib.suppress(OSError):
                if controller == "freezer":
                    left: dict[str, Path] = {"freezer": folder}
                    ControlGroup(folders=left, is_unified=hierarchies.is_unified).thaw()
                folder.rmdir()


def _make(group: ControlGroup, limits: Limits, work: Path, hierarchies: Hierarchies) -> None:
    """Fills group.folders one by one, so that the caller can remove what there is."""
    values = _values_2(limits, work) if group.is_unified else _values_1(limits, work)
    name = f"{_NAME}-{os.getpid()}-{next(_NUMBERS)}"
    accounts = [ACCOUNTS] if _can_count(hierarchies, has_cores="cpu" in values) else []
    for controller in dict.fromkeys((*_ALWAYS, *values, *accounts)):
        parent = hierarchies.parent(controller).resolve()
        if group.is_unified and controller != "freezer":
            (parent / "cgroup.subtree_control").write_text(f"+{controller}")
        folder = parent / name
        if folder not in group.folders.values():
            folder.mkdir()
        group.folders[controller] = folder
        _write(folder, values.get(controller, {}))


def _can_count(hierarchies: Hierarchies, has_cores: bool) -> bool:
    """Version 2 counts without a controller for it. With version 1, that often shares a hierarchy
    with the controller of cores. Then it counts only in a group that has a limit of cores.
    """
    if hierarchies.is_unified or not hierarchies.parent(ACCOUNTS).is_dir():
        return False
    cores = hierarchies.parent("cpu").resolve()
    return has_cores or hierarchies.parent(ACCOUNTS).resolve() != cores


def _write(folder: Path, values: dict[str, str]) -> None:
    for file, value in values.items():
        if file not in _OPTIONAL or (folder / file).exists():
            (folder / file).write_text(value)


_OPTIONAL = ("memory.memsw.limit_in_bytes", "memory.swap.max")  # no file: a kernel without swap


def _values_1(limits: Limits, work: Path) -> dict[str, dict[str, str]]:
    values: dict[str, dict[str, str]] = {}
    if limits.memory_bytes is not None:
        values["memory"] = _memory(limits.memory_bytes, is_unified=False)
    if limits.cores is not None:
        quota, period = _share(limits.cores, limits.period_s)
        values["cpu"] = {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota}
    if limits.read_bytes_per_s is not None:
        rate = f"{_disk_below(work)} {round(limits.read_bytes_per_s)}"
        values["blkio"] = {"blkio.throttle.read_bps_device": rate}
    if limits.processes is not None:
        values["pids"] = {"pids.max": str(limits.processes)}
    return values


def _values_2(limits: Limits, work: Path) -> dict[str, dict[str, str]]:
    values: dict[str, dict[str, str]] = {}
    if limits.memory_bytes is not None:
        values["memory"] = _memory(limits.memory_bytes, is_unified=True)
    if limits.cores is not None:
        values["cpu"] = {"cpu.max": " ".join(_share(limits.cores, limits.period_s))}
    if limits.read_bytes_per_s is not None:
        rate = f"{_disk_below(work)} rbps={round(limits.read_bytes_per_s)}"
        values["io"] = {"io.max": rate}
    if limits.processes is not None:
        values["pids"] = {"pids.max": str(limits.processes)}
    return values


def _share(cores: float, period_s: float) -> tuple[str, str]:
    """Of each period so much, both in µs."""
    period_us = round(1e6 * period_s)
    return str(round(cores * period_us)), str(period_us)


def _memory(most_bytes: int, is_unified: bool) -> dict[str, str]:
    if is_unified:
        return {"memory.max": str(most_bytes), "memory.swap.max": "0"}
    return {
        "memory.limit_in_bytes": str(most_bytes),
        "memory.memsw.limit_in_bytes": str(most_bytes),  # with swap; so none is left for swap
    }


def _cache(most_bytes: int, is_unified: bool) -> dict[str, str]:
    """A limit at which the programs wait until there is room again."""
    if is_unified:
        slack = str(most_bytes + _WAITING_BYTES)
        return {"memory.max": slack, "memory.high": str(most_bytes), "memory.swap.max": "0"}
    return {**_memory(most_bytes, is_unified), "memory.oom_control": "1"}


def _disk_below(folder: Path) -> str:
    """MAJOR:MINOR of the whole disk. Failed for a folder in memory or on the network."""
    device = folder.stat().st_dev
    name = f"{os.major(device)}:{os.minor(device)}"
    entry = Path("/sys/dev/block") / name
    if not entry.exists():
        raise Failed(f"no control group: {folder} is not on a disk whose rate can be limited")
    if (entry / "partition").exists():
        return (entry.resolve().parent / "dev").read_text(encoding="ascii").strip()
    return name


def _remove(folders: dict[str, Path]) -> None:
    """The kernel lets go of an ended process some time after its parent has heard of it."""
    deadline = time.monotonic() + _TIMEOUT_S
    for folder in dict.fromkeys(folders.values()):
        while True:
            try:
                folder.rmdir()
            except OSError as error:
                if error.errno == errno.EBUSY and time.monotonic() < deadline:
                    time.sleep(0.01)
                    continue
            break
