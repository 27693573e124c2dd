"""The files that a fileserver serves: scripts/make-files makes them, a folder for each size."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .errors import Failed
from .processes import run_tool

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
DROP_CACHES = "/proc/sys/vm/drop_caches"


def make(folder: Path, sizes: Sequence[str], count: int, timeout_s: float = 600) -> None:
    """Makes `count` files of each size unless they are there. Failed if it cannot.

    The files of size 10KB are 10KB1.txt, 10KB2.txt and so on.
    """
    wanted = [f"--size={size}" for size in sizes]
    run_tool(
        [str(SCRIPTS / "make-files"), *wanted, f"--count={count}", f"--dir={folder}"],
        f"making {count} files of {', '.join(sizes)}",
        timeout_s,
    )


def present_count(folder: Path, size: str) -> int:
    """How many files there are with the numbers 1, 2, 3 … without a gap."""
    names = {path.name for path in (folder / size).glob("*.txt")}
    count = 0
    while f"{size}{count + 1}.txt" in names:
        count += 1
    return count


def filled(folder: Path, size: str, size_bytes: int, count: int) -> Path:
    """Makes missing files in folder/size, which it returns.

    Failed if one is missing or has a wrong size.
    """
    target = folder / size
    make(target, [size], count, timeout_s=3600)
    if (present := present_count(folder, size)) < count:
        raise Failed(f"{target} has {present} of {count} files")
    for number in (1, count):
        length = (target / f"{size}{number}.txt").stat().st_size
        if length != size_bytes:
            raise Failed(f"{size}{number}.txt has {length} bytes, not {size_bytes}")
    return target


def drop_caches(folder: Path) -> str:
    """Empties the kernel's caches and verifies it; returns what the script measured.

    Failed if that is not permitted or had no effect.
    """
    return run_tool(
        [str(SCRIPTS / "drop-caches"), "--probe-dir", str(folder)], "dropping caches"
    ).strip()


@contextmanager
def linked_folder(work: Path, source: Path, names: Sequence[str]) -> Iterator[Path]:
    """A folder in `work` with links to these files; it is removed when the block is left.

    Requires: both are on one file system.
    """
    made = work / "linked"
    shutil.rmtree(made, ignore_errors=True)  # of a lab that was killed
    made.mkdir(parents=True)
    try:
        for name in names:
            os.link(source / name, made / name)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
