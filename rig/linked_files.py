"""A folder of its own with files of another one, in which users may write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder(work: Path, source: Path, names: Sequence[str]) -> Iterator[Path]:
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
