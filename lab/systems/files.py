"""The files that `get` asks for: a folder for each size, filled once by scripts/make-files."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..plan.catalog import Size
from ..rig import files
from ..rig.errors import Failed
from ..rig.processes import run_tool

DROP_CACHES = "/proc/sys/vm/drop_caches"

_BLOCK_BYTES = 4096
_MOST_OF_FREE_DISK = 0.25  # that the files of one size may take
_MOST_OF_MEMORY = 0.25  # a prefetching fileserver holds one size's files at a time
_MAKE_BYTES_PER_S, _MAKE_FILES_PER_S = 250e6, 8000  # for estimates only, on the low side


def wanted_count(size: Size, mode_name: str, folder: Path) -> int:
    """How many files of this size a run uses: as the method says, or fewer on a small machine."""
    folder.mkdir(parents=True, exist_ok=True)
    on_disk = max(size.size_bytes, _BLOCK_BYTES)
    disk_bytes = shutil.disk_usage(folder).free + present_count(size, folder) * on_disk
    memory_bytes = _memory_bytes()
    fits = min(disk_bytes * _MOST_OF_FREE_DISK, memory_bytes * _MOST_OF_MEMORY) / on_disk
    return max(1, min(size.files[mode_name], int(fits)))


def present_count(size: Size, folder: Path) -> int:
    """How many files there are with the numbers 1, 2, 3 … without a gap."""
    names = {path.name for path in (folder / size.name).glob("*.txt")}
    count = 0
    while f"{size.name}{count + 1}.txt" in names:
        count += 1
    return count


def make_seconds(size: Size, count: int, folder: Path) -> float:
    """Estimates how long make() will take."""
    missing = max(0, count - present_count(size, folder))
    return missing * (size.size_bytes / _MAKE_BYTES_PER_S + 1 / _MAKE_FILES_PER_S)


def make(size: Size, count: int, folder: Path) -> Path:
    """Makes missing files; returns the folder. Failed if one is missing or has a wrong size."""
    target = folder / size.name
    files.make(target, [size.name], count, timeout_s=3600)
    if present_count(size, folder) < count:
        raise Failed(f"{target} has {present_count(size, folder)} of {count} files")
    for number in (1, count):
        length = (target / f"{size.name}{number}.txt").stat().st_size
        if length != size.size_bytes:
            raise Failed(f"{size.name}{number}.txt has {length} bytes, not {size.size_bytes}")
    return target


def drop_caches(folder: Path) -> str:
    """Empties the kernel's caches and verifies it; returns what the script measured.

    Failed if that is not permitted or had no effect.
    """
    return run_tool(
        [str(files.SCRIPTS / "drop-caches"), "--probe-dir", str(folder)], "dropping caches"
    ).strip()


def _memory_bytes() -> int:
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        return int(meminfo.readline().split()[1]) * 1024
