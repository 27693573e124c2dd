"""--http-listen: accounts, credentials, and an authserver that cannot be asked."""

import base64
import json

from http_client import FLAG, HttpClient, basic, request
from peers import HangUp, Peer
from scene import SceneTest, SharedSceneTest, with_loops

_REALM = 'Basic realm="turnstile", charset="UTF-8"'


def _account(user: object, password: object) -> bytes:
    return json.dumps({"user": user, "password": password}).encode()


@with_loops
class AccountsTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("f", b"content")
        cls.authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.server = cls.scene.fileserver(cls.authserver, *FLAG, "--wrong-passwords", "0")

    def client(self, *credentials: str) -> HttpClient:
        client = HttpClient(self.server, *credentials)
        self.addCleanup(client.close)
        return client

    def status_with(self, authorization: str) -> int:
        return self.client().ask("/f", f"Authorization: {authorization}").status

    def make(self, body: bytes, *fields: str) -> int:
        return self.client().ask("/-/accounts", *fields, method="POST", body=body).status

    def test_an_account_that_is_made_is_known_in_both_protocols(self) -> None:
        for user, password in (
            ("bob", "secret"),
            ("b.o_b-@+", "p:w with blanks"),
            ("eve", 'quote " \\ / \u00e4\u2603\U0001f600'),
            ("u" * 64, "p" * 128),
        ):
            self.assertEqual(self.make(_account(user, password)), 201)
            self.assertEqual(self.client(user, password).ask("/f").body, b"content")
            self.assertEqual(self.client(user, password + "x").ask("/f").status, 401)
            self.assertEqual(self.make(_account(user, "other")), 409)
            native = self.connect(self.server)
            self.assertEqual(native.ask(f"get:{user}:{password}"), "OK")

    def test_an_account_in_another_form(self) -> None:
        """account_json_test.cpp has all of them."""
        body = b' { "password" : "\\u0070\\ud83d\\ude00" , "us\\u0065r" : "form" } \r\n'
        self.assertEqual(self.make(body, "Content-Type: x"), 201)
        self.assertEqual(self.client("form", "p\U0001f600").ask("/f").status, 200)

    def test_a_page_of_another_site_makes_no_account(self) -> None:
        """The Host of these requests is `x`."""
        for fields in (
            ("Sec-Fetch-Site: cross-site",),
            ("Sec-Fetch-Site: same-site", "Origin: http://localhost"),
            ("sec-fetch-site: Cross-Site",),
            ("Origin: https://evil.example",),
            ("Origin: http://localhost:81",),
            ("Origin: http://localhost.evil",),
            ("Origin: null",),
            ("Origin: x",),
            ("Origin: http://localhost", "Origin: http://y"),
        ):
            self.assertEqual(self.make(_account("csrf", "pw"), *fields), 403, fields)
        self.assertEqual(self.client("csrf", "pw").ask("/f").status, 401)
        own: tuple[tuple[str, ...], ...] = (
            ("Sec-Fetch-Site: same-origin", "Origin: https://LOCALHOST"),
            ("Sec-Fetch-Site: none",),
            ("Origin: http://localhost",),
        )
        for number, sent in enumerate(own):
            self.assertEqual(self.make(_account(f"own{number}", "pw"), *sent), 201, sent)

    def test_what_is_no_account(self) -> None:
        for body in (
            *(b"", b"{}", b"[]", b'{"user":"x","password":1}', b'{"user":"x","password":"y"},'),
            *(_account("", "y"), _account("x", ""), _account("a b", "y"), _account("a:b", "y")),
            *(_account("u" * 65, "y"), _account("x", "p" * 129), _account("x", "a\0b")),
            b'{"user":"x","password":"a\\nb"}',
        ):
            self.assertEqual(self.make(body, *(() if body else ("Content-Length: 0",))), 422, body)

    def test_a_body_of_4_kib_is_read_and_a_longer_one_is_not(self) -> None:
        body = _account("large", "pw")
        self.assertEqual(self.make(body + b" " * (4097 - len(body))), 413)
        self.assertEqual(self.make(body + b" " * (4096 - len(body))), 201)
        for size, status in ((4096, 409), (4097, 413)):
            client = self.client()
            chunked = body + b" " * (size - len(body))
            data = b"7\r\n%s\r\n%x;x\r\n%s\r\n0\r\nX: y\r\n\r\n" % (
                chunked[:7],
                size - 7,
                chunked[7:],
            )
            fields = ("Transfer-Encoding: chunked", "Expect: 100-continue")
            client.send(request("/-/accounts", *fields, method="POST", body=data))
            answer = client.answer()
            self.assertEqual((answer.status, answer.closes()), (status, status == 413))

    def test_a_malformed_body_is_a_malformed_request(self) -> None:
        for data in (b"x\r\n", b"\r\n", b"2\r\n{}x\r\n", b"2\n{}", b"0" * 17 + b"\r\n"):
            client = self.client()
            client.send(
                request("/-/accounts", "Transfer-Encoding: chunked", method="POST", body=data)
            )
            answer = client.answer()
            self.assertEqual((answer.status, answer.closes()), (400, True), data)
            self.assertTrue(client.is_ended())

    def test_other_methods_and_paths_of_ours(self) -> None:
        client = self.client()
        for method, path, status in (
            ("GET", "/-/accounts", 405),
            ("POST", "/-/health", 405),
            ("GET", "/-/none", 404),
            ("GET", "/-/", 404),
            ("GET", "/-/accounts/", 404),
            ("GET", "/%2d/health", 200),
            ("HEAD", "/-/health", 200),
            ("POST", "/-/live", 405),
            ("HEAD", "/-/live", 200),
            ("GET", "/-/live/", 404),
        ):
            answer = client.ask(path, method=method)
            self.assertEqual(answer.status, status, path)
            self.assertEqual("allow" in answer.fields, status == 405)

    def test_who_is_not_validated_is_asked_for_credentials(self) -> None:
        client = self.client()
        for path in ("/f", "/none", "/", "/%00"):
            answer = client.ask(path)
            self.assertEqual((answer.status, answer.closes()), (401, False))
            self.assertEqual(answer.fields["www-authenticate"], _REALM)
            self.assertEqual(answer.fields["cache-control"], "no-store")

    def test_credentials_that_are_not_good(self) -> None:
        """basic_test.cpp has what is malformed."""

        def encoded(text: bytes) -> str:
            return "Basic " + base64.b64encode(text).decode()

        right = basic("alice", "wonderland")
        for value in (
            *("", "Bearer x", right[:-1], basic("alice", "wrong"), basic("nobody", "x")),
            *(encoded(b"alice"), encoded(b":wonderland"), encoded(b"alice:"), encoded(b"")),
            *(encoded(b"a\nb:c"), encoded(b"alice:wonder\0land"), encoded(b"alice:" + b"x" * 200)),
            encoded(b"alice:x\nnew:eve:x"),
        ):
            self.assertEqual(self.status_with(value), 401, value)
        self.assertEqual(self.status_with(right), 200)
        self.assertEqual(self.status_with(right.replace("Basic ", "BASIC  ")), 200)

    def test_each_request_is_validated(self) -> None:
        client = self.client()
        for _ in range(3):
            answer = client.ask("/f", f"Authorization: {basic('alice', 'wonderland')}")
            self.assertEqual(answer.status, 200)
            self.assertEqual(client.ask("/f").status, 401)


class OutageTest(SceneTest):
    def serve(self, answer, *flags: object) -> HttpClient:
        self.peer = self.scene.keep(Peer(answer))
        self.server = self.scene.fileserver(self.peer, *FLAG, *flags)
        self.scene.write("f", b"content")
        return self.scene.keep(HttpClient(self.server, "amy", "secret"))

    def test_an_authserver_that_cannot_be_asked(self) -> None:
        def hang_up(*_: object) -> bytes:
            raise HangUp

        for answer in (hang_up, lambda *_: b"ERR unavailable x\n", lambda *_: b"ERR busy x\n"):
            client = self.serve(answer)
            body = b'{"user":"bob","password":"pw"}'
            for got in (
                client.ask("/f"),
                client.ask("/-/health"),
                client.ask("/-/accounts", method="POST", body=body),
            ):
                self.assertEqual((got.status, got.closes()), (503, False))
                self.assertEqual(got.fields["retry-after"], "1")

    def test_health_is_told_in_time_though_the_authserver_hangs(self) -> None:
        client = self.serve(lambda *_: None, "--auth-timeout", "1000")
        self.assertEqual(client.ask("/-/health").status, 503)

    def test_an_answer_that_makes_no_sense_is_a_failure_of_ours(self) -> None:
        answer = self.serve(lambda *_: b"nonsense\n").ask("/f")
        self.assertEqual((answer.status, answer.closes()), (500, True))

    def test_a_user_whose_password_is_guessed_is_told_to_wait(self) -> None:
        asked = []

        def answer(line: bytes, _: object) -> bytes:
            asked.append(line)
            return b"OK\n" if line.endswith(b":secret\n") else b"ERR denied no\n"

        client = self.serve(answer, "--auth-connection", "per-request")
        stranger = self.scene.keep(HttpClient(self.server))
        for number in range(10):
            guess = f"Authorization: {basic('amy', str(number))}"
            self.assertEqual(stranger.ask("/f", guess).status, 401)
        guesses = len(asked)
        throttled = client.ask("/f")
        self.assertEqual((throttled.status, throttled.closes()), (429, False))
        self.assertEqual(throttled.fields["retry-after"], "6")
        self.assertEqual(len(asked), guesses)
        neighbour = self.scene.keep(HttpClient(self.server, "bob", "secret"))
        self.assertEqual(neighbour.ask("/f").status, 200)
        elsewhere = self.scene.keep(HttpClient(self.server, "amy", "secret", source="127.0.0.2"))
        self.assertEqual(elsewhere.ask("/f").status, 200)
        self.assertRegex(
            self.server.log(), r'info auth-failed address=127\.0\.0\.1 user="amy" front=http'
        )
