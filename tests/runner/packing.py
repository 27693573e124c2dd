"""How many files of tests run at once: as many as keep the cores busy, as tests mostly wait."""

import os
import time
from collections.abc import Sequence
from pathlib import Path

from .files import TestFile
from .outcome import Runnable
from .times import recorded, taken_by

_FEW = 3  # for each core, however busy it is: others may keep it busy for hours
_MOST = 10  # for each core, however idle it is
_BUSY = 0.9  # the share of the cores beyond which they count as busy
_LOOK_S = 0.5  # between two looks at the cores; what was started shows only after a while
_TOKENS = 2  # for the files in which time is the point


class Cores:
    """How busy the cores are. What runs at a low priority, such as a compiler, gives way."""

    def __init__(self) -> None:
        self.count = len(os.sched_getaffinity(0))
        self._looked_at = time.monotonic()
        self._last = _busy_and_all_ticks()
        self.busy = 0.0  # the share of all time, at the last look

    def look(self) -> bool:
        """Whether it was time for a look."""
        now = time.monotonic()
        if now - self._looked_at < _LOOK_S:
            return False
        busy, all_ticks = _busy_and_all_ticks()
        self.busy = (busy - self._last[0]) / max(1, all_ticks - self._last[1])
        self._looked_at, self._last = now, (busy, all_ticks)
        return True


def _busy_and_all_ticks() -> tuple[int, int]:
    """Since the host started: `user nice system idle iowait irq softirq steal` of all cores."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    ticks = [int(field) for field in first.split()[1:9]]
    return sum(ticks) - ticks[1] - ticks[3] - ticks[4], sum(ticks)


class Packing:
    """Chooses the next file. With `jobs`, that many run at once, whatever the cores do."""

    def __init__(self, jobs: int | None) -> None:
        self._jobs = jobs
        self._cores = Cores()
        self._known = recorded()

    def next_of(self, waiting: Sequence[Runnable], running: Sequence[Runnable]) -> Runnable | None:
        """The file to start now, or None while there is no room for one."""
        if not self._has_room(running):
            return None
        tokens = _TOKENS - sum(map(_takes_token, running))
        fitting = [file for file in waiting if tokens > 0 or not _takes_token(file)]
        return next(iter(fitting), None)

    def _has_room(self, running: Sequence[Runnable]) -> bool:
        if self._jobs:
            return len(running) < self._jobs
        if len(running) < _FEW * self._cores.count:
            return True
        if len(running) >= _MOST * self._cores.count or not self._cores.look():
            return False
        return self._cores.busy < _BUSY and self._expected(running) < self._cores.count

    def _expected(self, running: Sequence[Runnable]) -> float:
        """The cores that the running files need, on the average of an earlier run."""
        taken = [taken_by(file, self._known) for file in running]
        return sum(one.cpu_s / max(one.seconds, 0.1) for one in taken)


def _takes_token(file: Runnable) -> bool:
    return isinstance(file, TestFile) and file.takes_token
