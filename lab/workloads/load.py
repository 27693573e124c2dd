"""What a load is to the rest of the lab, whatever its users do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig.idle_connections import Idle
from rig.link import Link
from rig.login import Login

from ..plan.planned import Planned, Setting
from .outcome import Result
from .transfers import Transfer


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a point asks for. Each workload takes from it what it needs."""

    planned: Planned
    setting: Setting
    repeat: int
    server: str  # HOST:PORT
    user: str
    password: str
    hold: Path | None = None  # the control group that is held while all ask
    upload_name: str = ""  # under which each user stores what it uploads; "": any name will do
    record: Path | None = None  # the file for a record of each transfer, where one can be had
    link: Link | None = None  # the way to the load generator, if it is one that we laid
    receiver: Login | None = None  # to which a file is copied from the server
    probed_bytes_s: float | None = None  # what the way carries without our programs

    def load(self) -> Load:
        """What the kind of the cell makes of it."""
        made: Load = self.planned.cell.kind.part("load").load(self)
        return made


@dataclass(frozen=True)
class Kill:
    """Of a component of the servers, in seconds after the start of a run."""

    component: str
    after_s: float
    started_after_s: float  # it is started again


class Load(ABC):
    """One run of the load generator. It knows its command line and what its result must be.

    What most loads have in common is written here.
    """

    threads: int  # N: users, or requests under way
    password: str

    @property
    @abstractmethod
    def run_s(self) -> float:
        """How long a run takes, its slowest request apart."""

    @abstractmethod
    def command_flags(self) -> list[str]:
        """The load generator's flags, without the one for its result."""

    @abstractmethod
    def parse(self, raw: dict[str, Any]) -> Result:
        """Reads the load generator's JSON. KeyError when a field is missing."""

    @abstractmethod
    def failures(self, result: Result) -> list[str]:
        """Why the result is none of this load; [] for a good one."""

    @abstractmethod
    def figures(self, result: Result) -> dict[str, float | None]:
        """Those of its workload that the load generator measured; None: it could not."""

    def figures_of_server(
        self, _before: Mapping[str, float], _after: Mapping[str, float]
    ) -> dict[str, float | None]:
        """Those that the servers told themselves, before and after the run.

        Requires: they told something.
        """
        return {}

    def can_be_spoiled(self, _result: Result) -> bool:
        """Whether other programs, which took part of the cores, may have changed the result."""
        return True

    @property
    def kernels_share(self) -> float:
        """The part of all cores that the kernel may take for it, and charges no program for."""
        return 0.0

    def notes(self, _result: Result) -> list[str]:
        """Remarks that do not make the result invalid."""
        return []

    @property
    def look_after_s(self) -> float | None:
        """When all users are there, so that one can see what they take; None: that is not asked."""
        return None

    @property
    def idle(self) -> Idle | None:
        """Connections that are there before it and ask for nothing; None: there are none."""
        return None

    @property
    def counts_switches_s(self) -> tuple[float, float] | None:
        """The moments after its start between which the context switches of the server are counted;
        None: they are not.
        """
        return None

    @property
    def kill(self) -> Kill | None:
        """What is killed while it runs; None: nothing is."""
        return None

    def without_server(self) -> dict[str, float] | None:
        """The figures of a run that a server did not survive; None: that is no answer."""
        return None

    def at_its_limit(self) -> Load:
        """The same load, once the kernel has ended processes of the server at the limit of memory
        that the experiment set.
        """
        return self

    def file_names(self) -> list[str]:
        """Those that it is going to ask for; [] if it may ask for any."""
        return []

    def transfers(self) -> list[Transfer]:
        """A record of each, once the run has ended; [] for a load that keeps none."""
        return []

    @property
    def needs_series(self) -> bool:
        """Whether its result says little without what happened in each second."""
        return False

    @property
    def needs_stall(self) -> bool:
        """Whether one of its connections is to be stuck, without which the result says little."""
        return False

    @property
    def needs_memory(self) -> bool:
        """Whether the memory of the servers is read all the time, which costs some CPU."""
        return False
