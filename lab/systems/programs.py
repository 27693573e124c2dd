"""What systems have in common whose servers are programs of this machine."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rig import certificates
from rig.certificates import KeyPair
from rig.errors import Failed
from rig.processes import Program
from rig.transfer_log import TransferLog

from ..plan.catalog import Stage


class OfPrograms(ABC):
    """A part of system.Running, for those that name their programs."""

    @abstractmethod
    def programs(self) -> list[Program]:
        """All of them, the one that serves files first."""

    def commands(self) -> dict[str, str]:
        return {program.name: program.command_line() for program in self.programs()}

    @property
    def transfer_log(self) -> TransferLog | None:
        return None

    @property
    def upload_name(self) -> str:
        return ""

    def helpers(self) -> list[int]:
        return []

    def check_running(self) -> None:
        for program in self.programs():
            if not program.is_running():
                raise Failed(f"{program.name} ended: {program.last_words()}")


_BOOKKEEPING_BYTES = 480  # of a file, beside its name
_PACKED_BELOW_BYTES, _BLOCK_BYTES = 16 * 1024, 4096  # a file of this size takes whole blocks


def limit_bytes(root: Path, share: float) -> int:
    """As --memory-limit counts this share of the files, with their names.

    The names of further files have no room then. Requires: the files have one size, so that it does
    not matter which are in memory.
    """
    with os.scandir(root) as entries:
        files = [(entry.name, entry.stat().st_size) for entry in entries]
    each = _BOOKKEEPING_BYTES + max(len(os.fsencode(name)) for name, _ in files)
    return round(share * len(files)) * (each + max(_in_memory(size) for _, size in files))


def _in_memory(size_bytes: int) -> int:
    if size_bytes < _PACKED_BELOW_BYTES:
        return size_bytes
    return -(-size_bytes // _BLOCK_BYTES) * _BLOCK_BYTES


@contextmanager
def key_pair(stage: Stage, work: Path) -> Iterator[KeyPair | None]:
    """That of the program that encrypts, until the block is left; None where all is in clear."""
    how = stage.encryption
    if how and how.by:
        with certificates.made(work / "stores", how.key) as pair:
            yield pair
    else:
        yield None
