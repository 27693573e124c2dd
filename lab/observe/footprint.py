"""What a server takes for itself while it runs, over all its processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rig.errors import Failed

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """proportional_bytes is the PSS: of memory that n processes share, each is charged 1/n.

    So the processes of a server that forks can be added up. Resident sizes would count the shared
    part once for each process. The n are all programs of the host that use a library, so the sum
    moves by some kilobytes when others start or end.
    """

    processes: int
    threads: int
    descriptors: int
    proportional_bytes: int

    def each(self, empty: Footprint, users: int) -> dict[str, float]:
        """What each of the users adds to the empty server. Requires: users > 0."""
        return {
            "processes": (self.processes - empty.processes) / users,
            "threads": (self.threads - empty.threads) / users,
            "descriptors": (self.descriptors - empty.descriptors) / users,
            "proportional_bytes": (self.proportional_bytes - empty.proportional_bytes) / users,
        }


def of_processes(pids: Iterable[int]) -> Footprint:
    """A process that has ended meanwhile adds nothing. Failed when this user may not look."""
    read = [one for pid in pids if (one := _of_process(pid))]
    return Footprint(
        processes=len(read),
        threads=sum(one.threads for one in read),
        descriptors=sum(one.descriptors for one in read),
        proportional_bytes=sum(one.proportional_bytes for one in read),
    )


def proportional_bytes(pids: Iterable[int]) -> int:
    """Only that, which is cheaper. A process that has ended adds nothing. Failed as above."""
    return sum(_asked(pid, _pss) or 0 for pid in pids)


def _of_process(pid: int) -> Footprint | None:
    return _asked(pid, _footprint)


def _footprint(folder: Path) -> Footprint:
    return Footprint(
        processes=1,
        threads=len(os.listdir(folder / "task")),
        descriptors=len(os.listdir(folder / "fd")),
        proportional_bytes=_pss(folder),
    )


def _asked(pid: int, of: Callable[[Path], _Answer]) -> _Answer | None:
    """None when the process has ended."""
    try:
        return of(Path(f"/proc/{pid}"))
    except (FileNotFoundError, ProcessLookupError):
        return None
    except PermissionError as error:
        raise Failed(f"process {pid} cannot be observed: {error.strerror}") from error


def _pss(folder: Path) -> int:
    return _pss_in((folder / "smaps_rollup").read_text(encoding="ascii"))


def _pss_in(rollup: str) -> int:
    sizes = dict(line.split(":") for line in rollup.splitlines()[1:])
    return int(sizes["Pss"].split()[0]) * 1024
