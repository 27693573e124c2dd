"""A folder for each host: all files under the same names, its own ones first.

A prefetching fileserver reads files in the order of their names until no further one fits, and
drops none. So each host has its own files as they are, and the others in a folder whose name comes
last, with a link at their place. It does not read links, and serves what is behind them from disk.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

OTHERS = "~others"  # behind all names of files


@contextmanager
def made(work: Path, source: Path, own: Sequence[Collection[str]]) -> Iterator[list[Path]]:
    """For each host that has these names as its own. They are removed when the block is left.

    Requires: all names are in source, and work is on the same file system.
    """
    parent = work / "hosts"
    shutil.rmtree(parent, ignore_errors=True)  # of a lab that was killed
    names = sorted(set().union(*own))
    try:
        yield [
            _filled(parent / f"host-{number}", source, names, set(mine))
            for number, mine in enumerate(own, 1)
        ]
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def _filled(folder: Path, source: Path, names: Sequence[str], own: set[str]) -> Path:
    (folder / OTHERS).mkdir(parents=True)
    for name in names:
        if name in own:
            os.link(source / name, folder / name)
        else:
            os.link(source / name, folder / OTHERS / name)
            os.symlink(f"{OTHERS}/{name}", folder / name)
    return folder
