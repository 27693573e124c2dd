"""Our own servers: a store, an authserver and a fileserver."""

import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rig import servers, stores
from rig.certificates import KeyPair
from rig.cores import Cores
from rig.processes import Address, Program
from rig.servers import Pair, Programs, Server
from rig.stores import Store
from rig.transfer_log import TransferLog

from ..kinds.tls import PROXY, SERVER
from ..plan.catalog import Cell, Stage
from ..plan.pinning import Pinning
from .peers import nginx
from .peers.server import CONFIGURATION
from .programs import OfPrograms, key_pair, limit_bytes
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
    proxy: Program | None = None  # in front of the fileserver
    proxy_settings: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> str:
        return self.behind.kind

    @property
    def settings(self) -> dict[str, str]:
        return {**self.behind.settings, **self.proxy_settings}

    @property
    def durability(self) -> str:
        return self.behind.durability

    def process_ids(self) -> dict[str, int]:
        ids = {"fileserver": self.fileserver.pid, "authserver": self.authserver.pid}
        if self.behind.program:
            ids["store"] = self.behind.program.pid
        if self.proxy:
            ids["proxy"] = self.proxy.pid
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
        all_of_them = (self.fileserver, self.authserver, self.behind.program, self.proxy)
        return [program for program in all_of_them if program]


@dataclass(frozen=True)
class WithStore:
    """A store that has started; see system.Prepared."""

    stage: Stage
    programs: Programs
    store: Store
    work: Path
    pair: KeyPair | None  # None where all is in clear

    @contextmanager
    def running(self, cell: Cell, pinning: Pinning, site: Site) -> Iterator[Stack]:
        if self.store.program:
            self.store.program.move_to(pinning.cores["store"])
        log = self._transfer_log(cell, site.logs)
        recorded = ("--transfer-log", str(log)) if log else ()
        with (
            self._servers(cell, pinning, site, recorded) as pair,
            self._front(cell, pair.fileserver, site) as proxied,
        ):
            user, password = f"lab-{secrets.token_hex(8)}", secrets.token_hex(16)
            servers.make_account(pair.address, user, password)
            program, has_mix = pair.fileserver, self.stage.mix is not None
            proxy, address, settings = proxied or (None, self._address(cell, pair), {})
            yield Stack(
                cell=cell,
                behind=self.store,
                authserver=pair.authserver,
                fileserver=program,
                auth_address=pair.auth_address,
                address=address,
                user=user,
                password=password,
                transfer_log=TransferLog(log) if log else None,
                telemetry=program.further_address("telemetry") if has_mix else None,
                proxy=proxy,
                proxy_settings=settings,
            )

    def _servers(
        self, cell: Cell, pinning: Pinning, site: Site, recorded: tuple[str, ...]
    ) -> AbstractContextManager[Pair]:
        return servers.running(
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
        )

    def _address(self, cell: Cell, pair: Pair) -> Address:
        """Where users ask the fileserver."""
        if not cell.kind.is_by_http:
            return pair.address
        return pair.fileserver.further_address("https" if self._encrypts else "http")

    @property
    def _encrypts(self) -> bool:
        """Whether the fileserver does it itself."""
        how = self.stage.encryption
        return how is not None and how.by == SERVER

    @contextmanager
    def _front(
        self, cell: Cell, behind: Program, site: Site
    ) -> Iterator[tuple[Program, Address, dict[str, str]] | None]:
        """nginx that encrypts in front of the fileserver, where the stage has it. With its
        configuration.
        """
        how = self.stage.encryption
        if how is None or how.by != PROXY:
            yield None
            return
        nginx.require()
        guard = nginx.encrypted(nginx.in_front_of(behind.further_address("http")), self.pair)
        log = site.logs / f"{cell.slug}.proxy.log"
        with (
            tempfile.TemporaryDirectory(dir=self.work / "stores") as folder,
            nginx.running(Path(folder), site.root, guard, log, host=site.place.host) as (
                program,
                address,
            ),
        ):
            text = (Path(folder) / CONFIGURATION).read_text(encoding="utf-8")
            yield program, address, {"nginx": text}

    def _flags_of_http(self, cell: Cell, site: Site) -> list[str]:
        """Writers and the clients of others need it. Of a mix, what comes from memory is known by
        the telemetry only.
        """
        if not cell.kind.is_by_http:
            return []
        anywhere, mix, how = str(Address(site.place.host, 0)), self.stage.mix, self.stage.encryption
        if self._encrypts and self.pair:
            certificate, key = str(self.pair.certificate), str(self.pair.key)
            return [
                *("--https-listen", anywhere),
                *("--tls-certificate", certificate, "--tls-key", key),
            ]
        flags = ["--http-listen", anywhere]
        if how and how.by == PROXY:
            flags += ["--trusted-proxy", site.place.host]
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
            with key_pair(stage, work) as pair:
                yield WithStore(stage, programs, store, work, pair)
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
