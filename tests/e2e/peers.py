"""Replacements for a server: a Peer that answers as a test wants, and a Relay to a real server."""

import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable

from client import Address
from waiting import eventually


class HangUp(Exception):
    """Raised by a peer's `answer` to close the connection instead of answering."""


class Listening:
    """Accepts connections at `at` until close(), and serves each in its own thread.

    `connections` is the number of connections that were accepted. With a `context` they are in TLS.
    """

    context: ssl.SSLContext | None = None

    def __init__(self, at: Address = ("127.0.0.1", 0)) -> None:
        self._listener = socket.create_server(at)
        self.address: Address = self._listener.getsockname()
        self.connections = 0
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __str__(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._sockets.append(connection)
                self.connections += 1
                threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
                self._sockets.append(connection)
            self.serve(connection)
        _shut(connection)

    def serve(self, connection: socket.socket) -> None:
        """Serves one connection, which is closed when this returns."""
        raise NotImplementedError

    def hang_up_on_all(self) -> None:
        for connection in self._sockets:
            _shut(connection)

    def close(self) -> None:
        _shut(self._listener)
        self.hang_up_on_all()


class Peer(Listening):
    """Answers each line with the bytes that `answer(line, connection)` returns; None sends nothing.

    `lines` is what was received on all connections, with line endings.
    """

    def __init__(
        self,
        answer: Callable[[bytes, socket.socket], bytes | None],
        at: Address = ("127.0.0.1", 0),
    ) -> None:
        self.lines: list[bytes] = []
        self._answer = answer
        super().__init__(at)

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(HangUp), connection.makefile("rb") as lines:
            for line in lines:
                self.lines.append(line)
                answer = self._answer(line, connection)
                if answer is not None:
                    connection.sendall(answer)

    def wait_for_lines(self, count: int) -> list[bytes]:
        eventually(
            lambda: len(self.lines) >= count,
            f"{count} lines reach the peer; it has {self.lines}",
        )
        return self.lines


class Relay(Listening):
    """Forwards every connection to `target`. A subclass may look at what is sent to it."""

    def __init__(self, target: Address, piece_bytes: int = 1 << 16, pause_s: float = 0) -> None:
        """It forwards `piece_bytes` at most, and pauses behind each piece."""
        self._target = target
        self._pieces = (piece_bytes, pause_s)
        self._open: set[socket.socket] = set()
        super().__init__()

    def open_connections(self) -> int:
        """How many connections `target` has not closed. Those it closed are closed here too."""
        return len(self._open)

    def serve(self, connection: socket.socket) -> None:
        with socket.create_connection(self._target) as onward:
            self._sockets.append(onward)
            self._open.add(onward)
            threading.Thread(target=self._pump_back, args=(onward, connection), daemon=True).start()
            self._pump(connection, onward, self.forward)

    def forward(self, received: bytes) -> bytes:
        """Returns what is sent to `target` for these bytes of a client."""
        return received

    def _pump_back(self, onward: socket.socket, connection: socket.socket) -> None:
        self._pump(onward, connection)
        self._open.discard(onward)

    def _pump(
        self,
        source: socket.socket,
        sink: socket.socket,
        change: Callable[[bytes], bytes] = bytes,
    ) -> None:
        piece_bytes, pause_s = self._pieces
        with contextlib.suppress(OSError):
            while received := source.recv(piece_bytes):
                sink.sendall(change(received))
                if pause_s:
                    time.sleep(pause_s)
        _shut(sink)


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
