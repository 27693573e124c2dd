"""What all processes of a control group use: a few small files, however many they are.

control_group.py says what a group is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ACCOUNTS = "cpuacct"  # a controller of version 1 that only counts
_US_PER_S, _NS_PER_S = 1e6, 1e9


@dataclass(frozen=True, kw_only=True)
class GroupUsage:
    """None: this kernel does not say."""

    memory_bytes: int | None
    peak_memory_bytes: int | None
    page_cache_bytes: int | None
    mapped_bytes: int | None  # the part of the page cache that programs have mapped, as their code
    refaults: int | None  # pages that were read again soon after they had been dropped
    throttled_s: float | None  # time in which the group had to wait for its share of the cores
    cpu_s: float | None  # of all its processes, those that have ended too
    oom_kills: int | None  # processes that the kernel ended for want of memory

    @property
    def own_bytes(self) -> int | None:
        """Memory without page cache, of the programs and of the kernel for them."""
        if self.memory_bytes is None or self.page_cache_bytes is None:
            return None
        return self.memory_bytes - self.page_cache_bytes


@dataclass(frozen=True)
class _Names:
    memory: str
    peak_memory: str
    page_cache: str
    mapped: str
    throttled: str
    throttled_per_s: float
    memory_events: str


_NAMES_1 = _Names(
    "memory.usage_in_bytes",
    "memory.max_usage_in_bytes",
    "total_cache",
    "total_mapped_file",
    "throttled_time",
    _NS_PER_S,
    "memory.oom_control",
)
_NAMES_2 = _Names(
    "memory.current",
    "memory.peak",
    "file",
    "file_mapped",
    "throttled_usec",
    _US_PER_S,
    "memory.events",
)


def of_folders(folders: Mapping[str, Path], is_unified: bool) -> GroupUsage:
    """folders are those of the group, by their controllers."""
    memory = folders["memory"]
    names = _NAMES_2 if is_unified else _NAMES_1
    stat = numbers(memory / "memory.stat")
    refaults = [count for name, count in stat.items() if name.startswith("workingset_refault")]
    cpu = _cpu_stat(folders, is_unified)
    throttled = cpu.get(names.throttled)
    return GroupUsage(
        memory_bytes=_number(memory / names.memory),
        peak_memory_bytes=_number(memory / names.peak_memory),
        page_cache_bytes=stat.get(names.page_cache),
        mapped_bytes=stat.get(names.mapped),
        refaults=sum(refaults) if refaults else None,
        throttled_s=None if throttled is None else throttled / names.throttled_per_s,
        cpu_s=_cpu_2(cpu) if is_unified else _cpu_1(folders),
        oom_kills=numbers(memory / names.memory_events).get("oom_kill"),
    )


def _cpu_stat(folders: Mapping[str, Path], is_unified: bool) -> dict[str, int]:
    """{} for a group of version 1 without a limit of cores; version 2 has a part of it even so."""
    folder = folders["memory"] if is_unified else folders.get("cpu")
    return numbers(folder / "cpu.stat") if folder else {}


def _cpu_1(folders: Mapping[str, Path]) -> float | None:
    folder = folders.get(ACCOUNTS)
    used_ns = _number(folder / "cpuacct.usage") if folder else None
    return None if used_ns is None else used_ns / _NS_PER_S


def _cpu_2(stat: Mapping[str, int]) -> float | None:
    used_us = stat.get("usage_usec")
    return None if used_us is None else used_us / _US_PER_S


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return None


def numbers(path: Path) -> dict[str, int]:
    """{} when there is no such file."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return {}
    return {name: int(value) for name, _, value in (line.partition(" ") for line in lines)}
