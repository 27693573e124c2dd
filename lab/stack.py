"""A running system under test: store, authserver and fileserver of one stage, in this order."""

from __future__ import annotations

import re
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .catalog import Cell, Stage
from .errors import Failed
from .pinning import Pinning
from .processes import Program
from .stores import Store

_START_TIMEOUT_S = 300  # a prefetching fileserver reads all its files first
_PROGRAMS = ("fileserver", "authserver", "loadgen")


@dataclass(frozen=True)
class Programs:
    """Where the programs under test are."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def require(self) -> None:
        """Failed unless all are built."""
        missing = [name for name in _PROGRAMS if not self.path(name).is_file()]
        if missing:
            raise Failed(f"{', '.join(missing)} not found in {self.folder}: run make")


@dataclass
class Stack:
    """Servers that are ready, and an account to ask for files with."""

    cell: Cell
    store: Store
    authserver: Program
    fileserver: Program
    address: str
    user: str
    password: str

    def process_ids(self) -> dict[str, int]:
        ids = {"fileserver": self.fileserver.pid, "authserver": self.authserver.pid}
        if self.store.program:
            ids["store"] = self.store.program.pid
        return ids

    def commands(self) -> dict[str, str]:
        """Every command line, for the record."""
        programs = (self.fileserver, self.authserver, self.store.program)
        return {program.name: program.command_line() for program in programs if program}

    def check_running(self) -> None:
        """Failed with its last words if a server is gone."""
        for program in (self.fileserver, self.authserver, self.store.program):
            if program and not program.is_running():
                raise Failed(f"{program.name} ended: {program.last_words()}")

    def counts(self) -> dict[str, int]:
        """What the servers say they served. Requires: they have stopped."""
        found = {
            program.name: _counts_in(program.log_path)
            for program in (self.fileserver, self.authserver)
        }
        return {
            f"{name}_{what}": number
            for name, counts in found.items()
            for what, number in counts.items()
        }


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
) -> Iterator[Stack]:
    """Starts both servers on free ports before, and stops them after, whatever happens between.

    wrapper is put before the fileserver's command: a profiler.
    """
    logs.mkdir(parents=True, exist_ok=True)
    authserver = Program(
        "authserver",
        [
            str(programs.path("authserver")),
            "--listen",
            "127.0.0.1:0",
            *stage.authserver,
            *store.authserver_flags,
        ],
        pinning.cores["authserver"],
        _fresh(logs / f"{cell.slug}.authserver.log"),
    )
    try:
        auth_address = authserver.wait_ready(_START_TIMEOUT_S)
        fileserver = Program(
            "fileserver",
            [
                *wrapper,
                str(programs.path("fileserver")),
                "--listen",
                "127.0.0.1:0",
                "--auth",
                auth_address,
                "--root",
                str(root),
                *stage.fileserver,
            ],
            pinning.cores["fileserver"],
            _fresh(logs / f"{cell.slug}.fileserver.log"),
        )
        try:
            address = fileserver.wait_ready(_START_TIMEOUT_S)
            user, password = f"lab-{secrets.token_hex(8)}", secrets.token_hex(16)
            make_account(address, user, password)
            yield Stack(cell, store, authserver, fileserver, address, user, password)
        finally:
            fileserver.stop()
    finally:
        authserver.stop()


def make_account(address: str, user: str, password: str) -> None:
    """By the protocol's own `new:`, as any client does it."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(f"new:{user}:{password}\n".encode())
        reply = connection.makefile("rb").readline().decode(errors="replace").strip()
    if reply != "OK":
        raise Failed(f"the fileserver answered `new:` with '{reply}'")


def _fresh(log: Path) -> Path:
    log.unlink(missing_ok=True)
    return log


def _counts_in(log: Path) -> dict[str, int]:
    """connections=… and requests=… of the last line that a stopped server wrote; {} if it has none."""
    stopped = [
        line
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
        if "stopped" in line
    ]
    if not stopped:
        return {}
    return {
        name: int(number)
        for name, number in re.findall(r"\b(connections|requests)=(\d+)", stopped[-1])
    }
