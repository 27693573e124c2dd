"""Each server of others as a system under test, beside our own."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig import servers, stores
from rig.certificates import KeyPair
from rig.cores import Cores
from rig.errors import Failed
from rig.processes import Address, Program
from rig.servers import Programs
from rig.stores import Store
from rig.transfer_log import TransferLog

from ...kinds import CLIENT
from ...plan.catalog import Cell, Stage
from ...plan.pinning import Pinning
from ..programs import OfPrograms, key_pair
from ..system import Site
from . import known
from .ftp_server import ANONYMOUS
from .known import Entry
from .server import Account, PeerServer, Setting

_START_TIMEOUT_S = 60.0


def packages_in(work: Path) -> Path:
    """Where the lab keeps private copies between its runs."""
    return work / "packages"


@dataclass(frozen=True, kw_only=True)
class RunningPeer(OfPrograms):
    """See system.Running. The component that serves files is called fileserver, as ours is."""

    cell: Cell
    entry: Entry
    stage: Stage
    server: PeerServer
    account: Account
    authserver: Program | None = None
    behind: Store | None = None

    @property
    def address(self) -> Address:
        return self.server.address

    @property
    def user(self) -> str:
        return self.account.user

    @property
    def password(self) -> str:
        return self.account.password

    @property
    def store(self) -> str:
        """That of our authserver; "" if the server does not ask it."""
        return self.stage.store

    @property
    def settings(self) -> dict[str, str]:
        own = {
            "server": self.entry.name,
            "version": self.server.version,
            "asks whom": self.entry.asks_whom,
            "configuration": self.server.configuration,
        }
        return own | (self.behind.settings if self.behind else {})

    @property
    def durability(self) -> str:
        return "Accounts are made before the server starts."

    def process_ids(self) -> dict[str, int]:
        ids = {"fileserver": self.server.program.pid}
        if self.authserver:
            ids["authserver"] = self.authserver.pid
        if self.behind and self.behind.program:
            ids["store"] = self.behind.program.pid
        return ids

    @property
    def transfer_log(self) -> TransferLog | None:
        """Of uploads and of downloads by a client. It costs time, which others are not to lose."""
        path = self.server.setting.transfer_log
        return TransferLog(path, self.server.log_form) if path else None

    @property
    def upload_name(self) -> str:
        return self.entry.upload_name

    def counts(self) -> dict[str, int]:
        """These servers do not say what they served."""
        return {}

    def programs(self) -> list[Program]:
        behind = self.behind.program if self.behind else None
        return [one for one in (self.server.program, self.authserver, behind) if one]


@dataclass(frozen=True, kw_only=True)
class ReadyPeer:
    """See system.Prepared."""

    entry: Entry
    stage: Stage
    programs: Programs
    work: Path
    store: Store | None
    pair: KeyPair | None

    @contextmanager
    def running(self, cell: Cell, pinning: Pinning, site: Site) -> Iterator[RunningPeer]:
        account = self._new_account()
        has_log = bool(self.entry.upload_name) or cell.kind is CLIENT
        stores_folder = self.work / "stores"  # what is left there is removed by the next lab
        stores_folder.mkdir(parents=True, exist_ok=True)
        site.logs.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(dir=stores_folder))
            authserver, address = None, None
            if self.store:
                authserver = self._authserver(self.store, pinning, site.logs / f"{cell.slug}.")
                stack.callback(authserver.stop)
                address = authserver.wait_ready(_START_TIMEOUT_S)
                servers.make_account(address, account.user, account.password)
            prefix = f"{site.logs.resolve()}/{cell.slug}."
            setting = Setting(
                root=site.root,
                folder=Path(folder),
                packages=packages_in(self.work),
                accounts=(account,),
                host=site.place.host,
                cores=pinning.cores["fileserver"],
                wrapper=site.wrapper,
                authserver=address,
                key_pair=self.pair,
                log_prefix=prefix,
                transfer_log=Path(f"{prefix}server-transfers.log") if has_log else None,
            )
            yield RunningPeer(
                cell=cell,
                entry=self.entry,
                stage=self.stage,
                server=stack.enter_context(known.running(self.entry.name, setting)),
                account=account,
                authserver=authserver,
                behind=self.store,
            )

    def _new_account(self) -> Account:
        asks_nobody = self.entry.asks_whom == known.NOBODY
        user = ANONYMOUS if asks_nobody else f"lab-{secrets.token_hex(8)}"
        return Account(user, secrets.token_hex(16))

    def _authserver(self, store: Store, pinning: Pinning, prefix: Path) -> Program:
        if store.program:
            store.program.move_to(pinning.cores["store"])
        flags = [*servers.authserver_flags(store.authserver_flags), *self.stage.authserver]
        return Program(
            "authserver",
            [str(self.programs.path("authserver")), *flags],
            Path(f"{prefix}authserver.log"),
            cores=pinning.cores["authserver"],
        )


@dataclass(frozen=True)
class PeerSystem:
    """See system.System. A stage of a server that asks our authserver names a store."""

    entry: Entry

    def fetch(self, work: Path) -> None:
        self.entry.server.fetch(packages_in(work))

    @contextmanager
    def prepared(
        self, stage: Stage, programs: Programs, work: Path, cores: Cores
    ) -> Iterator[ReadyPeer]:
        asks_ours = self.entry.asks_whom == known.OUR_AUTHSERVER
        if asks_ours != bool(stage.store):
            raise Failed(
                f"stage {stage.name}: {self.entry.name} asks {self.entry.asks_whom}, "
                f"so it has {'a' if asks_ours else 'no'} store"
            )
        with ExitStack() as stack:
            store = None
            if asks_ours:
                store = stores.start(stage.store, work / "stores", cores)
                stack.callback(store.stop)
            yield ReadyPeer(
                entry=self.entry,
                stage=stage,
                programs=programs,
                work=work,
                store=store,
                pair=stack.enter_context(key_pair(stage, work)),
            )
