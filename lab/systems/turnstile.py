"""Our own servers: a store, an authserver and a fileserver."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig import servers, stores
from rig.cores import Cores
from rig.processes import Address, Program
from rig.servers import Programs, Server
from rig.stores import Store
from rig.transfer_log import TransferLog

from ..plan.catalog import Cell, Stage
from ..plan.pinning import Pinning
from .programs import OfPrograms, limit_bytes
from .system import Site


@dataclass(frozen=True, kw_only=True)
class Stack(OfPrograms):
    """Both servers in front of the store; see system.Running, system.Mortal and system.Telling."""

    cell: Cell
    behind: Store
    authserver: Program
    fileserver: Program
    auth_address: Address
    address: Address  # by HTTP, where the workload needs that
    user: str
    password: str
    transfer_log: TransferLog | None = None
    telemetry: Address | None = None  # of the fileserver

    @property
    def store(self) -> str:
        return self.behind.kind

    @property
    def settings(self) -> dict[str, str]:
        return self.behind.settings

    @property
    def durability(self) -> str:
        return self.behind.durability

    def process_ids(self) -> dict[str, int]:
        ids = {"fileserver": self.fileserver.pid, "authserver": self.authserver.pid}
        if self.behind.program:
            ids["store"] = self.behind.program.pid
        return ids

    def counts(self) -> dict[str, int]:
        return {
            f"{program.name}_{what}": number
            for program in (self.fileserver, self.authserver)
            for what, number in _counts_in(program.log_path).items()
        }

    def told(self) -> dict[str, float]:
        return servers.read_telemetry(self.telemetry) if self.telemetry else {}

    def kill(self, component: str) -> None:
        self._with_address(component)[0].kill()

    def start_again(self, component: str) -> None:
        servers.start_again(*self._with_address(component))

    def _with_address(self, component: str) -> tuple[Program, Address]:
        return {
            "authserver": (self.authserver, self.auth_address),
            "fileserver": (self.fileserver, self.address),
        }[component]

    def programs(self) -> list[Program]:
        all_three = (self.fileserver, self.authserver, self.behind.program)
        return [program for program in all_three if program]


@dataclass(frozen=True)
class WithStore:
    """A store that has started; see system.Prepared."""

    stage: Stage
    programs: Programs
    store: Store

    @contextmanager
    def running(self, cell: Cell, pinning: Pinning, site: Site) -> Iterator[Stack]:
        if self.store.program:
            self.store.program.move_to(pinning.cores["store"])
        log = self._transfer_log(cell, site.logs)
        recorded = ("--transfer-log", str(log)) if log else ()
        with servers.running(
            self.programs,
            store_flags=self.store.authserver_flags,
            root=site.root,
            logs=site.logs,
            prefix=f"{cell.slug}.",
            host=site.place.host,
            authserver=Server(self.stage.authserver, pinning.cores["authserver"]),
            fileserver=Server(
                (*self.stage.fileserver, *recorded, *self._flags_of_http(cell, site)),
                pinning.cores["fileserver"],
                site.wrapper,
            ),
        ) as pair:
            user, password = f"lab-{secrets.token_hex(8)}", secrets.token_hex(16)
            servers.make_account(pair.address, user, password)
            program, has_mix = pair.fileserver, self.stage.mix is not None
            is_by_http = cell.kind.is_by_http
            yield Stack(
                cell=cell,
                behind=self.store,
                authserver=pair.authserver,
                fileserver=program,
                auth_address=pair.auth_address,
                address=program.further_address("http") if is_by_http else pair.address,
                user=user,
                password=password,
                transfer_log=TransferLog(log) if log else None,
                telemetry=program.further_address("telemetry") if has_mix else None,
            )

    def _flags_of_http(self, cell: Cell, site: Site) -> list[str]:
        """Writers and the clients of others need it. Of a mix, what comes from memory is known by
        the telemetry only.
        """
        if not cell.kind.is_by_http:
            return []
        flags, mix = ["--http-listen", str(Address(site.place.host, 0))], self.stage.mix
        if mix:
            flags += ["--telemetry-listen", str(Address("127.0.0.1", 0))]
        if mix and mix.in_memory:
            flags += ["--memory-limit", str(limit_bytes(site.root, mix.in_memory))]
        return flags

    def _transfer_log(self, cell: Cell, logs: Path) -> Path | None:
        """Of few workloads, because it costs time; a server of processes has none."""
        can_have_one = cell.kind.needs_log and "process" not in self.stage.fileserver
        return logs / f"{cell.slug}.server-transfers.json" if can_have_one else None


class Turnstile:
    """See system.System."""

    def fetch(self, work: Path) -> None:
        """It is built, not downloaded."""

    @contextmanager
    def prepared(
        self, stage: Stage, programs: Programs, work: Path, cores: Cores
    ) -> Iterator[WithStore]:
        store = stores.start(stage.store, work / "stores", cores)
        try:
            yield WithStore(stage, programs, store)
        finally:
            store.stop()


def _counts_in(log: Path) -> dict[str, int]:
    """connections=… and requests=… of the last line of a server that stopped; {} if it has none."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    stopped = [line for line in lines if "stopped" in line]
    if not stopped:
        return {}
    counts = re.findall(r"\b(connections|requests)=(\d+)", stopped[-1])
    return {name: int(number) for name, number in counts}
