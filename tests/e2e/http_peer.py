"""A replacement for an HTTP server, which answers as a test wants."""

import socket
from collections.abc import Callable

from client import Address
from peers import HangUp, Listening

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"


class HttpPeer(Listening):
    """Answers each request with the bytes that `answer(request, connection)` returns.

    A request is its head and as many bytes of its body as Content-Length announces, or only its
    head if takes_bodies is not set. None sends nothing, and HangUp closes the connection.
    `requests` is what was received on all connections.
    """

    def __init__(
        self,
        answer: Callable[[bytes, socket.socket], bytes | None],
        at: Address = ("127.0.0.1", 0),
        *,
        takes_bodies: bool = True,
    ) -> None:
        self.requests: list[bytes] = []
        self._answer = answer
        self._takes_bodies = takes_bodies
        super().__init__(at)

    def serve(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as stream:
            while request := self._read(stream):
                self.requests.append(request)
                try:
                    answer = self._answer(request, connection)
                except HangUp:
                    return
                if answer is not None:
                    connection.sendall(answer)

    def _read(self, stream) -> bytes:
        head, length = b"", 0
        for line in stream:
            head += line
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
            if line == b"\r\n":
                return head + (stream.read(length) if self._takes_bodies else b"")
        return b""
