"""How much of files is in the page cache."""

from __future__ import annotations

import ctypes
import mmap
import os
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
