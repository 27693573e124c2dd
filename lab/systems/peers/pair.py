"""Two servers of others: a client has a file copied from one to the other.

In a third-party copy the client gives both an order, and the bytes go from server to server. Ours
takes no such order: a server that fetches what it is told to, from where it is told to, is an open
door.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rig.cores import Cores
from rig.login import Login
from rig.processes import Program
from rig.servers import Programs
from rig.transfer_log import TransferLog

from ...plan.catalog import Cell, Stage
from ...plan.pinning import Pinning
from ..system import Site
from .system import PeerSystem, ReadyPeer, RunningPeer

_RECEIVER = "receiver"  # the folder of its logs


@dataclass(frozen=True, kw_only=True)
class RunningPair(RunningPeer):
    """The one that has the file, and the one that takes it. See system.Receiving."""

    other: RunningPeer

    @property
    def receiver(self) -> Login:
        return Login(str(self.other.address), self.other.user, self.other.password)

    @property
    def transfer_log(self) -> TransferLog | None:
        """Of the receiver: a copy has succeeded when this one has all of it."""
        return self.other.transfer_log

    @property
    def upload_name(self) -> str:
        return self.other.upload_name

    def helpers(self) -> list[int]:
        return [program.pid for program in self.other.programs()]

    def programs(self) -> list[Program]:
        return [*super().programs(), *self.other.programs()]


@dataclass(frozen=True)
class ReadyPair:
    """See system.Prepared."""

    sender: ReadyPeer
    receiver: ReadyPeer

    @contextmanager
    def running(self, cell: Cell, pinning: Pinning, site: Site) -> Iterator[RunningPair]:
        there = replace(site, logs=site.logs / _RECEIVER)
        with ExitStack() as stack:
            other = stack.enter_context(self.receiver.running(cell, pinning, there))
            one = stack.enter_context(self.sender.running(cell, pinning, site))
            yield RunningPair(**{**vars(one), "other": other})


@dataclass(frozen=True)
class PairSystem:
    """See system.System."""

    sender: PeerSystem
    receiver: PeerSystem

    def fetch(self, work: Path) -> None:
        for one in (self.sender, self.receiver):
            one.fetch(work)

    @contextmanager
    def prepared(
        self, stage: Stage, programs: Programs, work: Path, cores: Cores
    ) -> Iterator[ReadyPair]:
        with (
            self.sender.prepared(stage, programs, work, cores) as sender,
            self.receiver.prepared(stage, programs, work, cores) as receiver,
        ):
            yield ReadyPair(sender, receiver)
