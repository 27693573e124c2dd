"""What a stage says of its users: a part for each workload that needs one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """How each of many slow users behaves: see docs/measuring.md."""

    rate_bytes_s: float
    least_rate_percent: int = 75  # of the rate; a user with a slower fetch drops out
    engine: str = "epoll"  # of the load generator


@dataclass(frozen=True, kw_only=True)
class Failover:
    """What is killed at a third of a run and started again at two thirds, and the load meanwhile.

    `--seconds` is a length of its own.
    """

    rate_rps: float
    seconds: float  # of a run
    quick_seconds: float  # of one of --quick
    warmup_s: float = 0.0
    component: str = "authserver"


@dataclass(frozen=True, kw_only=True)
class Mix:
    """What users do who read and write the same folder, and how much of it is in memory."""

    kinds: str = ""  # and their shares, as loadgen takes them; "": all get files
    zipf: float  # file k is asked for as often as 1/k^zipf says
    in_memory: float = 0.0  # the share of the files for which there is memory; 0: none is


@dataclass(frozen=True, kw_only=True)
class Connections:
    """How many of N kept connections ask for files, and for how long. Few files are in the folder,
    so that what a server takes is mostly for connections.
    """

    busy: int = 0  # so many ask, and the others are logged in and idle; 0: all ask
    files: int = 100
    seconds: float = 3.0  # of a run
    quick_seconds: float = 2.0  # of one of --quick
    warmup_s: float = 0.5  # once all are connected
    log_ins_per_s: float = 1000  # that the server bears, while those before already ask

    def asking(self, connections: int) -> int:
        return min(self.busy, connections) or connections

    def connecting_s(self, connections: int) -> float:
        """The time that so many log-ins may take."""
        return connections / self.log_ins_per_s


@dataclass(frozen=True, kw_only=True)
class Download:
    """Which program gets a file, and how: see workloads/client.py."""

    client: str  # a name of systems/clients/known.py
    protocol: str = "http"  # or "ftp"
    stuck_s: float = 0.0  # so long, one of the connections loses all its packets
    stuck_after_s: float = 0.0  # after the start of the program
    kills: int = 0  # so often the program is killed at a random moment, and goes on where it was
    is_saved: bool = False  # the program writes the file, even if it could throw it away
    most_channels: int = 0  # in place of all that are more; 0: any number
