"""A closed loop over many kept connections. One run of the load generator each.

All of them ask, or a few do while the others are logged in and idle. The load generator shares few
threads among those that ask. Which file each asks for is drawn.
"""

from dataclasses import dataclass
from typing import ClassVar

from rig.idle_connections import Idle, LogIn
from rig.processes import Address

from ...workloads.load import Asked
from ...workloads.outcome import Result
from ..closed_loop import load as closed_loop
from ..closed_loop.load import ClosedLoop
from ..kind import LESS, MORE, Figure

_FROM, _TO = 0.1, 0.7  # of the measured time; to look at all threads takes time too

FIGURES = (
    Figure(name="idle_held", better=MORE),  # connections, until the end
    # Of the server and all that it started, while all ask.
    Figure(name="server_switches_per_s", unit="/s", better=LESS),
    Figure(name="server_group_bytes", unit="B", better=LESS),  # its control group, no page cache
    # What an idle connection adds to that group. What it adds to the programs is that of crowds.
    Figure(name="group_bytes_each", unit="B", better=LESS),
)


@dataclass(frozen=True, kw_only=True)
class ManyConnections(ClosedLoop):
    """threads is the number of all connections.

    A kept connection may be answered within 25 µs. Then the load generator's own time between two
    requests is a share of the whole that can be seen.
    """

    least_of_n: ClassVar[float] = 0.9

    asking: int  # of them
    has_idle: bool  # or has with more connections
    files: int
    seed: int  # chooses the files

    def command_flags(self) -> list[str]:
        flags = ["get", "--server", self.server, "--users", str(self.asking)]
        flags += ["--seconds", f"{self.seconds:g}", "--warmup", f"{self.warmup_s:g}"]
        flags += ["--user", self.user, "--file", f"{self.size_name}%d.txt"]
        flags += ["--files", str(self.files), "--seed", str(self.seed)]
        return [*flags, *self.flags]

    def _n_check(self, result: Result) -> float:
        """Of those that ask."""
        return super()._n_check(result) * self.threads / self.asking

    @property
    def idle(self) -> Idle | None:
        if self.asking == self.threads:
            return None
        host, _, port = self.server.rpartition(":")
        address = Address(host.strip("[]"), int(port))
        return Idle(address, self._log_in(), self.threads - self.asking)

    def _log_in(self) -> LogIn:
        if "http" in self.flags:
            return LogIn.by_http(self.user, self.password, f"{self.size_name}1.txt")
        return LogIn.natively(self.user, self.password)

    @property
    def counts_switches_s(self) -> tuple[float, float] | None:
        """Not beside idle connections: to read the counters of all takes time from the few."""
        if self.has_idle:
            return None
        return self.warmup_s + _FROM * self.seconds, self.warmup_s + _TO * self.seconds

    def without_server(self) -> dict[str, float] | None:
        """There was no room for so many. Requests that failed say so."""
        return {}


def load(asked: Asked) -> ManyConnections:
    """Connections that ask log in within the warm-up, so that lasts longer with more of them."""
    how, planned, threads = asked.planned.stage.connections, asked.planned, asked.setting.threads
    assert how and planned.size  # see plan/options.py
    usual = closed_loop.load(asked)
    asking = how.asking(threads)
    return ManyConnections(
        **{**vars(usual), "warmup_s": usual.warmup_s + how.connecting_s(asking)},
        asking=asking,
        has_idle=bool(how.busy),
        files=planned.file_count,
        seed=asked.repeat,
    )
