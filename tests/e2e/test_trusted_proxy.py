"""--trusted-proxy: whose X-Forwarded-For says who the client is, and the warning without one."""

import json

from http_client import FLAG, Answer, HttpClient
from programs import Program
from scene import SceneTest, with_loops
from waiting import eventually

UNNAMED = "warning a peer sends X-Forwarded-For and is not believed peer=127.0.0.1"
WARNING = "passwords cross the network readable"


@with_loops
class TrustedProxyTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.scene.write("a.txt", b"content")
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")

    def serve(self, *flags: object) -> Program:
        return self.scene.fileserver(self.authserver, *FLAG, *flags)

    def ask(self, server: Program, password: str, *forwarded_for: str) -> Answer:
        client = HttpClient(server, "alice", password)
        try:
            return client.ask("/a.txt", *(f"X-Forwarded-For: {one}" for one in forwarded_for))
        finally:
            client.close()

    def assert_logged(self, server: Program, address: str) -> None:
        line = f'auth-failed address={address} user="alice" front=http'
        eventually(lambda: line in server.log(), line)

    def test_the_log_names_the_client_behind_a_trusted_proxy(self) -> None:
        server = self.serve("--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "127.0.0.1")
        for number, (forwarded_for, address) in enumerate(
            (
                ((), "127.0.0.1"),
                (("198.51.100.7",), "198.51.100.7"),
                (("203.0.113.9, 198.51.100.8, 10.0.0.2",), "198.51.100.8"),
                (("203.0.113.9", "198.51.100.9"), "198.51.100.9"),
                (("198.51.100.7, unknown, 10.1.1.1",), "10.1.1.1"),
            )
        ):
            self.assertEqual(self.ask(server, f"wrong{number}", *forwarded_for).status, 401)
            self.assert_logged(server, address)

    def test_a_proxy_that_is_not_named_is_told_once(self) -> None:
        for flags, count in (((), 1), (("--trusted-proxy", "127.0.0.1"), 0)):
            server = self.serve(*flags)
            self.assertEqual(self.ask(server, "wonderland").status, 200)
            self.assertEqual(server.log().count(UNNAMED), 0, server.log())
            for client in ("198.51.100.7", "198.51.100.8"):
                self.assertEqual(self.ask(server, "wonderland", client).status, 200)
            self.assertEqual(server.log().count(UNNAMED), count, server.log())

    def test_a_proxy_on_a_unix_socket_is_believed_if_it_is_named(self) -> None:
        path = self.scene.folder / "http"
        for flags, address in (((), "unix"), (("--trusted-proxy", "unix"), "198.51.100.7")):
            listen = ("--http-listen", f"unix:{path}")
            server = self.scene.fileserver(self.authserver, *listen, *flags)
            self.assertIn(f" http=unix:{path}", server.ready_line)
            self.assertEqual(path.stat().st_mode & 0o777, 0o660)
            self.assertEqual(self.ask(server, "wonderland").body, b"content")
            self.assertEqual(self.ask(server, "wrong", "198.51.100.7").status, 401)
            self.assert_logged(server, address)
            self.assertEqual(server.stop(), 0)
            self.assertFalse(path.exists())

    def test_nobody_else_is_believed(self) -> None:
        for flags in ((), ("--trusted-proxy", "10.0.0.0/8")):
            server = self.serve(*flags)
            self.assertEqual(self.ask(server, "wrong", "198.51.100.7").status, 401)
            self.assert_logged(server, "127.0.0.1")
            self.assertNotIn("198.51.100.7", server.log())

    def test_wrong_passwords_count_for_the_client(self) -> None:
        server = self.serve("--trusted-proxy", "127.0.0.1", "--wrong-passwords", 3)
        for number in range(3):
            self.assertEqual(self.ask(server, f"wrong{number}", "198.51.100.7").status, 401)
        self.assertEqual(self.ask(server, "wonderland", "198.51.100.7").status, 429)
        self.assertEqual(self.ask(server, "wonderland", "1.2.3.4, 198.51.100.7").status, 429)
        self.assertEqual(self.ask(server, "wonderland", "198.51.100.8").status, 200)
        self.assertEqual(self.ask(server, "wonderland").status, 200)

    def test_the_transfer_log_names_the_client(self) -> None:
        log = self.scene.folder / "transfers"
        server = self.serve("--trusted-proxy", "127.0.0.1", "--transfer-log", log)
        self.assertEqual(self.ask(server, "wonderland", "2001:db8::7").body, b"content")
        eventually(lambda: log.read_text().count("\n") == 1, "a line")
        self.assertEqual(json.loads(log.read_text())["client"], "2001:db8::7")

    def test_the_transfer_log_names_who_changes_the_folder(self) -> None:
        log = self.scene.folder / "transfers"
        flags = ("--trusted-proxy", "127.0.0.1", "--transfer-log", log, "--uploads", "folder")
        client = self.scene.keep(HttpClient(self.serve(*flags), "alice", "wonderland"))
        for method, path, body in (
            ("PUT", "/b", b"x"),
            ("DELETE", "/b", b""),
            ("MKCOL", "/c", b""),
        ):
            answer = client.ask(path, "X-Forwarded-For: 2001:db8::7", method=method, body=body)
            self.assertIn(answer.status, (201, 204))
        eventually(lambda: log.read_text().count("\n") == 3, "three lines")
        clients = [json.loads(line)["client"] for line in log.read_text().splitlines()]
        self.assertEqual(clients, ["2001:db8::7"] * 3)

    def test_the_start_warns_where_passwords_are_readable(self) -> None:
        for address, flags, warnings in (
            ("0.0.0.0:0", (), 1),
            ("0.0.0.0:0", ("--trusted-proxy", "10.0.0.1"), 0),
            ("127.0.0.1:0", (), 0),
        ):
            server = self.scene.fileserver(self.authserver, "--http-listen", address, *flags)
            server.stop()
            self.assertEqual(server.log().count(WARNING), warnings, address)
