"""Where files are: how much of them is in the page cache, and in how many pieces on the disk."""

import ctypes
import mmap
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(3 * [ctypes.c_int]), ctypes.c_long)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
_FAILED = ctypes.c_void_p(-1).value


def share(files: Sequence[Path]) -> float | None:
    """The part of their pages that is in memory: 0 … 1. None if they have none, or if the kernel
    does not tell us: it does only for files that we own or may write.
    """
    found = [pages for file in files if (pages := _pages(file)) is not None]
    in_all = sum(len(pages) for pages in found)
    if len(found) < len(files) or not in_all:
        return None
    return sum(page & 1 for pages in found for page in pages) / in_all


def _pages(file: Path) -> bytes | None:
    """A byte for each page of the file; None if the kernel refuses."""
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if not size:
            return b""
        return _mapped_pages(descriptor, size)
    finally:
        os.close(descriptor)


def _mapped_pages(descriptor: int, size: int) -> bytes | None:
    place = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if place == _FAILED:
        return None
    try:
        pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
        return pages.raw if _libc.mincore(place, size, pages) == 0 else None
    finally:
        _libc.munmap(place, size)


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
