"""How many test files of each size a run uses, and how long it takes to make them."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from rig.files import present_count

from .catalog import NEW, Cell, Experiment, Size, Stage, sizes

_BLOCK_BYTES = 4096
_MOST_OF_FREE_DISK = 0.25  # that the files of one size may take
_MOST_OF_MEMORY = 0.25  # a prefetching fileserver holds one size's files at a time
_MAKE_BYTES_PER_S, _MAKE_FILES_PER_S = 250e6, 8000  # for estimates only, on the low side


def wanted_count(size: Size, mode_name: str, folder: Path) -> int:
    """How many files of this size a run uses: as the method says, or fewer on a small machine."""
    folder.mkdir(parents=True, exist_ok=True)
    on_disk = max(size.size_bytes, _BLOCK_BYTES)
    disk_bytes = shutil.disk_usage(folder).free + present_count(folder, size.name) * on_disk
    memory_bytes = _memory_bytes()
    fits = min(disk_bytes * _MOST_OF_FREE_DISK, memory_bytes * _MOST_OF_MEMORY) / on_disk
    return max(1, min(size.files[mode_name], int(fits)))


def of_cells(
    experiments: Sequence[Experiment], cells: Sequence[Cell], mode_name: str, folder: Path
) -> dict[str, int]:
    """How many there must be for all of them, by their sizes."""
    rows = {row for experiment in experiments for row in experiment.rows if row != NEW}
    many = {cell.row for cell in cells if not cell.kind.few_files}
    few = {cell.row: cell.kind.few_files for cell in cells if cell.kind.few_files}
    return {
        row: wanted_count(size, mode_name, folder) if row in many else few.get(row, 1)
        for row, size in sizes().items()
        if row in rows
    }


def most_files(stage: Stage, made: int) -> int:
    """How many of those that were made a stage may ask for: others may need more."""
    few = stage.connections or stage.cluster or stage.encryption
    return min(made, few.files) if few else made


def make_seconds(counts: Mapping[str, int], folder: Path) -> float:
    """Estimates how long it takes to make the files that are missing."""
    return sum(
        max(0, count - present_count(folder, name))
        * (sizes()[name].size_bytes / _MAKE_BYTES_PER_S + 1 / _MAKE_FILES_PER_S)
        for name, count in counts.items()
    )


def _memory_bytes() -> int:
    with open("/proc/meminfo", encoding="ascii") as meminfo:
        return int(meminfo.readline().split()[1]) * 1024
