"""Where the load generator runs, and by which way it reaches the servers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .cores import Cores
from .errors import Failed
from .processes import Program

LOOPBACK = "loopback"


@dataclass(frozen=True, kw_only=True)
class Place:
    """This machine, over loopback. Others derive from it."""

    name: str = LOOPBACK  # a word or two for tables
    title: str = "one machine, over loopback"  # for captions
    host: str = "127.0.0.1"  # where servers listen to be reached from there
    own_address: str = "127.0.0.1"  # of its programs, where it is on this machine
    interface: str = "lo"  # of ours; it carries the load
    is_here: bool = True  # its programs run on our cores, and are in our /proc
    clock_ahead_s: float = 0.0  # its clock, seen from ours
    group: str = ""  # of nodes that are alike; "" for a place of its own

    def lscpu(self) -> str:
        """What `lscpu -J` prints there; "" where it is this machine, or has none."""
        return ""

    def program(self, ours: Path) -> str:
        """The path there of a program of ours. Failed when it cannot run there."""
        return str(ours)

    def there(self, ours: Path) -> str:
        """The path there of a file that a program writes, and that fetch() brings to ours."""
        return str(ours)

    def fetch(self, ours: Path) -> None:
        """Failed when the file cannot be fetched. Where is_here, it is where it should be."""

    def clock_command(self) -> list[str]:
        """Prints the time there, in seconds since 1970, for each line; [] where it is our clock."""
        return []

    def helpers(self) -> list[int]:
        """Processes of ours that make the way to it. What they use of the cores, the lab uses."""
        return []

    @property
    def longest_s(self) -> float:
        """A round trip to it behind a full queue; 0.0 where it is no link of ours."""
        return 0.0

    def told(self) -> Told | None:
        """What the link to it did, since this was last asked. None where nobody knows: only a link
        that we delay can tell.
        """
        return None

    def stall(self, _seconds: float) -> None:
        """Sticks a connection that has data, for so long. Failed where no link of ours can."""
        raise Failed(f"no connection can be stuck there: {self.title}")

    def limit_window(self, window_bytes: int) -> None:
        """Of the connections that are going to be opened from there. Failed where that cannot be
        set: it is a setting of a namespace.
        """
        raise Failed(f"no window can be set there: {self.title}")

    def start(
        self,
        name: str,
        command: list[str],
        log_path: Path,
        *,
        cores: Cores = (),
        secrets: dict[str, str] | None = None,
    ) -> Program:
        """Starts a program there. secrets are variables that no process list shows.

        cores are used only where is_here.
        """
        return Program(name, command, log_path, cores=cores, environment=secrets)


HERE = Place()


@dataclass(frozen=True, kw_only=True)
class Direction:
    """What happened since it was last asked, or since the start."""

    packets: int  # that came out
    bytes: int
    dropped: int  # for want of room in the queue
    stuck: int  # lost because their connection was stuck on purpose
    refused: int  # that came out, and the kernel did not take
    late_p50_ms: float
    late_p99_ms: float
    late_max_ms: float

    @property
    def lost(self) -> float:
        """The part of the packets that it dropped."""
        return self.dropped / max(1, self.dropped + self.packets)


@dataclass(frozen=True)
class Told:
    """there is the direction from our namespace to the other one."""

    there: Direction
    back: Direction

    @property
    def late_p99_ms(self) -> float:
        return max(self.there.late_p99_ms, self.back.late_p99_ms)

    @property
    def stuck(self) -> int:
        """Packets of connections that were stuck on purpose, in both directions."""
        return self.there.stuck + self.back.stuck

    @property
    def lost(self) -> float:
        """That of the direction that lost more: the other one has acknowledgements."""
        return max(self.there.lost, self.back.lost)
