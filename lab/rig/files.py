"""Makes the files that a fileserver serves, with scripts/make-files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .processes import run_tool

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


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
