"""A private folder for what one program reads and leaves, in memory where that has room.

A container often has 64 MB of such memory. A program that finds no room there would look as if it
could not fetch the file.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .errors import Failed

_IN_MEMORY = "/dev/shm"
_PREFIX = "turnstile-fetch-"
_FURTHER_BYTES = 1 << 20  # for passwords, scripts and what a program notes of its progress


@contextmanager
def made(need_bytes: int) -> Iterator[Path]:
    """One with room for so many bytes, until the block is left. Failed where there is none."""
    parent = _with_room(need_bytes + _FURTHER_BYTES)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # which the kernel releases when we are killed
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_leftovers() -> None:
    """Removes what labs that were killed left behind, but no folder that is in use."""
    for parent in _parents():
        for folder in Path(parent).glob(f"{_PREFIX}*"):
            with suppress(OSError):  # it belongs to another user, or it has just been removed
                _remove_unused(folder)


def _remove_unused(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _parents() -> list[str]:
    return list(dict.fromkeys((_IN_MEMORY, tempfile.gettempdir())))


def _with_room(need_bytes: int) -> str:
    """The first that may be written to, and has the room."""
    found = []
    for parent in _parents():
        if os.access(parent, os.W_OK):
            has = os.statvfs(parent)
            free_bytes = has.f_bavail * has.f_frsize
            if free_bytes >= need_bytes:
                return parent
            found.append(f"{parent} has {free_bytes / 1e6:.0f} MB free")
    raise Failed(f"no room for {need_bytes / 1e6:.0f} MB: {', '.join(found) or 'no folder'}")
