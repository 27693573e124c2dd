"""What drives a load: the load generator on one host, or one on each of many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from rig.clocks import Reading
from rig.place import Place
from rig.processes import Program

from ..workloads import loadgen_run, series
from ..workloads.load import Load
from ..workloads.outcome import Result
from ..workloads.series import Series
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
        seconds = series.of_file(self.record) if self.record else []
        return replace(result, series=Series(tuple(seconds)))

    def uploads(self) -> list[Upload]:
        return []

    def clocks(self) -> list[Reading]:
        return []

    def stop(self) -> None:
        self.program.stop()
