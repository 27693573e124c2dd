"""An account whose `new` was answered OK is there after crashes and power cuts."""

import contextlib
import itertools
import random
import socket
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import attacked
from attacked import Restartable
from databases import Database, MariaDb, Redis
from lost_accounts import lost_accounts
from power_cut import PowerCut
from promise import Bench, Figure, Promise
from waiting import eventually

from rig.processes import Address

_CLIENTS = 8
_BATCH = 4
_PAUSE_S = 0.02
_REPLY_TIMEOUT_S = 60.0
_PROGRESS_S = 600.0
_FLAGS = ("--password-scheme", "plain", "--store-timeout", "60")
_UNCONFINED = {"AUTHSERVER_SANDBOX": "off"}  # power_cut.c writes beside the store's folder
_MAY_LOSE = "may lose the last second of accounts"


class _Maker(threading.Thread):
    """Makes one account after the other, until stop(). Connects again when it has to."""

    def __init__(self, address: Address, name: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._names = (f"{name}.{number}" for number in itertools.count())
        self._is_ending = threading.Event()
        self.acknowledged: list[str] = []
        self.start()

    def run(self) -> None:
        while not self._is_ending.is_set():
            with contextlib.suppress(OSError):
                self._talk()
            time.sleep(_PAUSE_S)

    def _talk(self) -> None:
        with socket.create_connection(self._address, timeout=_REPLY_TIMEOUT_S) as connection:
            replies = connection.makefile("rb")
            while not self._is_ending.is_set():
                names = list(itertools.islice(self._names, _BATCH))
                connection.sendall("".join(f"new:{name}:pw-{name}\n" for name in names).encode())
                for name in names:
                    reply = replies.readline()
                    if reply == b"OK\n":
                        self.acknowledged.append(name)
                    elif not reply.endswith(b"\n"):
                        return

    def stop(self) -> None:
        self._is_ending.set()
        self.join()


class _Makers:
    """Makes accounts from construction until stop(), on several connections."""

    _numbers = itertools.count()

    def __init__(self, address: Address) -> None:
        number = next(self._numbers)
        self._makers = [_Maker(address, f"u{number}.{client}") for client in range(_CLIENTS)]

    def count(self) -> int:
        return sum(len(maker.acknowledged) for maker in self._makers)

    def wait_for(self, count: int) -> None:
        """Until so many were acknowledged in all."""
        eventually(lambda: self.count() >= count, f"{count} accounts are made", _PROGRESS_S)

    def stop(self) -> list[str]:
        """All that were acknowledged."""
        for maker in self._makers:
            maker.stop()
        return [name for maker in self._makers for name in maker.acknowledged]


def _lost(address: Address, names: Sequence[str]) -> list[str]:
    return lost_accounts(address, [(name, f"pw-{name}") for name in names])


@dataclass(frozen=True)
class _Result:
    kind: str
    accounts: int
    lost: int
    note: str = ""

    def __str__(self) -> str:
        return f"{self.kind}{self.note} {self.lost} of {self.accounts:,}"


@dataclass(frozen=True)
class _Servers:
    """An authserver and its store. server is None for SQLite."""

    store: Database | None
    authserver: Restartable

    def kill(self, parts: Iterable[str]) -> None:
        if "store" in parts and self.store:
            self.store.kill()
        if "authserver" in parts:
            self.authserver.kill()

    def start(self, parts: Iterable[str]) -> None:
        if "store" in parts and self.store:
            self.store.start()
        if "authserver" in parts:
            self.authserver.start()


def _new_folder(bench: Bench, kind: str) -> Path:
    return Path(tempfile.mkdtemp(prefix=kind, dir=bench.folder))


def _killed(bench: Bench, kind: str) -> _Result:
    """Store and authserver are killed at random, in turn and together."""
    total, kills = bench.scaled(50_000, 400), bench.scaled(20, 2)
    folder = _new_folder(bench, kind)
    with ExitStack() as stack:
        store, flags = attacked.start_store(kind, folder / "store")
        if store:
            stack.callback(store.close)
        authserver = Restartable(
            bench.programs, "authserver", [*flags, *_FLAGS], folder / "authserver.log"
        )
        stack.callback(authserver.close)
        servers = _Servers(store, authserver)
        makers = _Makers(authserver.address)
        for number in range(kills):
            makers.wait_for(number * total // kills + random.randrange(total // kills))
            parts = (["authserver"], ["store"], ["authserver", "store"])[number % 3 if store else 0]
            servers.kill(parts)
            servers.start(parts)
        makers.wait_for(total)
        names = makers.stop()
        return _Result(kind, len(names), len(_lost(authserver.address, names)))


@contextmanager
def _powered(
    bench: Bench, kind: str, options: Sequence[str], ignores_syncs: bool
) -> Iterator[tuple[PowerCut, _Servers]]:
    """Servers whose files can be cut. SQLite begins with an empty folder, the others installed."""
    folder = _new_folder(bench, kind)
    power = PowerCut(folder, ignores_syncs=ignores_syncs)
    with ExitStack() as stack:
        store, flags = None, ["--store", "sqlite", "--sqlite-path", str(power.root / "accounts.db")]
        if kind != "sqlite":
            store = _database(kind, folder, power, options)
            flags = store.authserver_flags
            stack.callback(store.close)
            store.stop()
            power.begin()
            store.start()
        authserver = Restartable(
            bench.programs,
            "authserver",
            [*flags, *_FLAGS],
            folder / "authserver.log",
            None if store else power.variables() | _UNCONFINED,
        )
        stack.callback(authserver.close)
        yield power, _Servers(store, authserver)


def _database(kind: str, folder: Path, power: PowerCut, options: Sequence[str]) -> Database:
    """A server with the library of power_cut.c. Its data is in power.root."""
    loading = ["env", *(f"{name}={value}" for name, value in power.variables().items())]

    class PoweredRedis(Redis):
        def command(self) -> list[str]:
            return [*loading, *super().command()]

    class PoweredMariaDb(MariaDb):
        def command(self) -> list[str]:
            return [*loading, *super().command()]

    if kind == "redis":
        return PoweredRedis(folder, "--dir", str(power.root), *options)
    # Otherwise the library does not see the writes.
    seen = ["--innodb-use-native-aio=0", "--innodb-flush-method=fsync"]
    return PoweredMariaDb(folder, *seen, "--innodb-log-file-size=8M", *options)


def _cut(
    bench: Bench,
    kind: str,
    options: Sequence[str] = (),
    *,
    cuts: int,
    ignores_syncs: bool = False,
) -> tuple[_Result, str]:
    """The power is cut while accounts are made. Also returns the authserver's log."""
    everything = ("store", "authserver")
    kept: list[str] = []
    accounts = 0
    with _powered(bench, kind, options, ignores_syncs) as (power, servers):
        for _ in range(cuts):
            makers = _Makers(servers.authserver.address)
            makers.wait_for(random.randrange(50, 400))
            servers.kill(everything)
            names = makers.stop()
            power.cut()
            servers.start(everything)
            lost = set(_lost(servers.authserver.address, kept + names))
            accounts += len(names)
            kept = [name for name in kept + names if name not in lost]
        return _Result(kind, accounts, accounts - len(kept)), servers.authserver.log()


_FAST = (
    ("redis", ("--appendfsync", "everysec")),
    ("mysql", ("--innodb-flush-log-at-trx-commit=2",)),
)


def _cut_with_fast_settings(
    bench: Bench, setting: tuple[str, tuple[str, ...]], cuts: int
) -> _Result:
    kind, options = setting
    result, log = _cut(bench, kind, options, cuts=cuts)
    text = " ".join(options).lstrip("-")
    assert _MAY_LOSE in log, f"the log of the authserver does not warn of {kind}'s {text}"
    return _Result(kind, result.accounts, result.lost, f" ({text})")


def measure(bench: Bench) -> Figure:
    """On every store. SQLite has no setting that is faster and keeps less."""
    cuts = bench.scaled(20, 2)
    killed = [_killed(bench, kind) for kind in attacked.KINDS[: bench.scaled(3, 2)]]
    cut = [_cut(bench, kind, cuts=cuts)[0] for kind in attacked.KINDS]
    fast = [_cut_with_fast_settings(bench, kind, cuts) for kind in _FAST[: bench.scaled(2, 1)]]
    texts = [", ".join(map(str, results)) for results in (killed, cut, fast)]
    return Figure(
        not any(result.lost for result in killed + cut),
        f"lost in {bench.scaled(20, 2)} kills: {texts[0]}; in {cuts} power cuts: {texts[1]}; "
        f"with fast settings, of which the log warns: {texts[2]}",
    )


def control(bench: Bench) -> Figure:
    """A disk that does not carry out syncs loses accounts."""
    result, _ = _cut(bench, "sqlite", cuts=1, ignores_syncs=True)
    return Figure(not result.lost, f"lost without syncs: {result}")


PROMISE = Promise("an acknowledged account stays", measure, control)
