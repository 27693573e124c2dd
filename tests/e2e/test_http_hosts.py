"""--http-host: by which names the HTTP front answers. A page that gives its own name the address of
this server is refused."""

from http_client import FLAG, HttpClient, basic
from scene import SharedSceneTest, with_loops

_ALICE = basic("alice", "wonderland")
_ACCOUNT = b'{"user": "eve", "password": "secret"}'


@with_loops
class HostsTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("f", b"content")
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.on_loopback = cls.scene.fileserver(authserver, *FLAG)
        cls.named = cls.scene.fileserver(
            authserver, *FLAG, "--http-host", "files.example.com,other"
        )
        anywhere = ("--http-listen", "0.0.0.0:0")
        cls.anywhere = cls.scene.fileserver(authserver, *anywhere)
        cls.named_anywhere = cls.scene.fileserver(authserver, *anywhere, "--http-host", "other")

    def status(
        self, server, host: str | None, target: str = "/f", method: str = "GET", body: bytes = b""
    ) -> int:
        client = HttpClient(server)
        self.addCleanup(client.close)
        lines = [f"{method} {target} HTTP/1.{0 if host is None else 1}", f"Authorization: {_ALICE}"]
        lines += [] if host is None else [f"Host: {host}"]
        lines += [f"Content-Length: {len(body)}"] if body else []
        client.send("\r\n".join([*lines, "", ""]).encode() + body)
        return client.answer(method).status

    def test_addresses_and_localhost_are_good_on_loopback_and_names_are_not(self) -> None:
        for host, status in (
            *((host, 200) for host in ("127.0.0.1", "127.0.0.1:8080", "192.0.2.7", "[::1]:1")),
            *((host, 200) for host in ("localhost", "LocalHost:80", "", None)),
            *((host, 421) for host in ("evil.example", "evil.example:8080", "localhost.evil")),
            *((host, 421) for host in ("127.0.0.1.evil", "files.example.com", "x", "[evil]:1")),
        ):
            with self.subTest(host):
                self.assertEqual(self.status(self.on_loopback, host), status)

    def test_names_of_the_flag_are_good(self) -> None:
        for host, status in (
            *((host, 200) for host in ("files.example.com", "FILES.example.com:443", "other:80")),
            *((host, 200) for host in ("127.0.0.1", "localhost")),
            *((host, 421) for host in ("evil.example", "a.files.example.com", "files", "o")),
        ):
            with self.subTest(host):
                self.assertEqual(self.status(self.named, host), status)

    def test_the_authority_of_the_target_counts_before_host(self) -> None:
        for target, host, status in (
            ("http://evil.example/f", "localhost", 421),
            ("HTTP://evil.example?/f", "localhost", 421),
            ("https://evil.example/f", "localhost", 421),
            ("http://localhost:8080/f", "evil.example", 200),
            ("https://localhost/f", "evil.example", 200),
        ):
            with self.subTest(target):
                self.assertEqual(self.status(self.on_loopback, host, target), status)

    def test_on_other_addresses_names_count_once_there_are_some(self) -> None:
        self.assertEqual(self.status(self.anywhere, "evil.example"), 200)
        self.assertEqual(self.status(self.named_anywhere, "evil.example"), 421)
        self.assertEqual(self.status(self.named_anywhere, "other"), 200)

    def test_what_was_good_before_makes_nothing_else_good(self) -> None:
        client = HttpClient(self.named)
        self.addCleanup(client.close)
        long = f"other:{'8' * 100}"
        hosts = ("other", "evil.example", "evil.example", "other", "other.evil", long, long)
        for host in (*hosts, "othe", "localhost", "", "evil.example"):
            with self.subTest(host):
                head = f"GET /f HTTP/1.1\r\nHost: {host}\r\nAuthorization: {_ALICE}\r\n\r\n"
                client.send(head.encode())
                wanted = 421 if "evil" in host or host == "othe" else 200
                self.assertEqual(client.answer("GET").status, wanted)

    def test_no_request_passes_it(self) -> None:
        for target, method, body in (
            ("/", "GET", b""),
            ("/-/health", "GET", b""),
            ("/f", "OPTIONS", b""),
            ("/-/accounts", "POST", _ACCOUNT),
        ):
            for server in (self.on_loopback, self.named_anywhere):
                with self.subTest((target, method)):
                    status = self.status(server, "evil.example", target, method, body)
                    self.assertEqual(status, 421)
        # Its target says where to connect to, and is looked at by nobody.
        for target in ("evil.example:443", "/f", "/-/none", "/-/health"):
            with self.subTest(target):
                status = self.status(self.on_loopback, "evil.example", target, "CONNECT")
                self.assertEqual(status, 405)
        client = HttpClient(self.on_loopback, "eve", "secret")
        self.addCleanup(client.close)
        self.assertEqual(client.ask("/f").status, 401)
