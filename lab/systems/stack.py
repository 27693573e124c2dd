"""A running system under test: store, authserver and fileserver of one stage."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..plan.catalog import Cell, Stage
from ..plan.pinning import Pinning
from ..rig import servers
from ..rig.errors import Failed
from ..rig.place import HERE, Place
from ..rig.processes import Address, Program
from ..rig.servers import Programs, Server
from ..rig.stores import Store


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Servers that are ready, and an account to ask for files with."""

    cell: Cell
    store: Store
    authserver: Program
    fileserver: Program
    address: Address
    user: str
    password: str

    def process_ids(self) -> dict[str, int]:
        ids = {"fileserver": self.fileserver.pid, "authserver": self.authserver.pid}
        if self.store.program:
            ids["store"] = self.store.program.pid
        return ids

    def commands(self) -> dict[str, str]:
        """Every command line, for the record."""
        return {program.name: program.command_line() for program in self._programs()}

    def check_running(self) -> None:
        """Failed with its last words if a server has ended."""
        for program in self._programs():
            if not program.is_running():
                raise Failed(f"{program.name} ended: {program.last_words()}")

    def counts(self) -> dict[str, int]:
        """What the servers say they served. Requires: they have stopped."""
        return {
            f"{program.name}_{what}": number
            for program in (self.fileserver, self.authserver)
            for what, number in _counts_in(program.log_path).items()
        }

    def _programs(self) -> list[Program]:
        all_three = (self.fileserver, self.authserver, self.store.program)
        return [program for program in all_three if program]


@contextmanager
def running(
    cell: Cell,
    stage: Stage,
    store: Store,
    pinning: Pinning,
    programs: Programs,
    root: Path,
    logs: Path,
    wrapper: tuple[str, ...] = (),
    place: Place = HERE,
) -> Iterator[Stack]:
    """Starts both servers in front of this store, and stops them when the block is left.

    The fileserver can be reached from the place. wrapper is put before its command: a profiler.
    """
    with servers.running(
        programs,
        store_flags=store.authserver_flags,
        root=root,
        logs=logs,
        prefix=f"{cell.slug}.",
        host=place.host,
        authserver=Server(stage.authserver, pinning.cores["authserver"]),
        fileserver=Server(stage.fileserver, pinning.cores["fileserver"], wrapper),
    ) as pair:
        user, password = f"lab-{secrets.token_hex(8)}", secrets.token_hex(16)
        servers.make_account(pair.address, user, password)
        yield Stack(
            cell=cell,
            store=store,
            authserver=pair.authserver,
            fileserver=pair.fileserver,
            address=pair.address,
            user=user,
            password=password,
        )


def _counts_in(log: Path) -> dict[str, int]:
    """connections=… and requests=… of the last line of a server that stopped; {} if it has none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    stopped = [line for line in lines if "stopped" in line]
    if not stopped:
        return {}
    counts = re.findall(r"\b(connections|requests)=(\d+)", stopped[-1])
    return {name: int(number) for name, number in counts}
