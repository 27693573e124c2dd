"""The files that `get` asks for: a folder for each size, filled once by scripts/make-files."""

from __future__ import annotations

from pathlib import Path

from ..plan.catalog import Size
from ..plan.file_counts import present_count
from ..rig import files
from ..rig.errors import Failed
from ..rig.processes import run_tool

DROP_CACHES = "/proc/sys/vm/drop_caches"


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
