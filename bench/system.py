"""A store, an authserver and a fileserver that run, and loads on them."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rig import loadgen, servers
from rig.errors import Failed
from rig.processes import Address, Program
from rig.servers import Programs, Server
from rig.stores import Store

USERS = 1000  # user1, user2 and so on; each request of a get draws one of them
PLAIN = ("--password-scheme", "plain")
_CONNECTIONS = 4  # over which users are made


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What all measurements share. All users have the same password, made for this run."""

    programs: Programs
    folder: Path
    root: Path
    seconds: float
    rounds: int
    password: str

    def load(self, address: Address, *flags: str) -> dict[str, Any]:
        """Runs loadgen and returns its result. Failed when a request failed."""
        return loadgen.run(
            self.programs.path("loadgen"),
            [*flags, "--server", str(address)],
            self.folder / "loadgen.log",
            password=self.password,
            seconds=self.seconds,
        )

    def get(self, address: Address, size: str, threads: int, *flags: str) -> dict[str, Any]:
        """The result of fetching one file of this size again and again."""
        users = ("--user", "user%d", "--accounts", str(USERS))
        file = ("--file", f"{size}1.txt", "--threads", str(threads))
        return self.load(address, "get", *users, *file, *flags)

    def get_rate(self, address: Address, size: str, threads: int, *flags: str) -> float:
        return float(self.get(address, size, threads, *flags)["throughput_rps"])

    def new_rate(self, address: Address, threads: int) -> float:
        """Accounts that are created, each with another name."""
        return float(self.load(address, "new", "--threads", str(threads))["throughput_rps"])


@dataclass(frozen=True)
class System:
    bench: Bench
    fileserver: Program
    address: Address
    auth_address: Address

    @property
    def http_address(self) -> Address:
        """Requires: the fileserver has --http-listen."""
        return self.fileserver.further_address("http")

    def get(self, size: str, threads: int, *flags: str) -> dict[str, Any]:
        return self.bench.get(self.address, size, threads, *flags)

    def get_rate(self, size: str, threads: int, *flags: str) -> float:
        return self.bench.get_rate(self.address, size, threads, *flags)

    def new_rate(self, threads: int) -> float:
        return self.bench.new_rate(self.address, threads)


@contextmanager
def running(
    bench: Bench,
    store: Store,
    authserver: tuple[str, ...] = (),
    fileserver: tuple[str, ...] = (),
) -> Iterator[System]:
    """Starts both servers with these flags, in front of a store that runs already.

    All users are there, and each has logged in once: a password whose hash was verified is cheaper
    the next time.
    """
    with servers.running(
        bench.programs,
        store_flags=store.authserver_flags,
        root=bench.root,
        logs=bench.folder,
        prefix=f"{secrets.token_hex(4)}.",  # two systems may run at once
        authserver=Server(authserver),
        fileserver=Server(fileserver),
    ) as pair:
        # Another system may have made them in the same store.
        _for_each_user(bench, pair.address, "new", ("OK", "ERR exists"))
        _for_each_user(bench, pair.address, "get", ("OK",))
        yield System(bench, pair.fileserver, pair.address, pair.auth_address)


def _for_each_user(bench: Bench, address: Address, verb: str, right: tuple[str, ...]) -> None:
    """Sends this request for each user. Failed when a reply is none of the right ones."""

    def ask(part: int) -> bytes:
        numbers = range(1 + part, 1 + USERS, _CONNECTIONS)
        return servers.ask(address, *(f"{verb}:user{n}:{bench.password}" for n in numbers))

    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        for replies in pool.map(ask, range(_CONNECTIONS)):
            for reply in replies.decode(errors="replace").splitlines():
                if not reply.startswith(right):
                    raise Failed(f"the fileserver answered `{verb}:` with '{reply}'")
