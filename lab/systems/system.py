"""What a system under test is to the lab: programs with names, made ready for a cell, and stopped.

A system is the first that a new kind of server needs: implement the three classes below and add it
to known.py. What its users do is a workload; which point comes next is a procedure.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from rig.cores import Cores
from rig.login import Login
from rig.place import HERE, Place
from rig.processes import Address
from rig.servers import Programs
from rig.transfer_log import TransferLog

from ..plan.catalog import Cell, Stage
from ..plan.pinning import Pinning


class Running(Protocol):
    """Servers that are ready, and an account to ask for files with."""

    @property
    def cell(self) -> Cell: ...

    @property
    def address(self) -> Address: ...

    @property
    def user(self) -> str: ...

    @property
    def password(self) -> str: ...

    @property
    def store(self) -> str:
        """The kind of what keeps its accounts."""

    @property
    def settings(self) -> dict[str, str]:
        """Those that matter for a comparison."""

    @property
    def durability(self) -> str:
        """What the answer to an upload or a new account guarantees, in a sentence."""

    def process_ids(self) -> dict[str, int]:
        """component -> its process. The lab watches these."""

    def helpers(self) -> list[int]:
        """Further processes. What they use of the cores, the lab uses."""

    def commands(self) -> dict[str, str]:
        """Every command line, for the record."""

    def check_running(self) -> None:
        """Failed with its last words if a program has ended."""

    @property
    def transfer_log(self) -> TransferLog | None:
        """Where the server writes a line for each transfer; None if it does not."""

    @property
    def upload_name(self) -> str:
        """Under which each user must store what it uploads, as `loadgen put --file` takes it.

        "" where any name will do.
        """

    def counts(self) -> dict[str, int]:
        """What the programs say they served. Requires: they have stopped."""


@runtime_checkable
class Mortal(Protocol):
    """Servers of which one can be killed under load. Not every system can do that."""

    def kill(self, component: str) -> None:
        """At once, so that it cannot end in order. Returns when it is gone."""

    def start_again(self, component: str) -> None:
        """After kill(), on the address that it had. Failed when it does not become ready."""


@runtime_checkable
class Receiving(Protocol):
    """Two servers, of which the second one takes what is copied from the first."""

    @property
    def receiver(self) -> Login:
        """The second one. The first has the address of Running."""


@runtime_checkable
class Telling(Protocol):
    """Servers that say themselves what they have done. Not every system can do that."""

    def told(self) -> dict[str, float]:
        """Numbers by their names; {} if this stage does not ask for them."""


@dataclass(frozen=True, kw_only=True)
class Site:
    """Where servers run. wrapper is put before the command of the one that serves files."""

    root: Path  # of the files that they serve
    logs: Path
    place: Place = HERE  # from where they can be reached
    wrapper: tuple[str, ...] = ()  # a profiler, or the way into a control group


class Prepared(Protocol):
    """What all cells of a stage share: a store, for example."""

    def running(self, cell: Cell, pinning: Pinning, site: Site) -> AbstractContextManager[Running]:
        """Fresh servers of the cell."""


class System(Protocol):
    def fetch(self, work: Path) -> None:
        """Downloads what it lacks, while there is a network: the lab's namespace has none.

        Does nothing when it has all. Failed, with the reason, when it cannot be had.
        """

    def prepared(
        self, stage: Stage, programs: Programs, work: Path, cores: Cores
    ) -> AbstractContextManager[Prepared]:
        """Failed when it cannot be made ready. cores are those of the store at first."""
