"""loadgen --tls: the native protocol and HTTP, encrypted."""

import socket
import threading
import unittest

import server_pairs
from loadgen_scene import GET, LoadgenScene
from peers import Listening, Peer, Relay
from programs import run
from scene import for_each
from waiting import LONG_S

PROTOCOLS = ("tls", "https")  # as READY names them
ACCOUNT = GET[1:]
RUN = (*GET, "--file", "file3", "--threads", 2, "--requests", 10)


class _Cut(Listening):
    """Takes the first bytes of a connection, answers with these, and ends it without a goodbye."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(self._answer)


@unittest.skipIf(server_pairs.MISSING, server_pairs.MISSING)
class LoadgenTlsTest(LoadgenScene):
    def setUp(self) -> None:
        super().setUp()
        self.authority = ("--tls-ca", str(server_pairs.shared().certificate))

    def serve_tls(self, model: str, *flags: str, host: str = "127.0.0.1") -> None:
        listen = ("--tls-listen", f"{host}:0", *server_pairs.https_flags())
        self.serve("--model", model, *listen, *flags)

    def refuser(self) -> str:
        """Where somebody answers a put at once, and takes nothing of it.

        Of a name with two addresses loadgen would try both, and this accepts one connection.
        """
        context, over = server_pairs.server_context(), threading.Event()
        listener = self.scene.keep(socket.create_server(("127.0.0.1", 0)))

        def refuse() -> None:
            with context.wrap_socket(listener.accept()[0], server_side=True) as connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n")
                over.wait()

        thread = threading.Thread(target=refuse)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(over.set)
        return f"127.0.0.1:{listener.getsockname()[1]}"

    def over(self, protocol: str) -> tuple[str, ...]:
        return ("--tls", *(("--protocol", "http") if protocol == "https" else ()))

    def address(self, protocol: str, host: str = "localhost") -> str:
        return f"{host}:{self.fileserver.further_address(protocol)[1]}"

    @for_each(("thread", "event"))
    def test_files_come_whole_and_connections_resume(self, model: str) -> None:
        self.serve_tls(model)
        verify = ("--verify", "--verify-root", str(self.scene.root))
        for protocol in PROTOCOLS:
            server = self.address(protocol)
            for flags, handshakes, resumed in (
                ((), 20, 18),
                (("--tls-resume", "off"), 20, 0),
                (("--connection", "keep-alive"), 2, 0),
                (("--rate", 100, "--seconds", 0.3), None, None),
            ):
                with self.subTest(protocol, flags=flags):
                    how = RUN[:-2] if "--rate" in flags else RUN
                    asked = (*how, *self.over(protocol), *self.authority, *verify, *flags)
                    result = self.result(*asked, server=server)
                    self.assertEqual(self.errors(result), {})
                    self.assertEqual(result["bytes"], 3000 * result["requests"])
                    tls = result["tls"]
                    self.assertEqual(tls["handshakes"], result["connections"])
                    if handshakes is not None:
                        # Threads of a closed loop go on until all are done.
                        self.assertGreaterEqual(tls["handshakes"], handshakes)
                        resumable = tls["handshakes"] - 2 if resumed else 0
                        self.assertEqual(tls["resumed"], resumable)
                    self.assertGreater(tls["handshake_ms"]["mean"], 0)
        self.assertNotIn("tls", self.result(*RUN))

    def test_lines_and_large_files_and_accounts_and_bursts(self) -> None:
        self.serve_tls("event")
        self.scene.write("large", bytes(range(256)) * 20_000)
        server = self.address("tls", "127.0.0.1")
        tls = ("--tls", *self.authority)
        for flags in (
            (*GET, "--file", "large", "--requests", 3, "--threads", 2),
            (*GET, "--file", "large", "--requests", 3, "--pipeline", "--connection", "keep-alive"),
            (*GET, "--file", "file2", "--requests", 3, "--threads", 3, "--release", "transfer"),
            ("new", "--requests", 4, "--threads", 2, "--connection", "keep-alive"),
        ):
            with self.subTest(flags):
                result = self.result(*flags, *tls, server=server)
                self.assertEqual(self.errors(result), {})
                self.assertEqual(result["reconnects"], 0)
        self.assertEqual(result["requests"], 8)
        http = ("--protocol", "http", "--connection", "keep-alive", *tls)
        result = self.result("new", "--requests", 3, *http, server=self.address("https"))
        self.assertEqual((self.errors(result), result["reconnects"]), ({}, 0))

    def test_puts_are_whole_and_end_at_an_early_answer(self) -> None:
        self.serve_tls("event", "--uploads", "folder")
        server = self.address("https")
        http = ("--protocol", "http", *ACCOUNT, "--threads", 2, "--tls", *self.authority)
        for kept in ((), ("--connection", "keep-alive")):
            for size in (1, 20 << 20):  # more than the buffers of the sockets
                with self.subTest(kept, size=size):
                    put = ("put", *http, *kept, "--requests", 2, "--size", size)
                    result = self.result(*put, "--file", "new", server=server)
                    self.assertEqual((self.errors(result), result["bytes"]), ({}, 4 * size))
                    self.assertEqual((self.scene.root / "new").stat().st_size, size)
        mix = (*http, "--mix", "get:50,put:50", "--file", "file3", "--size", 5000)
        result = self.result("get", *mix, "--requests", 20, server=server)
        self.assertEqual(self.errors(result), {})
        put = ("put", *ACCOUNT, "--protocol", "http", "--tls", *self.authority, "--size", "100M")
        result = self.result(
            *put, "--requests", 1, "--timeout", LONG_S, server=self.refuser(), status=1
        )
        self.assertEqual((self.errors(result), result["bytes"]), ({"unavailable": 1}, 0))

    def test_records_come_in_pieces_and_handshakes_are_in_the_time_of_a_request(self) -> None:
        self.serve_tls("event")
        compared = ("--verify", "--verify-root", str(self.scene.root))
        for protocol in PROTOCOLS:
            relay = Relay(self.fileserver.further_address(protocol), piece_bytes=101, pause_s=0.001)
            asked = (*RUN[:-1], 3, *self.over(protocol), *self.authority, *compared)
            for kept in ((), ("--connection", "keep-alive")):
                with self.subTest(protocol, kept=kept):
                    result = self.result(*asked, *kept, server=self.scene.keep(relay))
                    self.assertEqual((self.errors(result), result["bytes"]), ({}, 18_000))
                    self.assertEqual(result["tls"]["handshakes"], 2 if kept else 6)
                    times = (result["tls"]["handshake_ms"], result["response_time_ms"])
                    handshakes, requests = (of["mean"] for of in times)
                    self.assertGreater(handshakes, 5)
                    if not kept:
                        # A file takes 30 pieces, and they are behind the handshake.
                        self.assertGreater(requests, handshakes + 30)

    def test_what_ends_too_early_is_an_error_with_its_reason(self) -> None:
        begun = b"HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n" + bytes(1000)
        cut = _Cut(begun)
        cut.context = server_pairs.server_context()
        for peer, error, why, handshakes in (
            (Peer(lambda line, connection: None), "timeout", "was not made in time", 0),
            (_Cut(b""), "connect", "the peer closed the connection", 0),
            (_Cut(b"HTTP/1.1 400 No\r\n\r\n"), "connect", "does not speak TLS", 0),
            (cut, "closed", "the server closed the connection", 2),
        ):
            with self.subTest(error, why=why):
                flags = ("--requests", 1, "--timeout", 0.5 if error == "timeout" else LONG_S)
                asked = (*RUN[:-2], *self.over("https"), *self.authority, *flags)
                result = self.result(*asked, server=self.scene.keep(peer), status=1)
                self.assertEqual(self.errors(result), {error: 2})
                self.assertIn(why, result["first_errors"][error])
                self.assertEqual(result["tls"]["handshakes"], handshakes)

    def test_who_cannot_prove_who_he_is_gets_no_password(self) -> None:
        self.serve_tls("thread")
        server, asked = self.address("tls"), (*RUN, "--tls")
        other = server_pairs.make(self.scene.folder, "other")
        for flags, address, why in (
            ((), server, "certificate is not accepted"),
            (("--tls-ca", str(other.certificate)), server, "certificate is not accepted"),
            (self.authority, str(self.fileserver.address), "does not speak TLS"),
        ):
            with self.subTest(flags, address=address):
                result = self.result(*asked, *flags, server=address, status=1)
                self.assertEqual(set(self.errors(result)), {"connect"})
                self.assertIn(why, result["first_errors"]["connect"])
                self.assertEqual(result["tls"]["handshakes"], 0)
        result = self.result(*asked, "--tls-insecure", server=server)
        self.assertEqual(self.errors(result), {})
        self.serve_tls("thread", host="127.0.0.2")  # which is not in the certificate
        server = self.address("tls", "127.0.0.2")
        result = self.result(*asked, *self.authority, server=server, status=1)
        self.assertEqual(set(self.errors(result)), {"connect"})
        self.assertIn("certificate is not accepted", result["first_errors"]["connect"])

    def test_what_cannot_be_encrypted_is_wrong_usage(self) -> None:
        for flags, why in (
            (("--tls", "--users", "2", "--pace", "100"), "a closed loop"),
            (("--tls", "--protocol", "ftp"), "--protocol native or --protocol http"),
            (("--tls", "--protocol", "ftp", "--users", "2"), "--protocol native or"),
            (("--tls", "--protocol", "ftp", "--channels", "2"), "--protocol native or"),
            (("--tls-ca", "a.pem"), "needs --tls"),
            (("--tls-insecure",), "needs --tls"),
            (("--tls-resume", "off"), "needs --tls"),
            (("--tls", "--tls-insecure", "--tls-ca", "a.pem"), "exclude each other"),
            (("--tls", "--server", "unix:/run/none"), "a server with a port"),
        ):
            with self.subTest(flags):
                ended = run("loadgen", *GET, "--file", "a", *flags)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(why, ended.stderr)
                self.assertEqual(ended.stderr.count("\n"), 1)
        missing = run("loadgen", *GET, "--file", "a", "--tls", "--tls-ca", "/no/such.pem")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("/no/such.pem", missing.stderr)
