"""Sessions over HTTP: a cookie instead of the password. And what others may not do with it."""

import json
import re
import time

from client import grant
from http_client import FLAG, Answer, HttpClient, basic
from programs import Program, run
from scene import SceneTest, with_loops

AMY = ("amy", "amy's password")
BOB = ("bob", "bob's password")
OURS = "Sec-Fetch-Site: same-origin"
COOKIE = re.compile(r"turnstile=([A-Za-z0-9_-]{43}); HttpOnly; SameSite=Strict; Path=/(.*)")
NONE = {"user": "amy", "admin": False, "by": "basic"}


@with_loops
class HttpSessionsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.scene.write("f", b"content")
        self.authserver = self.scene.authserver()
        self.server = self.fileserver()
        native = self.scene.client(self.authserver)
        for user, password in (AMY, BOB):
            self.assertEqual(native.ask(f"new:{user}:{password}"), "OK")

    def fileserver(self, *flags: object, auth: Program | None = None) -> Program:
        return self.scene.fileserver(auth or self.authserver, *FLAG, "--uploads", "folder", *flags)

    def http(self, server: Program | None = None, *credentials: str) -> HttpClient:
        return self.scene.keep(HttpClient(server or self.server, *credentials))

    @staticmethod
    def post(client: HttpClient, path: str, content: object, *fields: str) -> Answer:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return client.ask(path, *fields, method="POST", body=body)

    def log_in(self, user: str, password: str, **further: object) -> str:
        """Returns the field of a request with the cookie."""
        answer = self.post(
            self.http(), "/-/session", {"user": user, "password": password, **further}
        )
        self.assertEqual((answer.status, answer.fields["cache-control"]), (204, "no-store"))
        cookie = COOKIE.fullmatch(answer.fields["set-cookie"])
        assert cookie, answer.fields
        self.assertEqual(cookie[2], "; Max-Age=2592000" if further.get("stay") else "")
        return f"Cookie: turnstile={cookie[1]}"

    def status(self, *fields: str, target: str = "/f", method: str = "GET") -> int:
        return self.http().ask(target, *fields, method=method).status

    def test_a_session_reads_and_writes_as_its_user_until_it_is_ended(self) -> None:
        for stay in (False, True):
            cookie = self.log_in(*AMY, stay=stay)
            client = self.http()
            self.assertEqual(client.ask("/f", cookie).body, b"content")
            self.assertEqual(client.ask("/f", cookie, method="HEAD").status, 200)
            put = client.ask("/g", cookie, OURS, method="PUT", body=b"x")
            self.assertIn(put.status, (201, 204))
            who = client.ask("/-/whoami", cookie)
            self.assertEqual(json.loads(who.body), {**NONE, "by": "session"})
            self.assertEqual(who.fields["cache-control"], "no-store")
            self.assertEqual(client.ask("/", cookie).status, 200)
            self.assertIn(b"<bdi>amy</bdi></a></p>", client.ask("/", cookie).body)
            ended = client.ask("/-/session", cookie, OURS, method="DELETE")
            self.assertEqual(ended.status, 204)
            self.assertIn("Max-Age=0", ended.fields["set-cookie"])
            for _ in range(2):
                self.assertEqual(client.ask("/f", cookie).status, 401)
            self.assertEqual(client.ask("/-/session", cookie, OURS, method="DELETE").status, 401)

    def test_whoami_with_a_password(self) -> None:
        self.assertEqual(json.loads(self.http(None, *AMY).ask("/-/whoami").body), NONE)
        self.assertEqual(self.status(target="/-/whoami"), 401)

    def test_what_is_no_log_in(self) -> None:
        client = self.http()
        user, password = AMY
        for status, content in (
            (401, {"user": user, "password": "wrong"}),
            (401, {"user": "nobody", "password": password}),
            (401, {"user": "a b", "password": password}),
            (401, {"user": user, "password": "x" * 129}),
            (422, {"user": user}),
            (422, {"user": user, "password": password, "stay": "yes"}),
            (422, {"user": user, "password": password, "stay": 1}),
            (422, {"user": user, "password": password, "more": True}),
            (422, b'{"user": "amy", "user": "amy", "password": "x"}'),
            (422, b'{"user": "amy", "password": "x", "stay": true, "stay": true}'),
            (422, b'{"stay": true}'),
            (422, b"no JSON"),
            (422, b"["),
        ):
            with self.subTest(content):
                answer = self.post(client, "/-/session", content)
                self.assertEqual((answer.status, answer.fields.get("set-cookie")), (status, None))
        self.assertEqual(self.post(self.http(), "/-/session", b"x" * 4097).status, 413)
        self.assertEqual(client.ask("/-/session").status, 405)
        self.assertEqual(client.ask("/-/whoami", method="DELETE").status, 405)

    def test_cookies_that_are_none(self) -> None:
        """Of two it is not known which one is ours: a neighbouring host may have set the other."""
        cookie = self.log_in(*AMY)
        token = cookie.partition("=")[2]
        other = self.log_in(*BOB).partition("=")[2]
        for fields in (
            (f"{cookie}; turnstile={other}",),
            (f"Cookie: turnstile={other}; turnstile={token}",),
            (cookie, f"Cookie: turnstile={other}"),
            (cookie, cookie),
            (f"{cookie}x",),
            (f"Cookie: turnstile={token[:-1]}",),
            (f"Cookie: turnstile={'A' * 43}",),
            (f"Cookie: turnstile={token[:-1]}\xe9",),
            ("Cookie: turnstile=",),
            ("Cookie: turnstile",),
            (f"Cookie: Turnstile={token}",),
            (f'Cookie: turnstile="{token}"',),
            (f"Cookie: x{token}",),
            (f"Cookie: turnstile={'A' * 8000}",),
            (f"Cookie: {'; ' * 4000}",),
        ):
            with self.subTest(fields):
                self.assertEqual(self.status(*fields), 401)
        for fields in (
            (f"Cookie: a=b; turnstile={token}; c",),
            (f"Cookie: a=turnstile;turnstile={token}",),
            (f"Cookie:turnstile={token};",),
            ("Cookie: a=b", cookie),
        ):
            with self.subTest(fields):
                self.assertEqual(self.status(*fields), 200)

    def test_with_authorization_the_cookie_is_not_looked_at(self) -> None:
        cookie = self.log_in(*AMY)
        for credentials, status in ((basic(*BOB), 200), (basic("bob", "wrong"), 401), ("x", 401)):
            field = f"Authorization: {credentials}"
            self.assertEqual(self.status(cookie, field), status)
        who = self.http(None, *BOB).ask("/-/whoami", cookie)
        self.assertEqual(json.loads(who.body), {"user": "bob", "admin": False, "by": "basic"})
        # So nobody's session ends by it, and no word of the browser is asked for.
        client = self.http(None, *BOB)
        self.assertEqual(client.ask("/-/session", cookie, method="DELETE").status, 204)
        self.assertEqual(self.status(cookie), 200)

    def test_no_page_of_another_site_changes_anything_by_a_cookie(self) -> None:
        cookie = self.log_in(*AMY)
        changes = (
            ("PUT", "/f"),
            ("DELETE", "/f"),
            ("MKCOL", "/new"),
            ("MOVE", "/f"),
            ("COPY", "/f"),
            ("LOCK", "/f"),
            ("PROPPATCH", "/f"),
            ("DELETE", "/-/session"),
            ("POST", "/-/password"),
            ("POST", "/-/session"),
            ("POST", "/-/accounts"),
            ("POST", "/-/invitation"),
        )
        for fields in (
            (),
            ("Sec-Fetch-Site: cross-site",),
            ("Sec-Fetch-Site: same-site",),
            ("Sec-Fetch-Site: cross-site", "Origin: http://localhost"),
            ("Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
            ("Sec-Fetch-Site:",),
            ("Origin: http://evil.example",),
            ("Origin: http://localhost.evil.example",),
            ("Origin: http://localhost:81",),
            ("Origin: null",),
            ("Origin: localhost",),
        ):
            for method, target in changes:
                with self.subTest(method, fields=fields, target=target):
                    self.assertEqual(
                        self.status(cookie, *fields, target=target, method=method), 403
                    )
        self.assertEqual(self.http().ask("/f", cookie).body, b"content")
        for field in (OURS, "Sec-Fetch-Site: none", "Origin: http://localhost"):
            with self.subTest(field):
                answer = self.http().ask("/f", cookie, field, method="PUT", body=b"content")
                self.assertEqual(answer.status, 204)
        self.assertEqual(self.status(cookie, "Sec-Fetch-Site: cross-site", method="GET"), 200)

    def test_a_page_elsewhere_that_shows_names_in_itself_learns_nothing_of_them(self) -> None:
        (self.scene.root / "folder").mkdir()
        names = ("/f", "/none", "/folder", "/folder/", "/none/", "/a%2f%2fb", "/-/whoami")
        cookie = self.log_in(*AMY)

        def told(client: HttpClient, target: str, *fields: str) -> tuple[object, ...]:
            answer = client.ask(target, *fields)
            answer.fields.pop("date")
            return answer.status, answer.fields, answer.body

        for client, own, status in (
            (self.http(), (cookie,), 403),
            (self.http(None, *AMY), (), 403),
            (self.http(None, AMY[0], "wrong"), (), 401),
            (self.http(), (), 401),
        ):
            for site, shown_as, accept in (
                ("cross-site", "object", "text/html"),
                ("same-site", "embed", "*/*"),
                ("cross-site", "iframe", "text/html"),
                ("Same-Site", "Frame", "text/html"),
                ("cross-site", "image", "image/*"),
                ("cross-site", "script", "*/*"),
                ("cross-site", "what-comes-next", "*/*"),
            ):
                fields = (f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Dest: {shown_as}")
                answers = [told(client, name, *own, *fields, f"Accept: {accept}") for name in names]
                with self.subTest(site, shown_as=shown_as, own=own):
                    self.assertEqual(answers[0][0], status)
                    self.assertEqual(answers, [answers[0]] * len(names))
        for site, shown_as in (
            ("cross-site", "document"),
            ("same-site", "document"),
            ("cross-site", "empty"),
            ("same-origin", "object"),
            ("same-origin", "image"),
            ("none", "iframe"),
        ):
            shown = (cookie, f"Sec-Fetch-Site: {site}", f"Sec-Fetch-Dest: {shown_as}")
            with self.subTest(site, shown_as=shown_as):
                self.assertEqual(self.status(*shown), 200)
                self.assertEqual(self.status(*shown, target="/none"), 404)

    def test_no_page_of_another_site_logs_anybody_in(self) -> None:
        content = dict(zip(("user", "password"), AMY, strict=True))
        for field in ("Sec-Fetch-Site: cross-site", "Origin: http://evil.example", "Origin: null"):
            self.assertEqual(self.post(self.http(), "/-/session", content, field).status, 403)

    def test_a_log_in_makes_a_new_token_and_ends_the_session_of_the_old_one(self) -> None:
        old, other = self.log_in(*AMY), self.log_in(*AMY)
        content = dict(zip(("user", "password"), BOB, strict=True))
        wrong = self.post(self.http(), "/-/session", {**content, "password": "x"}, old, OURS)
        self.assertEqual((wrong.status, self.status(old)), (401, 200))
        answer = self.post(self.http(None, *AMY), "/-/session", content, other, OURS)
        self.assertEqual((answer.status, self.status(other)), (204, 200))
        answer = self.post(self.http(), "/-/session", content, old, OURS)
        self.assertNotIn(old.partition("=")[2], answer.fields["set-cookie"])
        self.assertEqual((answer.status, self.status(old)), (204, 401))

    def test_the_own_password(self) -> None:
        cookie, bystander = self.log_in(*AMY), self.log_in(*BOB)
        client, old = self.http(), AMY[1]
        for status, content in (
            (401, {"old": "wrong", "new": "new"}),
            (401, {"old": "", "new": "new"}),
            (422, {"old": old, "new": ""}),
            (422, {"old": old, "new": "x" * 129}),
            (422, {"old": old, "new": "a\nb"}),
            (422, {"old": old}),
            (422, b"{}"),
            (204, {"old": old, "new": "n:w"}),
        ):
            with self.subTest(content):
                answer = self.post(client, "/-/password", content, cookie, OURS)
                self.assertEqual(answer.status, status)
        self.assertEqual(self.status(cookie), 401)
        self.assertEqual(self.status(bystander), 200)
        self.assertEqual(self.http(None, *AMY).ask("/f").status, 401)
        by_basic = self.http(None, "amy", "n:w")
        answer = self.post(by_basic, "/-/password", {"old": "n:w", "new": "last"})
        self.assertEqual(answer.status, 204)
        grant(self.scene.client(self.server), "amy", "last")

    def test_log_ins_and_old_passwords_count_for_the_throttle(self) -> None:
        server = self.fileserver("--wrong-passwords", 3)
        cookie = self.log_in(*AMY)
        said = [
            self.post(
                self.http(server), "/-/session", {"user": "amy", "password": f"wrong{number}"}
            ).status
            for number in range(5)
        ]
        self.assertEqual(said, [401] * 3 + [429] * 2)
        content = {"old": AMY[1], "new": "new"}
        refused = self.post(self.http(server), "/-/password", content, cookie, OURS)
        self.assertEqual((refused.status, "retry-after" in refused.fields), (429, True))
        self.assertEqual(self.http(server).ask("/f", cookie).status, 200)
        self.assertEqual(self.http(None, *AMY).ask("/f").status, 200)

    def test_a_session_holds_at_another_host_and_ends_there_with_its_account(self) -> None:
        store = ("--sqlite-path", self.scene.accounts)
        second = self.fileserver(auth=self.scene.authserver(*store, "--model", "process"))
        cookie = self.log_in(*AMY)
        clients = [self.http(self.server), self.http(second)]
        self.assertEqual([client.ask("/f", cookie).status for client in clients], [200, 200])
        removed = run("authserver", "--remove-account", "amy", *store)
        self.assertEqual(removed.returncode, 0, removed.stderr)
        self.assertEqual([client.ask("/f", cookie).status for client in clients], [401, 401])

    def test_an_upload_whose_session_ends_meanwhile_is_not_published(self) -> None:
        cookie, client = self.log_in(*AMY), self.http()
        put = f"PUT /late HTTP/1.1\r\nHost: localhost\r\n{cookie}\r\n{OURS}\r\n"
        client.send(f"{put}Content-Length: 2\r\n\r\na".encode())
        ended = self.http().ask("/-/session", cookie, OURS, method="DELETE")
        self.assertEqual(ended.status, 204)
        # The authserver is asked again when the answer is older than two seconds.
        time.sleep(2.1)
        client.send(b"b")
        self.assertEqual(client.answer("PUT").status, 401)
        self.assertEqual(self.http(None, *AMY).ask("/late").status, 404)

    def test_without_the_authserver_a_session_is_unavailable(self) -> None:
        cookie = self.log_in(*AMY)
        self.authserver.stop()
        self.assertEqual(self.status(cookie), 503)
        self.assertEqual(self.status(cookie, OURS, target="/-/session", method="DELETE"), 503)
        content = dict(zip(("user", "password"), AMY, strict=True))
        self.assertEqual(self.post(self.http(), "/-/session", content).status, 503)

    def test_no_token_is_in_a_log_nor_in_the_store(self) -> None:
        auth = self.scene.authserver("--log-level", "debug")
        server = self.fileserver("--log-level", "debug", auth=auth)
        content = dict(zip(("user", "password"), AMY, strict=True))
        answer = self.post(self.http(server), "/-/session", content)
        token = answer.fields["set-cookie"].partition("=")[2][:43]
        cookie = f"Cookie: turnstile={token}"
        self.assertEqual(self.http(server).ask("/f", cookie).status, 200)
        self.assertEqual(self.http(server).ask("/none", cookie).status, 404)
        self.http(server).ask("/-/session", cookie, OURS, method="DELETE")
        for program in (auth, server):
            program.stop()
            self.assertNotIn(token, program.log())
            self.assertNotIn(AMY[1], program.log())
        for file in self.scene.accounts.parent.glob(self.scene.accounts.name + "*"):
            self.assertNotIn(token.encode(), file.read_bytes())
