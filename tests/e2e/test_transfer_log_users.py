"""--transfer-log-users on: who asked for each file, who changed what, and who was refused."""

import base64

from client import Client, grant
from dav_client import lock_info
from http_client import FLAG as HTTP
from http_client import HttpClient
from programs import Program, run
from scene import SceneTest, create_account
from transfer_lines import Line, wait_for_lines

USER = ("alice", "wonderland")
WRONG = ("alice", "looking-glass")
LONG_USER = "a.long-name+that_is@more.than.a.small.string.holds"
USERS_ON = ("--transfer-log-users", "on")


def parts_of(line: Line, *keys: str) -> tuple[object, ...]:
    """What the line has at these keys; None where it has none."""
    return tuple(line.get(key) for key in keys)


class TransferLogUsersTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.scene.folder / "transfers.json"
        self.scene.write("a", b"hello")

    def serve(self, *flags: object, users: tuple[str, ...] = USERS_ON) -> Program:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        create_account(authserver, LONG_USER)
        return self.scene.fileserver(authserver, "--transfer-log", self.log, *users, *flags)

    def http(self, server: Program, *user: str) -> HttpClient:
        return self.scene.keep(HttpClient(server, *user))

    def client(self, server: Program, user: str) -> Client:
        client = self.scene.client(server)
        grant(client, user)
        return client

    def lines(self, count: int) -> list[Line]:
        return wait_for_lines(self.log, count)

    def test_each_file_has_the_user_of_its_connection(self) -> None:
        server = self.serve()
        alice, other = self.client(server, "alice"), self.client(server, LONG_USER)
        for client in (alice, other, alice):
            self.assertEqual(client.ask("a"), b"hello")
        self.assertEqual(alice.ask("missing"), "not-found")
        self.assertEqual(alice.ask(f"get:{LONG_USER}:wonderland"), "OK")
        self.assertEqual(alice.ask("a"), b"hello")
        lines = self.lines(5)
        users = ["alice", LONG_USER, "alice", "alice", LONG_USER]
        self.assertEqual([line["user"] for line in lines], users)
        for line in lines:
            self.assertEqual(parts_of(line, "method", "status"), (None, None))
        self.assertEqual(
            list(lines[0]),
            [
                "result",
                "asked",
                "first_byte",
                "last_byte",
                "bytes",
                "size",
                "client",
                "user",
                "name",
            ],
        )

    def test_whoever_is_not_let_in_has_a_line_with_the_name_that_was_tried(self) -> None:
        server = self.serve("--wrong-passwords", 2)
        client = self.client(server, "alice")
        for line in ("get:alice:wrong", "a", "get:nobody:wrong", "get:alice:wrong2"):
            self.assertEqual(client.ask(line), "denied")
        self.assertEqual(client.ask("get:b b:wrong"), "invalid")  # it may be anything
        self.assertEqual(client.ask("get:alice:wrong3"), "busy")
        found = [
            parts_of(line, "result", "method", "user", "name", "bytes", "client")
            for line in self.lines(5)
        ]
        here = (0, "127.0.0.1")
        expected = [
            ("denied", "get:", "alice", None, *here),
            ("denied", None, None, "a", *here),
            ("denied", "get:", "nobody", None, *here),
            ("denied", "get:", "alice", None, *here),
            ("busy", "get:", "alice", None, *here),
        ]
        self.assertEqual(found, expected)
        self.assertNotIn("wrong", self.log.read_text())

    def test_accounts_that_are_refused_have_lines(self) -> None:
        server = self.serve(*HTTP, "--new-accounts", "closed")
        client = self.scene.client(server)
        for line in ("new:bob:secret", "new:b"):
            self.assertEqual(client.ask(line), "denied")
        body = b'{"user": "bob", "password": "secret"}'
        http = self.http(server)
        self.assertEqual(http.ask("/-/accounts", method="POST", body=body).status, 403)
        found = [
            parts_of(line, "result", "method", "status", "user", "name") for line in self.lines(3)
        ]
        native = ("denied", "new:", None, None, None)
        by_http = ("denied", "POST", 403, None, "-/accounts")
        self.assertEqual(found, [native, native, by_http])
        for word in ("bob", "secret"):
            self.assertNotIn(word, self.log.read_text())

    def test_files_and_changes_by_http_have_user_method_and_status(self) -> None:
        server = self.serve(*HTTP, "--uploads", "folder")
        asked = (
            ("GET", "/a", "alice", 200, None),
            ("PUT", "/b", LONG_USER, 201, "put"),
            ("LOCK", "/locked", "alice", 201, "put"),
            ("MKCOL", "/f", "alice", 201, "mkcol"),
            ("COPY", "/b", "alice", 201, "copy"),
            ("MOVE", "/b", LONG_USER, 201, "move"),
            ("DELETE", "/f/COPY", "alice", 204, "delete"),
            ("DELETE", "/b", LONG_USER, 404, "delete"),
            ("GET", "/b", "alice", 404, None),
        )
        for method, path, user, status, _ in asked:
            http = self.http(server, user, "wonderland")
            body = {"PUT": b"new", "LOCK": lock_info()}.get(method, b"")
            fields = (f"Destination: /f/{method}",) if method in ("COPY", "MOVE") else ()
            self.assertEqual(http.ask(path, *fields, method=method, body=body).status, status)
        for line, (method, path, user, status, change) in zip(
            self.lines(len(asked)), asked, strict=True
        ):
            with self.subTest(method=method, path=path):
                to = f"f/{method}" if method in ("COPY", "MOVE") else None
                self.assertEqual(
                    parts_of(line, "user", "method", "status", "name", "change", "to"),
                    (user, method, status, path[1:], change, to),
                )

    def test_requests_by_http_without_a_right_password_have_lines(self) -> None:
        server = self.serve(*HTTP, "--uploads", "folder", "--wrong-passwords", 1)
        odd = base64.b64encode(b"b b:looking-glass").decode()
        asked: tuple[tuple[HttpClient, str, str, tuple[str, ...], int, str | None], ...] = (
            (self.http(server), "GET", "/a", (), 401, None),
            (self.http(server), "GET", "/a", (f"Authorization: Basic {odd}",), 401, None),
            (self.http(server), "HEAD", "/", (), 401, None),
            (self.http(server), "GET", "/..", (), 401, None),
            (self.http(server), "GET", "/-/sha256/a", (), 401, None),
            (self.http(server, *WRONG), "DELETE", "/a", (), 401, "alice"),
            (self.http(server, "alice", "wrong-too"), "MKCOL", "/f", (), 429, "alice"),
        )
        for http, method, path, fields, status, _ in asked:
            self.assertEqual(http.ask(path, *fields, method=method).status, status)
        lines = self.lines(len(asked))
        for line, (_, method, path, _, status, user) in zip(lines, asked, strict=True):
            with self.subTest(method=method, path=path):
                name = path[1:] if path != "/.." else None
                result = "busy" if status == 429 else "denied"
                self.assertEqual(
                    parts_of(line, "method", "status", "user", "name", "result", "client"),
                    (method, status, user, name, result, "127.0.0.1"),
                )
        self.assertEqual([line.get("change") for line in lines[-2:]], ["delete", "mkcol"])
        for secret in ("looking-glass", "wrong-too", "b b"):
            self.assertNotIn(secret, self.log.read_text())

    def test_a_change_that_a_user_may_not_make_is_one_line(self) -> None:
        rights = self.scene.folder / "rights"
        rights.write_text(f"* / read\n* /drop read write\n{LONG_USER} / read write\n")
        server = self.serve(*HTTP, "--uploads", "folder", "--rights", rights)
        http = self.http(server, *USER)
        self.scene.write("drop/b", b"hello")
        for method, path, to, status in (
            ("DELETE", "/a", None, 403),
            ("MOVE", "/a", "drop/a", 403),
            ("MOVE", "/drop/b", "b", 403),
            ("COPY", "/a", "b", 403),
        ):
            fields = (f"Destination: /{to}",) if to else ()
            self.assertEqual(http.ask(path, *fields, method=method).status, status)
        self.assertEqual(http.ask("/a").status, 200)
        *refused, read = self.lines(5)
        self.assertEqual(
            [parts_of(line, "result", "status", "user", "change", "name") for line in refused],
            [
                ("denied", 403, "alice", "delete", "a"),
                ("denied", 403, "alice", "move", "a"),
                ("denied", 403, "alice", "move", "drop/b"),
                ("denied", 403, "alice", "copy", "a"),
            ],
        )
        self.assertEqual(parts_of(read, "result", "status", "user"), ("ok", 200, "alice"))

    def test_what_neither_sends_a_file_nor_is_refused_has_no_line(self) -> None:
        server = self.serve(*HTTP)
        http = self.http(server, *USER)
        for method, path, status in (
            ("HEAD", "/a", 200),
            ("GET", "/", 200),
            ("GET", "/-/health", 200),
            ("POST", "/a", 405),
            ("GET", "/a", 200),
        ):
            self.assertEqual(http.ask(path, method=method).status, status)
        self.assertEqual([line["name"] for line in self.lines(1)], ["a"])

    def test_off_is_the_default_and_has_nothing_of_this(self) -> None:
        for users in ((), ("--transfer-log-users", "off")):
            with self.subTest(users=users):
                self.log.unlink(missing_ok=True)
                server = self.serve(*HTTP, "--new-accounts", "closed", users=users)
                client = self.client(server, "alice")
                for line in ("new:bob:secret", "get:alice:wrong", "a"):
                    self.assertEqual(client.ask(line), "denied")
                self.assertEqual(self.http(server).ask("/a").status, 401)
                self.assertEqual(self.http(server, *USER).ask("/a").status, 200)
                refused, sent = self.lines(2)
                known = ["result", "asked", "bytes", "client", "name"]
                self.assertEqual(list(refused), known)
                self.assertEqual(
                    list(sent), [*known[:2], "first_byte", "last_byte", "bytes", "size", *known[3:]]
                )
                self.assertEqual(server.stop(), 0)


class TransferLogUsersOfLoopsTest(TransferLogUsersTest):
    model = "event"

    def test_a_connection_that_has_rested_has_its_user(self) -> None:
        server = self.serve("--loops", 1)
        clients = {user: self.client(server, user) for user in ("alice", LONG_USER)}
        for _ in range(3):
            for user, client in clients.items():
                self.assertEqual(client.ask("a"), b"hello", user)
        users = [line["user"] for line in self.lines(6)]
        self.assertEqual(users, 3 * list(clients))


class TransferLogUsersStartTest(SceneTest):
    def test_it_needs_a_transfer_log(self) -> None:
        ended = run("fileserver", "--root", self.scene.root, "--transfer-log-users", "on")
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("--transfer-log-users on needs --transfer-log", ended.stderr)
