"""A store, an authserver and a fileserver that run, and loads on them."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab import stores
from lab.errors import Failed
from lab.processes import Program
from lab.stack import make_account

_START_TIMEOUT_S = 120
USER = "bench"

# The paper's way: a thread and all connections anew for each request, passwords in plain text.
PAPER_AUTHSERVER = ("--spare-workers", "0", "--store-connection", "per-request")
PAPER_FILESERVER = ("--spare-threads", "0", "--auth-connection", "per-request")


@dataclass(frozen=True)
class Bench:
    """What all measurements share."""

    build: Path
    folder: Path
    root: Path
    seconds: float
    rounds: int

    @property
    def cores(self) -> tuple[int, ...]:
        return tuple(sorted(os.sched_getaffinity(0)))


@dataclass
class System:
    bench: Bench
    fileserver: Program
    authserver: Program
    address: str
    password: str

    def load(self, *flags: str, seconds: float | None = None) -> dict:
        """Runs loadgen and returns its result. Failed when a request failed."""
        command = [
            str(self.bench.build / "loadgen"),
            *flags,
            "--server",
            self.address,
            "--seconds",
            f"{seconds or self.bench.seconds:g}",
            "--json",
            "-",
        ]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"LOADGEN_PASSWORD": self.password},
        )
        if done.returncode != 0:
            raise Failed(f"loadgen {' '.join(flags)}: {done.stderr.strip().splitlines()[-1]}")
        return json.loads(done.stdout)

    def get_rate(self, size: str, threads: int) -> float:
        result = self.load(
            "get", "--user", USER, "--file", f"{size}1.txt", "--threads", str(threads)
        )
        return result["throughput_rps"]

    def new_rate(self, threads: int) -> float:
        return self.load("new", "--threads", str(threads))["throughput_rps"]


@contextmanager
def running(
    bench: Bench,
    store: stores.Store,
    authserver: tuple[str, ...] = (),
    fileserver: tuple[str, ...] = (),
) -> Iterator[System]:
    """Both servers on free ports, on a store that runs already."""
    programs: list[Program] = []
    try:
        programs.append(
            Program(
                "authserver",
                [
                    str(bench.build / "authserver"),
                    "--listen",
                    "127.0.0.1:0",
                    *store.authserver_flags,
                    *authserver,
                ],
                bench.cores,
                bench.folder / "authserver.log",
            )
        )
        auth_address = programs[0].wait_ready(_START_TIMEOUT_S)
        programs.append(
            Program(
                "fileserver",
                [
                    str(bench.build / "fileserver"),
                    "--listen",
                    "127.0.0.1:0",
                    "--auth",
                    auth_address,
                    "--root",
                    str(bench.root),
                    *fileserver,
                ],
                bench.cores,
                bench.folder / "fileserver.log",
            )
        )
        system = System(
            bench,
            programs[1],
            programs[0],
            programs[1].wait_ready(_START_TIMEOUT_S),
            secrets.token_hex(8),
        )
        # One account for each system on a store that several systems share: passwords differ, so make the user anew.
        _make_bench_account(system)
        yield system
    finally:
        for program in reversed(programs):
            program.stop()


def _make_bench_account(system: System) -> None:
    password_file = system.bench.folder / "bench-password"
    try:
        make_account(system.address, USER, system.password)
        password_file.touch(mode=0o600)
        password_file.write_text(system.password, encoding="ascii")
    except Failed:
        system.password = password_file.read_text(encoding="ascii")
