"""Connections that are logged in and then ask for nothing."""

from __future__ import annotations

import socket
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

from .processes import Address

_TIMEOUT_S = 10.0  # of one log-in
_MOST_BYTES = 4096  # of an answer
_FROM_ONE_ADDRESS = 20_000  # to one port; the kernel has some more ports than that


@dataclass(frozen=True)
class LogIn:
    """What is sent, and the begin and the end of its answer."""

    question: bytes
    begin: bytes
    end: bytes

    @staticmethod
    def natively(user: str, password: str) -> LogIn:
        return LogIn(f"get:{user}:{password}\n".encode(), b"OK", b"\n")

    @staticmethod
    def by_http(user: str, password: str, file: str) -> LogIn:
        """It asks what a file is, and for no byte of it."""
        basic = b64encode(f"{user}:{password}".encode()).decode("ascii")
        lines = [
            f"HEAD /{file} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Basic {basic}",
            "",
            "",
        ]
        return LogIn("\r\n".join(lines).encode(), b"HTTP/1.1 200", b"\r\n\r\n")


@dataclass(frozen=True)
class Idle:
    """What is wanted: so many, at this server."""

    address: Address
    log_in: LogIn
    count: int


@dataclass(frozen=True)
class Held:
    """Those that there are. refused says why there are no more; "" if all that were wanted are."""

    connections: Sequence[socket.socket]
    refused: str

    def open_now(self) -> int:
        """How many the server has not closed."""
        return sum(_is_open(one) for one in self.connections)


@contextmanager
def held(wanted: Idle) -> Iterator[Held]:
    """They are made one after the other, and closed when the block is left.

    The first log-in that fails ends it, and those before are closed too: a server that has no room
    for more is to have some for others.
    """
    made: list[socket.socket] = []
    try:
        refused = _fill(made, wanted)
        if refused:
            refused = f"the server refused one after {len(made):,}: {refused}"
            _close(made)
        yield Held(tuple(made), refused)
    finally:
        _close(made)


def _fill(made: list[socket.socket], wanted: Idle) -> str:
    """Why there are no more; "" when all are there."""
    try:
        for number in range(wanted.count):
            made.append(_logged_in(wanted, _source(wanted.address, number)))
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _source(server: Address, number: int) -> tuple[str, int] | None:
    """This host has as many addresses for itself as are needed; others see one."""
    if server.host != "127.0.0.1" or number < _FROM_ONE_ADDRESS:
        return None
    return f"127.0.0.{1 + number // _FROM_ONE_ADDRESS}", 0


def _logged_in(wanted: Idle, source: tuple[str, int] | None) -> socket.socket:
    address = (wanted.address.host, wanted.address.port)
    connection = socket.create_connection(address, _TIMEOUT_S, source)
    try:
        connection.sendall(wanted.log_in.question)
        answer = _answer(connection, wanted.log_in.end)
        if not answer.startswith(wanted.log_in.begin):
            raise OSError(answer.partition(b"\n")[0].decode("ascii", "replace") or "it was closed")
    except BaseException:
        connection.close()
        raise
    return connection


def _answer(connection: socket.socket, end: bytes) -> bytes:
    """What came until the end, or until the server closed the connection."""
    read = b""
    while not read.endswith(end) and len(read) < _MOST_BYTES:
        more = connection.recv(_MOST_BYTES)
        if not more:
            break
        read += more
    return read


def _is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return True
    except OSError:
        return False


def _close(made: list[socket.socket]) -> None:
    while made:
        with suppress(OSError), closing(made.pop()):
            pass
