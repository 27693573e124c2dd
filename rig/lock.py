"""One measurement at a time on a machine: two would disturb each other."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import Failed


@contextmanager
def only_lab() -> Iterator[None]:
    """Holds the machine's lock. The kernel releases it when this process ends, however it ends.

    Failed when another process holds it.
    """
    path = Path(tempfile.gettempdir()) / "turnstile-lab.lock"
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        is_ours = True
    except (
        PermissionError
    ):  # another user made the file; opening it for reading is enough to lock it
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        is_ours = False
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode(errors="replace").strip()
            raise Failed(
                f"another lab is running (process {holder}); wait until it ends, or stop it"
            ) from error
        if is_ours:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
