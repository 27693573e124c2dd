"""--idle-timeout: a body that comes slowly does not keep its connection.

The clients send a little much more often than that until the server hangs up. A server that never
does fails the test by the time limit of its socket.
"""

import time

from client import ConnectionEndedError
from http_client import FLAG, HttpClient, basic, request
from programs import Program
from scene import SceneTest, create_account, for_each, with_loops
from waiting import LONG_S, eventually

USER = ("alice", "wonderland")
LIMIT = 8
SIZED = "Content-Length: 4000"
CHUNKED = "Transfer-Encoding: chunked"
IDLE_S = 0.3
PAUSE_S = 0.05
CREDENTIALS = f"Authorization: {basic(*USER)}"

# The head of a request, and what follows it again and again.
TRICKLES = {
    "an account": (("/-/accounts", "POST", SIZED), b" "),
    "an account in chunks": (("/-/accounts", "POST", CHUNKED), b"1\r\n \r\n"),
    "a file": (("/f", "PUT", SIZED), b"x"),
    "a file in chunks": (("/f", "PUT", CHUNKED), b"1\r\nx\r\n"),
    "an extension of a chunk": (("/f", "PUT", CHUNKED), b"1;x"),
}
BEGUN = {"an extension of a chunk": b"1;", "a trailer": b"1\r\nx\r\n0\r\n"}
TRICKLES["a trailer"] = (("/f", "PUT", CHUNKED), b"a: b\r\n")


@with_loops
class TrickleTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(self.authserver, *USER)

    def serve(self, *flags: object) -> Program:
        return self.scene.fileserver(self.authserver, *FLAG, "--uploads", "folder", *flags)

    def begin(self, server: Program, kind: str) -> HttpClient:
        (path, method, length), _ = TRICKLES[kind]
        client = self.scene.keep(HttpClient(server))
        client.send(request(path, length, CREDENTIALS, method=method) + BEGUN.get(kind, b""))
        return client

    def trickle(self, clients: list[HttpClient], piece: bytes) -> None:
        """Returns once the server has closed them all."""
        end = time.monotonic() + LONG_S
        while clients:
            self.assertLess(time.monotonic(), end, "still open")
            clients = [client for client in clients if self.is_open(client, piece)]
            time.sleep(PAUSE_S)

    def is_open(self, client: HttpClient, piece: bytes) -> bool:
        try:
            client.send(piece)
        except OSError:
            return False
        return True

    @for_each(list(TRICKLES))
    def test_eight_that_trickle_do_not_hold_the_server(self, kind: str) -> None:
        server = self.serve("--max-connections", LIMIT, "--idle-timeout", IDLE_S)
        clients = [self.begin(server, kind) for _ in range(LIMIT)]
        _, piece = TRICKLES[kind]
        self.trickle(clients, piece)
        eventually(lambda: self.is_served(server), "others are served by HTTP")
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")
        self.assertEqual(list(self.scene.root.iterdir()), [])

    def is_served(self, server: Program) -> bool:
        client = HttpClient(server)
        try:
            return client.ask("/-/health").status == 200
        except (ConnectionEndedError, OSError):  # a busy machine let the idle time-out pass
            return False
        finally:
            client.close()

    def test_a_body_of_one_kib_a_piece_is_kept_while_it_brings_enough(self) -> None:
        client = self.scene.keep(HttpClient(self.serve("--idle-timeout", "1.5")))
        self.send_one_kib_a_piece(client)

    def test_a_body_behind_an_account_has_its_own_time(self) -> None:
        client = self.scene.keep(HttpClient(self.serve("--idle-timeout", "1.5")))
        account = b'{"user": "bob", "password": "pw"}'
        self.assertEqual(client.ask("/-/accounts", method="POST", body=account).status, 201)
        self.send_one_kib_a_piece(client)

    def test_each_body_of_a_connection_has_its_own_time(self) -> None:
        client = self.scene.keep(HttpClient(self.serve("--idle-timeout", "2")))
        for status in (201, 204):
            self.begin_upload(client, 2)
            client.send(b"x")
            time.sleep(1.2)
            client.send(b"x")
            self.assertEqual(client.answer("PUT").status, status)

    def send_one_kib_a_piece(self, client: HttpClient) -> None:
        """An upload that takes longer than the idle time-out."""
        self.begin_upload(client, 40 * 1024)
        for _ in range(40):
            client.send(b"x" * 1024)
            time.sleep(0.05)
        self.assertEqual(client.answer("PUT").status, 201)

    def test_xml_has_the_time_of_its_head_whatever_it_brings(self) -> None:
        server = self.serve("--idle-timeout", IDLE_S)
        pieces = 60  # 1.2 s, and more than is asked of an upload
        fields = (CREDENTIALS, "Depth: 0", f"Content-Length: {pieces * 1024}")
        for method in ("PROPFIND", "PROPPATCH", "LOCK"):
            with self.subTest(method):
                client = self.scene.keep(HttpClient(server))
                client.send(request("/", *fields, method=method))
                sent = 0
                while sent < pieces and self.is_open(client, b" " * 1024):
                    sent += 1
                    time.sleep(0.02)
                self.assertLess(sent, pieces)

    def test_the_least_rate_counts_for_bodies_too(self) -> None:
        server = self.serve("--idle-timeout", IDLE_S, "--min-rate", "1G")
        client = self.scene.keep(HttpClient(server))
        self.begin_upload(client, 20 << 20)
        self.trickle([client], b"x" * 8192)

    def begin_upload(self, client: HttpClient, size: int) -> None:
        fields = (CREDENTIALS, f"Content-Length: {size}")
        client.send(request("/f", *fields, method="PUT"))
