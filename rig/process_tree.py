"""A program and the processes that it started, directly and indirectly."""

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from .errors import Failed
from .processes import Program

_END_TIMEOUT_S = 60.0  # a server may have thousands of sessions
_KILL_AFTER_S = 5.0


class Process(NamedTuple):
    """A process. The kernel may give its id to another one, but not with the same start."""

    pid: int
    start: str


def tree(pid: int) -> list[int]:
    """The process and all its living descendants. A process that has ended is not among them."""
    found = [pid] if _start_of(pid) else []
    for parent in found:  # grows while it is read
        found += _children(parent)
    return found


def stop_with_children(program: Program) -> None:
    """Stops the program, then every process that it started. Failed when one remains.

    The children of a program that ends belong to another process from then on. So they are listed
    before, while the program is paused and cannot start further ones.
    """
    children: set[Process] = set()
    if program.is_running():
        program.pause()
        children = _identified(tree(program.pid)[1:])
        program.signal(signal.SIGTERM)
        program.resume()
    program.stop()
    start_s = time.monotonic()
    while children := {child for child in children if _start_of(child.pid) == child.start}:
        passed_s = time.monotonic() - start_s
        if passed_s > _END_TIMEOUT_S:
            left = ", ".join(str(child.pid) for child in children)
            raise Failed(f"{program.name} has ended, but its processes {left} have not")
        further: set[Process] = set()
        for child in children:
            _send(child.pid, signal.SIGKILL if passed_s > _KILL_AFTER_S else signal.SIGTERM)
            further |= _identified(tree(child.pid))
        children |= further
        time.sleep(0.01)


def _identified(pids: list[int]) -> set[Process]:
    return {Process(pid, start) for pid in pids if (start := _start_of(pid))}


def _start_of(pid: int) -> str:
    """When it started, as the kernel counts; "" if it has ended, even if nobody has reaped it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    found: list[int] = []
    try:
        threads = os.listdir(tasks)
    except (FileNotFoundError, ProcessLookupError):
        return []  # it has just ended
    for thread in threads:
        try:
            children = (tasks / thread / "children").read_text(encoding="ascii")
            found += [int(child) for child in children.split()]
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread has just ended
    return [child for child in found if _start_of(child)]


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
