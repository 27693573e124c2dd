"""A store, an authserver and a fileserver that run, and loads on them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.rig import loadgen, servers
from lab.rig.errors import Failed
from lab.rig.processes import Address, Program
from lab.rig.servers import Programs, Server
from lab.rig.stores import Store

USER = "bench"


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What all measurements share."""

    programs: Programs
    folder: Path
    root: Path
    seconds: float
    rounds: int


@dataclass(frozen=True)
class System:
    bench: Bench
    fileserver: Program
    address: Address
    password: str

    def load(self, *flags: str) -> dict[str, Any]:
        """Runs loadgen and returns its result. Failed when a request failed."""
        return loadgen.run(
            self.bench.programs.path("loadgen"),
            [*flags, "--server", str(self.address)],
            self.bench.folder / "loadgen.log",
            password=self.password,
            seconds=self.bench.seconds,
        )

    def get(self, size: str, threads: int, *flags: str) -> dict[str, Any]:
        """The result of fetching one file of this size again and again."""
        file = ("--file", f"{size}1.txt", "--threads", str(threads))
        return self.load("get", "--user", USER, *file, *flags)

    def get_rate(self, size: str, threads: int) -> float:
        return float(self.get(size, threads)["throughput_rps"])

    def new_rate(self, threads: int) -> float:
        return float(self.load("new", "--threads", str(threads))["throughput_rps"])


@contextmanager
def running(
    bench: Bench,
    store: Store,
    authserver: tuple[str, ...] = (),
    fileserver: tuple[str, ...] = (),
) -> Iterator[System]:
    """Starts both servers with these flags, in front of a store that runs already."""
    with servers.running(
        bench.programs,
        store_flags=store.authserver_flags,
        root=bench.root,
        logs=bench.folder,
        prefix=f"{secrets.token_hex(4)}.",  # two systems may run at once
        authserver=Server(authserver),
        fileserver=Server(fileserver),
    ) as pair:
        password = _account_password(bench, pair.address)
        yield System(bench, pair.fileserver, pair.address, password)


def _account_password(bench: Bench, address: Address) -> str:
    """Makes the account, unless another system has made it in the same store."""
    password_file = bench.folder / "bench-password"
    password = secrets.token_hex(8)
    try:
        servers.make_account(address, USER, password)
    except Failed:
        return password_file.read_text(encoding="ascii")
    password_file.touch(mode=0o600)
    password_file.write_text(password, encoding="ascii")
    return password
