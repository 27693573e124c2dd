"""Loads faults.c into a program, and says which of its calls fail."""

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
CLONE = Kind(10, "clone", (errno.EAGAIN,))
MEMORY = Kind(0, "memory", (errno.ENOMEM,))
CALLS = (
    Kind(1, "open", (*_NO_DESCRIPTOR, errno.EIO)),
    Kind(2, "pread or readdir", (errno.EIO, errno.EINTR)),
    Kind(3, "write", (errno.EIO, errno.ENOSPC, errno.EINTR)),
    SYNC,
    Kind(5, "rename", (errno.EIO, errno.ENOSPC)),
    Kind(6, "accept", (*_NO_DESCRIPTOR, errno.EINTR, errno.ECONNABORTED)),
    Kind(7, "connect", (errno.EAGAIN, errno.ENOMEM, errno.ECONNREFUSED)),
    Kind(8, "send", (errno.EAGAIN, errno.ENOMEM, errno.EINTR, errno.EPIPE)),
    Kind(9, "poll", (errno.ENOMEM, errno.EINTR)),
    CLONE,
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

    def _set(self, index: int, number: int) -> None:
        struct.pack_into("q", self._plan, 8 * index, number)

    def _get(self, index: int) -> int:
        return struct.unpack_from("q", self._plan, 8 * index)[0]

    def fail(self, kind: Kind, number: int, error: int = 0) -> None:
        """The call of this kind and number from now fails. Without an error: its first one."""
        self._plan_calls(0, kind, number, error)

    def fail_one_in(self, kind: Kind, count: int) -> None:
        """One call of the kind in `count` fails, until the faults stop."""
        self._plan_calls(1, kind, count, 0)

    def _plan_calls(self, index: int, kind: Kind, count: int, error: int) -> None:
        self.stop()
        self._set(2, error or kind.errors[0])
        self._set(index, kind.number << 32 | count)

    def stop(self) -> None:
        self._set(0, 0)
        self._set(1, 0)

    def left(self) -> int:
        """How many calls there are until that of fail()."""
        return self._get(0) & 0xFFFFFFFF

    def failed(self) -> int:
        return self._get(3)
