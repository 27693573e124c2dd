"""Clocks of other hosts, compared with ours while a load runs."""

import csv
import subprocess
import time
from bisect import bisect
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from threading import Event, Thread

from .errors import Failed
from .place import Place

EVERY_S = 30.0
_ROUNDS = 20  # of asking for the time, for one reading
_TIMEOUT_S = 10.0  # for the last reading


@dataclass(frozen=True, kw_only=True)
class Reading:
    t_unix_s: float  # by our clock
    tester: str
    ahead_s: float  # the tester's clock, seen from ours
    error_s: float  # ahead_s is wrong by at most this


class Clock:
    """A clock elsewhere, over a connection that is kept.

    command prints the time there for each line that it reads. Threads: one; any may close().
    """

    def __init__(self, tester: str, command: Sequence[str]):
        self._tester = tester
        self._program = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def read(self) -> Reading:
        """By the quickest of some exchanges. Failed when there is no answer."""
        return min((self._exchange() for _ in range(_ROUNDS)), key=lambda one: one.error_s)

    def close(self) -> None:
        """A read() under way fails."""
        self._program.kill()
        self._program.wait()

    def _exchange(self) -> Reading:
        assert self._program.stdin and self._program.stdout  # pipes
        sent_s = time.time()
        try:
            self._program.stdin.write(b"\n")
            theirs_s = float(self._program.stdout.readline())
        except (OSError, ValueError) as error:
            raise Failed(f"{self._tester} did not tell its time") from error
        half_s = (time.time() - sent_s) / 2
        ours_s = sent_s + half_s
        return Reading(
            t_unix_s=ours_s, tester=self._tester, ahead_s=theirs_s - ours_s, error_s=half_s
        )


class Clocks:
    """The clocks of these places, each read at the construction, every 30 s, and by close().

    Places on this machine have our clock: there is no reading of it. A clock that does not answer
    any more has no further readings. Threads: one.
    """

    def __init__(self, places: Sequence[Place], every_s: float = EVERY_S):
        """Failed when a clock does not answer."""
        self._every_s = every_s
        self._is_closing = Event()
        commands = {place.name: place.clock_command() for place in places}
        self._clocks = {name: Clock(name, command) for name, command in commands.items() if command}
        self._readings: dict[str, list[Reading]] = {}
        self._threads: list[Thread] = []
        try:
            if self._clocks:
                with ThreadPoolExecutor(len(self._clocks)) as pool:
                    first = list(pool.map(Clock.read, self._clocks.values()))
                self._readings = {one.tester: [one] for one in first}
        except BaseException:
            self.close()
            raise
        for name in self._clocks:
            self._threads.append(Thread(target=self._follow, args=[name]))
            self._threads[-1].start()

    def close(self) -> None:
        """A second call does nothing."""
        self._is_closing.set()
        deadline = time.monotonic() + _TIMEOUT_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        for clock in self._clocks.values():
            clock.close()
        for thread in self._threads:
            thread.join()

    def readings(self) -> list[Reading]:
        """In the order of time. None of a tester that has our clock."""
        every = [one for readings in self._readings.values() for one in readings]
        return sorted(every, key=lambda one: one.t_unix_s)

    def theirs_s(self, tester: str, ours_s: float) -> float:
        """What the tester's clock shows when ours shows this."""
        readings = self._readings.get(tester, [])
        return ours_s + _at(ours_s, [(one.t_unix_s, one.ahead_s) for one in readings])

    def ours_s(self, tester: str, theirs_s: float) -> float:
        """What our clock shows when the tester's shows this."""
        readings = self._readings.get(tester, [])
        points = [(one.t_unix_s + one.ahead_s, one.ahead_s) for one in readings]
        return theirs_s - _at(theirs_s, points)

    def _follow(self, tester: str) -> None:
        is_last = False
        while not is_last:
            is_last = self._is_closing.wait(self._every_s)
            try:
                self._readings[tester].append(self._clocks[tester].read())
            except Failed:
                return


def write(path: Path, readings: Iterable[Reading]) -> None:
    """A line for each reading. The folder is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(Reading)])
        writer.writeheader()
        writer.writerows(asdict(one) for one in readings)


def read(path: Path) -> list[Reading]:
    """What write() wrote."""
    with open(path, newline="", encoding="utf-8") as file:
        return [
            Reading(
                t_unix_s=float(row["t_unix_s"]),
                tester=row["tester"],
                ahead_s=float(row["ahead_s"]),
                error_s=float(row["error_s"]),
            )
            for row in csv.DictReader(file)
        ]


def _at(x: float, points: Sequence[tuple[float, float]]) -> float:
    """On the line through the points, in their order; beyond them as at the next. 0 without any."""
    if not points:
        return 0.0
    after = bisect([point[0] for point in points], x)
    if after in (0, len(points)):
        return points[min(after, len(points) - 1)][1]
    (x0, y0), (x1, y1) = points[after - 1], points[after]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
