"""What a machine of the papers really carries: each of its limits, tried in a control group.

The kernel may let more pass than a limit says, or may not hold it at all, for example on a file
system that its disk limit does not know. So a result has the limits and what was measured.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig import control_group
from rig.control_group import ControlGroup, Limits
from rig.errors import Failed

_LARGEST_FILE_BYTES = 256 << 20
_BLOCK_BYTES = 1 << 20
_OUTSIDE_S = 0.5
_END_TIMEOUT_S = 120.0  # of an interpreter with a small share of a core

_COUNT = """
import sys, time
end, count = time.monotonic() + float(sys.argv[1]), 0
while time.monotonic() < end:
    count += 1
print(count, time.process_time())
"""
_READ = """
import sys, time
print("ready", flush=True)
sys.stdin.readline()
start = time.monotonic()
with open(sys.argv[1], "rb", 0) as file:
    while file.read(1 << 16):
        pass
print(time.monotonic() - start, flush=True)
sys.stdin.readline()
"""


@dataclass(frozen=True, kw_only=True)
class MachineProbe:
    """None: there is no such limit, or it could not be tried."""

    cores: float | None = None  # counted inside, as a part of what one core counted outside
    read_bytes_per_s: float | None = None  # of a file that was in no cache
    cached_bytes: float | None = None  # page cache after a file that is larger than memory


def measure(limits: Limits, work: Path, seconds: float) -> MachineProbe:
    """Takes some seconds for each limit. work is a folder on the limited disk.

    Failed when the group or the file cannot be made.
    """
    read_bytes_per_s, cached_bytes = _read(limits, work, seconds)
    return MachineProbe(
        cores=_cores(limits, work, seconds),
        read_bytes_per_s=read_bytes_per_s,
        cached_bytes=cached_bytes,
    )


def _cores(limits: Limits, work: Path, seconds: float) -> float | None:
    if limits.cores is None:
        return None
    # By CPU time: other programs may leave the loop only a part of a core.
    count, cpu_s = _counted([], _OUTSIDE_S)
    with control_group.limited(limits, work) as group:
        inside, _ = _counted(group.prefix, seconds)
    return inside / seconds / (count / cpu_s)


def _counted(prefix: list[str], seconds: float) -> tuple[int, float]:
    """How far a loop counts in these seconds, and how much CPU time it gets meanwhile."""
    with _program([*prefix, *_python(_COUNT), str(seconds)]) as program:
        said, _ = program.communicate(timeout=_END_TIMEOUT_S + seconds)
    count, cpu_s = said.split()
    return int(count), float(cpu_s)


def _read(limits: Limits, work: Path, seconds: float) -> tuple[float | None, float | None]:
    """The rate, and what stays in the page cache."""
    memory_bytes = limits.cache_bytes or limits.memory_bytes
    rate = limits.read_bytes_per_s
    file_bytes = max(2 * (memory_bytes or 0), round(seconds * (rate or 0)))
    if file_bytes > _LARGEST_FILE_BYTES:
        memory_bytes, file_bytes = None, round(seconds * (rate or 0))
    if not file_bytes:
        return None, None
    path = work / "machine-probe"
    try:
        _write_uncached(path, file_bytes)
        with control_group.limited(limits, work) as group:
            took_s, cached_bytes = _read_in(group, path)
    except OSError as error:
        raise Failed(f"{path}: {error.strerror}") from error
    finally:
        path.unlink(missing_ok=True)
    return file_bytes / took_s if rate else None, cached_bytes if memory_bytes else None


def _read_in(group: ControlGroup, path: Path) -> tuple[float, int | None]:
    """The reader is a server that is ready, reads, and still runs when it is looked at."""
    with _program([*group.prefix, *_python(_READ), str(path)]) as program:
        assert program.stdin and program.stdout
        if program.stdout.readline() != "ready\n":
            raise Failed("the probe of a machine ended before it began")
        group.limit_cache()
        program.stdin.write("read\n")
        program.stdin.flush()
        said = program.stdout.readline()
        cached_bytes = group.usage().page_cache_bytes
        program.communicate("end\n", timeout=_END_TIMEOUT_S)
    return _number(said), cached_bytes


def _number(said: str) -> float:
    try:
        return float(said)
    except ValueError:
        raise Failed("the probe of a machine ended while it read") from None


def _python(script: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", script]


@contextmanager
def _program(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """It is killed if it still runs when the block is left."""
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        try:
            yield program
        except subprocess.TimeoutExpired as error:
            raise Failed("the probe of a machine did not end in time") from error
        finally:
            program.kill()


def _write_uncached(path: Path, file_bytes: int) -> None:
    with open(path, "wb") as file:
        block = os.urandom(_BLOCK_BYTES)
        for _ in range(0, file_bytes, _BLOCK_BYTES):
            file.write(block)
        file.truncate(file_bytes)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
