"""A server with --https-listen or --tls-listen, and its clients."""

import os
import signal
import socket
import ssl
import unittest

import server_pairs
from http_client import basic, request
from programs import Program
from scene import SceneTest, create_account
from server_pairs import Pair, context
from telemetry import FLAG as TELEMETRY
from telemetry import scrape
from waiting import LONG_S

USER = ("alice", "wonderland")
CREDENTIALS = f"Authorization: {basic(*USER)}"
MODELS = ("thread", "event")
LARGE = os.urandom(3_000_000)


class Tls:
    """One connection in TLS, with sockets of its own."""

    def __init__(
        self, server: Program, made: ssl.SSLContext | None = None, source: str = "127.0.0.1"
    ) -> None:
        raw = connect(server, source)
        self.socket = (made or context()).wrap_socket(
            raw, server_hostname="localhost", suppress_ragged_eofs=False
        )

    def close(self) -> None:
        self.socket.close()

    def ask(self, target: str, *fields: str, method: str = "GET", body: bytes = b"") -> None:
        length = (f"Content-Length: {len(body)}",) if body else ()
        fields = (CREDENTIALS, *fields, *length)
        self.socket.sendall(request(target, *fields, method=method, body=body))

    def until_end(self) -> bytes:
        """All that comes before the goodbye. ssl.SSLEOFError: there was none."""
        received = b""
        while part := self.socket.recv(1 << 16):
            received += part
        return received


def connect(server: Program, source: str = "127.0.0.1") -> socket.socket:
    raw = socket.create_connection(server.further_address("https"), LONG_S, (source, 0))
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return raw


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class HttpsScene(SceneTest):
    def setUp(self) -> None:
        # Under nohup the tests ignore this signal, and so would the server that they start.
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        super().setUp()
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(self.authserver, *USER)
        self.scene.write("small.txt", b"small\n")
        self.scene.write("large.bin", LARGE)

    def serve(self, model: str, *flags: object, pair: Pair | None = None) -> Program:
        tls = (pair or server_pairs.shared()).flags()
        return self.scene.fileserver(
            *(self.authserver, "--model", model, "--https-listen", "127.0.0.1:0", *tls),
            *(*TELEMETRY, "--uploads", "folder", *flags),
        )

    def tls(
        self, server: Program, made: ssl.SSLContext | None = None, source: str = "127.0.0.1"
    ) -> Tls:
        return self.scene.keep(Tls(server, made, source))

    def answer(self, server: Program, *arguments: str, **options) -> bytes:
        client = self.tls(server)
        client.ask(*arguments, "Connection: close", **options)
        return client.until_end()

    def handshakes(self, server: Program, result: str) -> float:
        return scrape(server).value("turnstile_tls_handshakes_total", result)
