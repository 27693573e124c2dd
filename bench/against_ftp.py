"""Ours beside other people's FTP servers, and loadgen's FTP driver beside a bare program.

Every request logs in: natively with `get:`, over FTP on a connection of its own. Each server has
the same 1,000 users. lab/systems/peers/known.py says whom it asks about them.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lab.systems.peers import known
from lab.systems.peers.server import Account, Setting
from lab.systems.peers.system import packages_in
from rig.processes import Address, run_tool
from rig.stores import Store

from .against_peers import KEPT
from .command import work_in
from .promise import Outcome, Side, compare, in_turns
from .system import USERS, Bench, running

FOR_DRIVER = "pure-ftpd"
_FTP = ("--protocol", "ftp")
_ONE_FILE = ("--user", "user1", "--file", "1KB1.txt")
_THREADS = ("--threads", "8")
_CPU = re.compile(r"([0-9.]+) us of CPU each")


def get(name: str) -> Callable[[Bench, Store], Outcome]:
    """Ours, with its defaults, against this server."""

    def measure(bench: Bench, store: Store) -> Outcome:
        with (
            running(bench, store) as system,
            _server(bench, name, system.auth_address) as address,
        ):
            theirs = Side(name, lambda n: bench.get_rate(address, "1KB", n, *_FTP), _loads(name))
            return compare(bench, Side("ours", lambda n: system.get_rate("1KB", n)), theirs)

    return measure


def _loads(name: str) -> tuple[int, ...]:
    """pure-ftpd sleeps in each log-in, so it needs more. vsftpd cannot take so many at once."""
    return (8, 16, 32, 64, 128, 256) if name.startswith("pure-ftpd") else (4, 8, 16, 32, 64)


def cost_of_driver(bench: Bench, _: Store) -> Outcome:
    """Both log in once for each thread, and make the same calls for a file."""
    files = 0

    with _server(bench, FOR_DRIVER, None) as address:

        def ours() -> float:
            nonlocal files
            result = bench.load(address, "get", *_ONE_FILE, *_THREADS, *_FTP, *KEPT)
            files = int(result["requests"])
            return float(result["cpu"]["us_per_request"])

        mine, others, ratio = in_turns(bench, ours, lambda: _bare_us(bench, address, files))
    return Outcome(ratio, f"{mine:.1f} us of loadgen against {others:.1f} us of a bare program")


def _bare_us(bench: Bench, address: Address, files: int) -> float:
    """The bare program's CPU time for each file."""
    threads = int(_THREADS[1])
    command = [str(bench.programs.path("peers") / "ftp_bare"), str(address.port), "user1"]
    command += ["1KB1.txt", str(max(1, files // threads)), str(threads)]
    found = _CPU.search(run_tool(command, "ftp_bare", secrets={"FTP_PASSWORD": bench.password}))
    assert found  # it says so whenever it ends well
    return float(found[1])


@contextmanager
def _server(bench: Bench, name: str, authserver: Address | None) -> Iterator[Address]:
    setting = Setting(
        root=bench.root,
        folder=bench.folder / name,
        packages=packages_in(work_in(bench.programs.folder)),
        accounts=tuple(Account(f"user{n}", bench.password) for n in range(1, 1 + USERS)),
        authserver=authserver,
    )
    with known.running(name, setting) as server:
        yield server.address
