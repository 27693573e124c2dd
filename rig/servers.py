"""An authserver and a fileserver that are ready, and what a client says to them first."""

import http.client
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .cores import Cores
from .errors import Failed
from .processes import Address, Program

START_TIMEOUT_S = 300.0  # a prefetching fileserver reads all its files first
_REPLY_TIMEOUT_S = 60.0
_PROGRAMS = ("fileserver", "authserver", "loadgen")
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Programs:
    """The folder with the programs under test."""

    folder: Path

    def path(self, name: str) -> Path:
        return self.folder / name

    def missing(self) -> list[str]:
        return [name for name in _PROGRAMS if not self.path(name).is_file()]

    def require(self, *names: str) -> None:
        """Failed unless these are built; without a name, all."""
        if missing := [name for name in self.missing() if not names or name in names]:
            raise Failed(f"{', '.join(missing)} not found in {self.folder}: run make")


@dataclass(frozen=True)
class Server:
    """How a server is started: its cores, and its flags beside those that connect the two.

    wrapper is put before the command: a profiler, for example.
    """

    flags: Sequence[str] = ()
    cores: Cores = ()
    wrapper: Sequence[str] = ()


@dataclass(frozen=True)
class Pair:
    """Both servers, ready. address is the fileserver's."""

    authserver: Program
    fileserver: Program
    auth_address: Address
    address: Address


def authserver_flags(store_flags: Sequence[str], host: str = _LOOPBACK) -> list[str]:
    """On a free port of this address, with the store that these flags name."""
    return ["--listen", str(Address(host, 0)), *store_flags]


def fileserver_flags(auth_address: Address | str, root: Path, host: str = _LOOPBACK) -> list[str]:
    """On a free port of this address, in front of this authserver and this folder.

    Clients on another host than this one have no limit for new accounts either.
    """
    unlimited = () if host == _LOOPBACK else ("--accounts-per-address", "0")
    return [
        *("--listen", str(Address(host, 0))),
        *("--auth", str(auth_address), "--root", str(root), *unlimited),
    ]


@contextmanager
def running(
    programs: Programs,
    *,
    store_flags: Sequence[str],
    root: Path,
    logs: Path,
    prefix: str = "",
    host: str = _LOOPBACK,
    authserver: Server = Server(),
    fileserver: Server = Server(),
) -> Iterator[Pair]:
    """Starts both servers, and stops them when the block is left.

    host is the address that the fileserver listens on. Their logs are `logs`/`prefix`NAME.log; an
    old one is removed. Failed when one does not start.
    """
    logs.mkdir(parents=True, exist_ok=True)
    started: list[Program] = []

    def start(name: str, server: Server, flags: list[str]) -> tuple[Program, Address]:
        log_path = logs / f"{prefix}{name}.log"
        log_path.unlink(missing_ok=True)
        command = [*server.wrapper, str(programs.path(name)), *flags, *server.flags]
        started.append(Program(name, command, log_path, cores=server.cores))
        return started[-1], started[-1].wait_ready(START_TIMEOUT_S)

    try:
        auth_program, auth_address = start("authserver", authserver, authserver_flags(store_flags))
        file_program, address = start(
            "fileserver", fileserver, fileserver_flags(auth_address, root, host)
        )
        yield Pair(auth_program, file_program, auth_address, address)
    finally:
        for program in reversed(started):
            program.stop()


def start_again(program: Program, address: Address) -> None:
    """After kill(): with the flags and on the address that it had. Failed if it does not start."""
    any_port = str(Address(address.host, 0))
    command = [str(address) if word == any_port else word for word in program.command]
    program.start_again(command)
    program.wait_ready(START_TIMEOUT_S)


def ask(address: Address, *lines: str) -> bytes:
    """Sends the lines on one connection, as `nc` would; returns all that the server sends back.

    A server that refuses the connection may have closed it before the lines came. Its answer is
    there to be read all the same.
    """
    with socket.create_connection(address, timeout=_REPLY_TIMEOUT_S) as connection:
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall("".join(f"{line}\n" for line in lines).encode())
        with suppress(OSError):  # it is not connected any more
            connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def make_account(address: Address, user: str, password: str) -> None:
    """Makes it as any client does, with `new:`. Failed when the reply is not OK."""
    reply = ask(address, f"new:{user}:{password}").decode(errors="replace").strip()
    if reply != "OK":
        raise Failed(f"the fileserver answered `new:` with '{reply}'")


_TIMEOUT_S = 10.0


def read_telemetry(address: Address) -> dict[str, float]:
    """Each sample by its name with its labels, as it is written. Failed when there is no answer."""
    connection = http.client.HTTPConnection(*address, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
    except (OSError, http.client.HTTPException) as error:
        raise Failed(f"no telemetry at {address}: {error}") from error
    finally:
        connection.close()
    pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, value in pairs}
