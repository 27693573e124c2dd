"""What drives a load: the load generator on one host, or one on each of many."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from rig.clocks import Reading
from rig.place import Place
from rig.processes import Program

from ..kinds.failover.load import KILLED, STARTED
from ..observe.sampler import Sampler
from ..systems.system import Mortal, Running
from ..workloads import loadgen_run, outcome
from ..workloads.load import Kill, Load
from ..workloads.outcome import Event, Result, Series
from ..workloads.uploads import Upload


class Generator(Protocol):
    """It runs from its construction until it has finished, or is stopped."""

    def process_ids(self) -> dict[str, int]:
        """component -> its process, of those on our cores. The lab watches these."""

    def command_line(self) -> str:
        """As a reader may repeat it."""

    def is_running(self) -> bool: ...

    def finish(self) -> Result:
        """Waits for the end. Times are those of our clock. Failed when it ends without a result."""

    def uploads(self) -> list[Upload]:
        """One by one, where they are recorded so. Requires: it has finished."""

    def clocks(self) -> list[Reading]:
        """Those of other hosts, where they are compared. Requires: it has finished."""

    def stop(self) -> None: ...


@dataclass(frozen=True)
class OneHost:
    program: Program
    load: Load
    place: Place
    record: Path | None  # where its series is; None if it keeps none

    def process_ids(self) -> dict[str, int]:
        return {"loadgen": self.program.pid} if self.place.is_here else {}

    def command_line(self) -> str:
        return self.program.command_line()

    def is_running(self) -> bool:
        return self.program.is_running()

    def finish(self) -> Result:
        result = loadgen_run.finish(self.program, self.load).moved(-self.place.clock_ahead_s)
        seconds = outcome.of_file(self.record) if self.record else []
        return replace(result, series=Series(tuple(seconds)))

    def uploads(self) -> list[Upload]:
        return []

    def clocks(self) -> list[Reading]:
        return []

    def stop(self) -> None:
        self.program.stop()


_STEP_S = 0.02


def take_place(
    kill: Kill | None, servers: Running, generator: Generator, begun_s: float, sampler: Sampler
) -> list[Event]:
    """Returns, when the server is ready again, what happened at which time of the wall clock.

    begun_s is when the load generator was started, on the monotonic clock. Should that end early,
    the rest follows at once. A program lives as long as the thread that started it, so this must be
    the thread of the lab.
    """
    if kill is None:
        return []
    assert isinstance(servers, Mortal), servers
    _wait(generator, begun_s + kill.after_s)
    killed = Event(time.time(), f"{kill.component} {KILLED}")
    servers.kill(kill.component)
    _wait(generator, begun_s + kill.started_after_s)
    started = Event(time.time(), f"{kill.component} {STARTED}")
    servers.start_again(kill.component)
    sampler.replace(kill.component, servers.process_ids()[kill.component])
    return [killed, started]


def _wait(generator: Generator, until_s: float) -> None:
    while time.monotonic() < until_s and generator.is_running():
        time.sleep(_STEP_S)
