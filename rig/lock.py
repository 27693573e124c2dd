"""One measurement at a time on a machine: two would disturb each other."""

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import Failed


@contextmanager
def only_lab(*, waits: bool = False) -> Iterator[None]:
    """Holds the machine's lock. The kernel releases it when this process ends, however it ends.

    Where another process holds it, this one waits for its turn, and says so; without waits, Failed.
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
            running = f"another lab is running (process {holder})"
            if not waits:
                raise Failed(f"{running}; add --wait, or stop it") from error
            print(f"{running}; waiting until it ends", file=sys.stderr, flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.lseek(descriptor, 0, os.SEEK_SET)
        if is_ours:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
