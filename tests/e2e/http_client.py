"""A client of the HTTP front that sends raw bytes and checks that every answer is well-formed.

With the variable TURNSTILE_OVER=tls the server has --https-listen instead of --http-listen, and the
client speaks TLS. tests/run_unittests.py sets it for a file that is named with @tls.
"""

import base64
import os
import re
import socket
import ssl
import unittest
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import server_pairs
from client import Client, ConnectionEndedError
from programs import Program

OVER_TLS = os.environ.get("TURNSTILE_OVER") == "tls"
FRONT = "https" if OVER_TLS else "http"
FLAG = server_pairs.https_flags() if OVER_TLS else ("--http-listen", "127.0.0.1:0")

# Decorates a test of what a port that speaks TLS does in another way, such as to be busy.
in_clear = unittest.skipIf(OVER_TLS, "about HTTP without TLS")

_STATUS = re.compile(r"HTTP/1\.1 ([0-9]{3}) [A-Z][A-Za-z -]*")
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+): (\S.*\S|\S)")
_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
_NO_BODY = (204, 304)


@dataclass
class Answer:
    """Names of fields are in lower case. No field may come twice."""

    status: int
    fields: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def closes(self) -> bool:
        return self.fields.get("connection") == "close"


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def request(target: str, *fields: str, method: str = "GET", body: bytes = b"") -> bytes:
    """A request of HTTP/1.1 with a Host. The caller names the length of the body."""
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *fields, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


class HttpClient:
    """One connection. With a user, each request has credentials."""

    def __init__(
        self, server: Program, user: str | None = None, password: str = "", **options
    ) -> None:
        self._client = Client(server.further_address(FRONT), **options)
        if OVER_TLS:
            raw = self._client.socket
            self._client.socket = server_pairs.context().wrap_socket(
                raw, suppress_ragged_eofs=False
            )
        self._received = b""
        self._credentials = () if user is None else (f"Authorization: {basic(user, password)}",)

    def close(self) -> None:
        self._client.close()

    def send(self, data: bytes) -> None:
        self._client.send(data)

    def half_close(self) -> None:
        if OVER_TLS:  # without the end of the encryption, which SSLSocket.shutdown() brings
            socket.socket.shutdown(self._client.socket, socket.SHUT_WR)
        else:
            self._client.half_close()

    def ask(self, target: str, *fields: str, method: str = "GET", body: bytes = b"") -> Answer:
        length = (f"Content-Length: {len(body)}",) if body else ()
        self.send(request(target, *self._credentials, *fields, *length, method=method, body=body))
        return self.answer(method)

    def answer(self, method: str = "GET") -> Answer:
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, self._received = self._received.split(b"\r\n\r\n", 1)
        first, *lines = head.decode().split("\r\n")
        status = _STATUS.fullmatch(first)
        assert status, f"not an answer: {first!r}"
        answer = Answer(int(status[1]))
        for line in lines:
            parts = _FIELD.fullmatch(line)
            assert parts, f"not a field: {line!r}"
            name = parts[1].lower()
            assert name not in answer.fields, f"twice: {line!r}"
            answer.fields[name] = parts[2]
        assert _DATE.fullmatch(answer.fields["date"]), answer.fields["date"]
        has_no_body = answer.status in _NO_BODY
        is_chunked = answer.fields.get("transfer-encoding") == "chunked"
        assert ("content-length" in answer.fields) + has_no_body + is_chunked == 1, answer
        if method != "HEAD" and not has_no_body:
            size = answer.fields.get("content-length")
            answer.body = self._take_chunks() if size is None else self._take(int(size))
        return answer

    def interim(self) -> int:
        """Takes an answer that announces a further one, such as 100 Continue."""
        while b"\r\n\r\n" not in self._received:
            self._receive()
        head, self._received = self._received.split(b"\r\n\r\n", 1)
        return int(head.split()[1])

    def is_ended(self) -> bool:
        """Waits for the end of the connection. Whether nothing came before it."""
        try:
            self._receive()
        except ConnectionEndedError:
            return not self._received
        return False

    def _take(self, size: int) -> bytes:
        while len(self._received) < size:
            self._receive()
        taken, self._received = self._received[:size], self._received[size:]
        return taken

    def _take_chunks(self) -> bytes:
        body = b""
        while True:
            while b"\r\n" not in self._received:
                self._receive()
            size, self._received = self._received.split(b"\r\n", 1)
            chunk = self._take(int(size, 16) + 2)
            assert chunk.endswith(b"\r\n"), chunk
            if chunk == b"\r\n":
                return body
            body += chunk[:-2]

    def _receive(self) -> None:
        try:
            part = self._client.socket.recv(1 << 16)
        except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError) as error:
            raise ConnectionEndedError("reset") from error
        if not part:
            raise ConnectionEndedError(f"ended behind {self._received!r}")
        self._received += part


def check_rows(
    test: unittest.TestCase, connect: Callable[[], HttpClient], rows: Iterable[tuple[Any, ...]]
) -> list[Answer]:
    """Asks for each row: the status of the answer, "METHOD TARGET", and fields of the request.

    Bytes among the fields are the body of the request; a dictionary has fields of the answer, with
    None for one that it must not have. A connection is used until an answer ends it.
    """
    answers: list[Answer] = []
    kept: HttpClient | None = None
    for status, asked, *further in rows:
        method, target = asked.split(" ", 1)
        fields = [one for one in further if isinstance(one, str)]
        body = b"".join(one for one in further if isinstance(one, bytes))
        with test.subTest(asked, further=further):
            client, kept = kept or connect(), None
            answer = client.ask(target, *fields, method=method, body=body)
            kept = None if answer.closes() else client
            answers.append(answer)
            test.assertEqual(answer.status, status)
            for expected in (one for one in further if isinstance(one, dict)):
                test.assertEqual({name: answer.fields.get(name) for name in expected}, expected)
    return answers
