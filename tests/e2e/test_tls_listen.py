"""--tls-listen: the native protocol in TLS."""

import contextlib
import os
import select
import signal
import socket
import ssl

import server_pairs
from client import Client
from https_scene import LARGE, HttpsScene
from processes import children
from programs import Program
from scene import for_each
from server_pairs import Pair, attentive, context
from telemetry import FLAG as TELEMETRY
from waiting import LONG_S, eventually

MODELS = ("thread", "event", "process")


class LinesClient(Client):
    """Of --tls-listen."""

    def __init__(self, server: Program, made: ssl.SSLContext | None = None) -> None:
        super().__init__(server.further_address("tls"))
        self.socket = (made or context()).wrap_socket(
            self.socket, server_hostname="localhost", suppress_ragged_eofs=False
        )


class LinesTest(HttpsScene):
    """--tls-listen."""

    def serve_lines(self, model: str, *flags: object) -> Program:
        tls = ("--tls-listen", "127.0.0.1:0", *server_pairs.shared().flags())
        return self.scene.fileserver(self.authserver, "--model", model, *tls, *TELEMETRY, *flags)

    def lines(self, server: Program, made: ssl.SSLContext | None = None) -> LinesClient:
        return self.scene.keep(LinesClient(server, made))

    @for_each(MODELS)
    def test_all_that_is_spoken_in_clear_is_spoken_in_tls(self, model: str) -> None:
        server = self.serve_lines(model)
        self.assertRegex(server.ready_line, r"^READY \S+ tls=\S+ telemetry=\S+\n?$")
        client = self.lines(server)
        lines = [b"ping", b"get:alice:wonderland", b"small.txt", b"large.bin", b"no", b"small.txt"]
        expected = ["OK", "OK", b"small\n", LARGE, "not-found", b"small\n"]
        self.assertEqual([client.ask(line) for line in lines], expected)
        self.assertEqual(self.lines(server).ask_all(lines), expected)
        self.assertEqual(self.lines(server).ask("get:alice:wrong"), "denied")
        self.assertEqual(self.lines(server).ask(f"new:{model}:secret"), "OK")
        self.assertEqual(self.scene.client(server).ask_all(lines), expected)
        client.socket.sendall(b"ping\n")
        self.assertEqual(client.socket.recv(100), b"OK\n")
        client.socket.unwrap()  # which needs the goodbye of the server

    @for_each(MODELS)
    def test_alpn_takes_turnstile_and_nothing_else(self, model: str) -> None:
        https = () if model == "process" else ("--https-listen", "127.0.0.1:0")
        server = self.serve_lines(model, *https)
        client = self.lines(server, context("http/1.1", "turnstile"))
        self.assertEqual(client.socket.selected_alpn_protocol(), "turnstile")
        self.assertIsNone(self.lines(server).socket.selected_alpn_protocol())
        with self.assertRaises(ssl.SSLError):
            self.lines(server, context("http/1.1"))
        if https:
            with self.assertRaises(ssl.SSLError):
                self.tls(server, context("turnstile"))

    @for_each(MODELS)
    def test_http_without_tls_is_400_and_lines_without_tls_are_nothing(self, model: str) -> None:
        server = self.serve_lines(model)
        for sent, begins in ((b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 400 "), (b"ping\n", b"")):
            with socket.create_connection(server.further_address("tls"), LONG_S) as raw:
                raw.sendall(sent)
                answer = b""
                with contextlib.suppress(ConnectionResetError):
                    while part := raw.recv(1 << 16):
                        answer += part
            self.assertEqual(answer[: len(b"HTTP/1.1 400 ")], begins)
            self.assertEqual(b"\r\nDate: " in answer, bool(begins))

    @for_each(MODELS)
    def test_listeners_count_together_and_busy_is_a_closed_connection(self, model: str) -> None:
        server = self.serve_lines(model, "--max-connections", 2)
        clear, encrypted = self.scene.client(server), self.lines(server)
        for client in (clear, encrypted):
            self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        with socket.create_connection(server.further_address("tls"), LONG_S) as raw:
            self.assertEqual(raw.recv(100), b"")
        self.assertEqual(self.scene.client(server).reply(), "busy")
        encrypted.close()
        eventually(lambda: self.scene.client(server).ask("ping") == "OK", "the place is free")

    @for_each(MODELS)
    def test_a_connection_that_rests_is_closed_with_a_goodbye(self, model: str) -> None:
        server = self.serve_lines(model, "--idle-timeout", "0.5")
        client = self.lines(server, attentive())
        self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        self.assertEqual(client.socket.recv(1), b"")  # ssl.SSLError without one

    @for_each(MODELS)
    def test_a_stop_ends_what_is_under_way_in_order(self, model: str) -> None:
        server = self.serve_lines(model, "--drain-seconds", LONG_S)
        client = self.lines(server)
        self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        client.send(b"large.bin\n")
        self.assertEqual(client.reply_line(), b"OK %d" % len(LARGE))
        server.signal(signal.SIGTERM)
        self.assertEqual(client.rest(), LARGE)
        self.assertEqual(server.wait(), 0)


class ProcessesTest(HttpsScene):
    """What each process of --model process has to learn from its parent."""

    def serve_lines(self, *flags: object, pair: Pair | None = None) -> Program:
        tls = ("--tls-listen", "127.0.0.1:0", *(pair or server_pairs.shared()).flags())
        return self.scene.fileserver(self.authserver, "--model", "process", *tls, *flags)

    def test_those_that_wait_serve_the_renewed_certificate(self) -> None:
        pair = server_pairs.make(self.scene.folder, "one")
        other = server_pairs.make(self.scene.folder, "other")
        server = self.serve_lines(pair=pair)

        def shown() -> bytes | None:
            with LinesClient(server).socket as one:
                return one.getpeercert(binary_form=True)

        before = [shown() for _ in range(3)]
        pair.replace_by(other)
        server.signal(signal.SIGHUP)
        renewed = ssl.PEM_cert_to_DER_cert(other.certificate.read_text())
        eventually(lambda: shown() == renewed, "the new one is served")
        self.assertEqual([shown() for _ in range(3)], [renewed] * 3)
        self.assertNotIn(renewed, before)

    def test_one_that_is_killed_gives_the_place_of_its_handshake_back(self) -> None:
        server = self.serve_lines("--tls-handshakes", "4")
        for _ in range(3):
            with self.one_that_waits(server) as raw:
                killed = set(children(server.pid))
                for child in killed:
                    os.kill(child, signal.SIGKILL)
                with contextlib.suppress(ConnectionResetError):
                    self.assertEqual(raw.recv(1), b"")
                # Until then one of them may accept the next connection, and take it along.
                eventually(lambda: not killed & set(children(server.pid)), "they are gone")
        eventually(lambda: not self.is_refused(server), "the place is free")

    def one_that_waits(self, server: Program) -> socket.socket:
        """It has the only place of its address."""
        raw = socket.create_connection(server.further_address("tls"), LONG_S)

        def has_place() -> bool:
            nonlocal raw
            if select.select([raw], [], [], 0)[0]:  # it ended: one of is_refused() was faster
                raw.close()
                raw = socket.create_connection(server.further_address("tls"), LONG_S)
            return self.is_refused(server)

        eventually(has_place, "it has the only place of its address")
        return raw

    def is_refused(self, server: Program) -> bool:
        try:
            with LinesClient(server).socket:
                return False
        except (ssl.SSLError, ConnectionError):
            return True
