"""CPU cores: which ones there are, and whether a process is held to some of them."""

import os
from pathlib import Path

from .errors import Failed

Cores = tuple[int, ...]


def usable_cores() -> Cores:
    """The cores that this process may use, in rising order."""
    return tuple(sorted(os.sched_getaffinity(0)))


def parse_cores(text: str) -> Cores:
    """Reads the kernel's form of a list: "0-2,5" is 0, 1, 2, 5. ValueError for anything else."""
    cores: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return tuple(sorted(cores))


def format_cores(cores: Cores) -> str:
    """The form that taskset takes, "0,1,5"."""
    return ",".join(str(core) for core in cores)


def counted(count: int) -> str:
    """ "1 core", "2 cores"."""
    return "1 core" if count == 1 else f"{count} cores"


def verify_cores(name: str, pid: int, cores: Cores) -> None:
    """Failed unless every thread of the process is held to exactly these cores."""
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            text = status.read_text(encoding="ascii", errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has just ended
        allowed = text.split("Cpus_allowed_list:")[1].split()[0]
        if parse_cores(allowed) != cores:
            raise Failed(
                f"{name} was pinned to cores {format_cores(cores)}, "
                f"but thread {status.parent.name} may use {allowed}"
            )
