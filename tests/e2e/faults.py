"""Loads faults.c into a program, and says which of its calls fails."""

import errno
import mmap
import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from waiting import LONG_S

_SOURCE = Path(__file__).with_name("faults.c")
_BYTES = 32


@dataclass(frozen=True)
class Kind:
    """A kind of calls: its number in faults.c, and the errors that such a call may have."""

    number: int
    name: str
    errors: tuple[int, ...]


_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
SYNC = Kind(4, "fsync", (errno.EIO, errno.ENOSPC))
MEMORY = Kind(0, "memory", (errno.ENOMEM,))
CALLS = (
    Kind(1, "open", (*_NO_DESCRIPTOR, errno.EIO)),
    Kind(2, "pread", (errno.EIO, errno.EINTR)),
    Kind(3, "write", (errno.EIO, errno.ENOSPC, errno.EINTR)),
    SYNC,
    Kind(5, "rename", (errno.EIO, errno.ENOSPC)),
    Kind(6, "accept", (*_NO_DESCRIPTOR, errno.EINTR, errno.ECONNABORTED)),
    Kind(7, "connect", (errno.EAGAIN, errno.ENOMEM, errno.ECONNREFUSED)),
    Kind(8, "send", (errno.EAGAIN, errno.ENOMEM, errno.EINTR, errno.EPIPE)),
    Kind(9, "poll", (errno.ENOMEM, errno.EINTR)),
    Kind(10, "clone", (errno.EAGAIN,)),
)


class Faults:
    """The numbers that the library and the test have in common."""

    def __init__(self, folder: Path) -> None:
        library = folder / "faults.so"
        compiler = os.environ.get("CC", "gcc").split()[-1]
        command = [compiler, "-std=gnu11", "-shared", "-fPIC", "-O2"]
        files = ("-o", str(library), str(_SOURCE), "-ldl")
        subprocess.run([*command, *files], check=True, timeout=2 * LONG_S)
        plan = folder / "faults"
        plan.write_bytes(bytes(_BYTES))
        with plan.open("r+b") as file:
            self._plan = mmap.mmap(file.fileno(), _BYTES)
        self.env = {"LD_PRELOAD": str(library), "FAULTS": str(plan)}

    def fail(self, kind: Kind, number: int, error: int) -> None:
        """The call of this kind and number from now fails."""
        self.stop()
        struct.pack_into("q", self._plan, 0, kind.number)
        struct.pack_into("q", self._plan, 16, error)
        struct.pack_into("q", self._plan, 8, number)

    def stop(self) -> None:
        struct.pack_into("q", self._plan, 8, 0)

    def failed(self) -> int:
        return struct.unpack_from("q", self._plan, 24)[0]
