"""In how many pieces the file system keeps files: blocks side by side are read fastest."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

_MOST_FILES = 500  # that are asked for; the others are alike
_TIMEOUT_S = 30.0


def of_files(files: Sequence[Path]) -> list[int] | None:
    """The extents of each, of so many of the first. None where filefrag (e2fsprogs) cannot tell."""
    chosen = [str(file) for file in files[:_MOST_FILES]]
    try:
        done = subprocess.run(
            ["filefrag", *chosen],
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT_S,
            env={"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    found = [int(count) for count in re.findall(r": (\d+) extents? found", done.stdout)]
    return found if chosen and len(found) == len(chosen) else None


def sentence(counts: Sequence[int]) -> str:
    """What a report says of them. Requires: counts is not empty."""
    most = max(counts)
    if most == 1:
        return "each in one piece"
    return f"in {sum(counts) / len(counts):.1f} pieces on average, at most {most}"
