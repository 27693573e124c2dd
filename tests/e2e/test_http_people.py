"""Application passwords over HTTP, and who is an administrator."""

import json
from typing import Any

from client import grant
from http_client import FLAG, Answer, HttpClient
from programs import Program, run
from scene import SceneTest, with_loops

AMY = ("amy", "amy's password")  # the administrator
BOB = ("bob", "bob's password")
OURS = "Sec-Fetch-Site: same-origin"
ELSEWHERE = ("Sec-Fetch-Site: cross-site", "Origin: http://evil.example", "Origin: null")


@with_loops
class PeopleTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.scene.write("f", b"content")
        self.authserver = self.scene.authserver()
        self.server = self.fileserver()
        native = self.scene.client(self.authserver)
        for user, password in (AMY, BOB):
            self.assertEqual(native.ask(f"new:{user}:{password}"), "OK")
        self.change_account("--make-admin", "amy")

    def fileserver(self, *flags: object, auth: Program | None = None) -> Program:
        return self.scene.fileserver(auth or self.authserver, *FLAG, "--uploads", "folder", *flags)

    def change_account(self, *task: str) -> None:
        done = run("authserver", *task, "--sqlite-path", self.scene.accounts)
        self.assertEqual(done.returncode, 0, done.stderr)

    def http(self, *credentials: str, server: Program | None = None) -> HttpClient:
        return self.scene.keep(HttpClient(server or self.server, *credentials))

    @staticmethod
    def post(client: HttpClient, path: str, content: object, *fields: str) -> Answer:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return client.ask(path, *fields, method="POST", body=body)

    def cookie(self, user: str, password: str) -> str:
        answer = self.post(self.http(), "/-/session", {"user": user, "password": password})
        self.assertEqual(answer.status, 204)
        return f"Cookie: {answer.fields['set-cookie'].partition(';')[0]}"

    def told(self, client: HttpClient, path: str, *fields: str) -> Any:
        answer = client.ask(path, *fields)
        self.assertEqual((answer.status, answer.fields["cache-control"]), (200, "no-store"))
        self.assertEqual(answer.fields["content-type"], "application/json; charset=utf-8")
        return json.loads(answer.body)

    def made_app(self, client: HttpClient, name: str, *fields: str) -> dict[str, str]:
        answer = self.post(client, "/-/apps", {"name": name}, *fields)
        self.assertEqual((answer.status, answer.fields["cache-control"]), (201, "no-store"))
        made: dict[str, str] = json.loads(answer.body)
        self.assertEqual(made["name"], name)
        self.assertRegex(made["password"], r"\A[A-Za-z0-9_-]{43}\Z")
        return made

    def test_an_application_password_passes_as_that_of_its_user(self) -> None:
        bob = self.http(*BOB)
        self.assertEqual(self.told(bob, "/-/apps"), [])
        made = self.made_app(bob, 'my "phone": ä')
        app = self.http("bob", made["password"])
        self.assertEqual(app.ask("/f").body, b"content")
        self.assertEqual(app.ask("/g", method="PUT", body=b"x").status, 201)
        who = self.told(app, "/-/whoami")
        self.assertEqual(who, {"user": "bob", "admin": False, "by": "app"})
        grant(self.scene.client(self.server), "bob", made["password"])
        self.assertEqual(self.http("amy", made["password"]).ask("/f").status, 401)
        (listed,) = self.told(bob, "/-/apps")
        self.assertEqual((listed["id"], listed["name"]), (made["id"], made["name"]))
        self.assertEqual(listed["kind"], "app")
        self.assertEqual(listed["used"] % 3600, 0)
        self.assertLessEqual(listed["used"], listed["made"])
        # It is neither the password of a log-in page, nor a cookie, and does nothing for a person.
        content = {"user": "bob", "password": made["password"]}
        self.assertEqual(self.post(self.http(), "/-/session", content).status, 401)
        self.assertEqual(self.http().ask("/f", f"Cookie: turnstile={made['password']}").status, 401)
        for status, method, path, body in (
            (403, "GET", "/-/apps", b""),
            (403, "POST", "/-/apps", b'{"name": "x"}'),
            (403, "DELETE", f"/-/apps/{made['id']}", b""),
            (403, "POST", "/-/password", b'{"old": "bob\'s password", "new": "x"}'),
        ):
            with self.subTest(method, path=path):
                asked = self.http("bob", made["password"]).ask(path, method=method, body=body)
                self.assertEqual(asked.status, status)
        # A new password does not end it, and nobody else does.
        new = self.post(bob, "/-/password", {"old": BOB[1], "new": "new"})
        self.assertEqual(new.status, 204)
        revoked = f"/-/apps/{made['id']}"
        self.assertEqual(self.http(*AMY).ask(revoked, method="DELETE").status, 404)
        self.assertEqual(app.ask("/f").status, 200)
        bob = self.http("bob", "new")
        self.assertEqual(bob.ask(revoked, method="DELETE").status, 204)
        self.assertEqual(app.ask("/f").status, 401)
        self.assertEqual(bob.ask(revoked, method="DELETE").status, 404)

    def test_an_administrator_is_told_so(self) -> None:
        cookie = self.cookie(*AMY)
        for fields, credentials, by in (((cookie,), (), "session"), ((), AMY, "basic")):
            who = self.told(self.http(*credentials), "/-/whoami", *fields)
            self.assertEqual(who, {"user": "amy", "admin": True, "by": by})
        self.change_account("--unmake-admin", "amy")
        self.assertFalse(self.told(self.http(*AMY), "/-/whoami")["admin"])

    def test_no_secret_is_in_a_log_nor_in_the_store(self) -> None:
        auth = self.scene.authserver("--log-level", "debug")
        server = self.fileserver("--log-level", "debug", auth=auth)
        secret = self.made_app(self.http(*AMY, server=server), "phone")["password"]
        self.assertEqual(self.http("amy", secret, server=server).ask("/f").status, 200)
        for program in (auth, server):
            program.stop()
            self.assertNotIn(secret, program.log())
        self.assertIn("account changed by=amy did=app user=amy\n", auth.log())
        for file in self.scene.accounts.parent.glob(self.scene.accounts.name + "*"):
            self.assertNotIn(secret.encode(), file.read_bytes())

    def test_an_application_password_ends_with_its_account_and_rests_with_it(self) -> None:
        made = self.made_app(self.http(*BOB), "mount")
        app = self.http("bob", made["password"])
        self.change_account("--disable-account", "bob")
        self.assertEqual(app.ask("/f").status, 401)
        self.change_account("--enable-account", "bob")
        self.assertEqual(app.ask("/f").status, 200)
        self.change_account("--remove-account", "bob")
        native = self.scene.client(self.authserver)
        self.assertEqual(native.ask(f"new:bob:{BOB[1]}"), "OK")
        self.assertEqual(app.ask("/f").status, 401)
        self.assertEqual(self.told(self.http(*BOB), "/-/apps"), [])

    def test_what_is_no_application_password(self) -> None:
        bob = self.http(*BOB)
        for content in (
            b"{}",
            b"",
            b"[",
            {"name": ""},
            {"name": "x" * 65},
            {"name": "a\n"},
            {"name": 1},
        ):
            with self.subTest(content):
                self.assertEqual(self.post(bob, "/-/apps", content).status, 422)
        for path in ("/-/apps/", "/-/apps/x", f"/-/apps/{'x' * 22}", f"/-/apps/{'x' * 22}/"):
            with self.subTest(path):
                self.assertEqual(bob.ask(path, method="DELETE").status, 404)
        self.assertEqual(bob.ask(f"/-/apps/{'x' * 22}").status, 405)
        self.assertEqual(self.http().ask("/-/apps").status, 401)
        ids = {self.made_app(bob, f"{number}")["id"] for number in range(32)}
        self.assertEqual(len(ids), 32)
        self.assertEqual(self.post(bob, "/-/apps", {"name": "more"}).status, 409)

    def test_no_page_of_another_site_does_any_of_it(self) -> None:
        cookie = self.cookie(*AMY)
        made = self.made_app(self.http(), "mine", cookie, OURS)
        asked: tuple[tuple[str, str, object], ...] = (
            ("POST", "/-/apps", {"name": "x"}),
            ("DELETE", f"/-/apps/{made['id']}", None),
        )
        for method, path, content in asked:
            body = b"" if content is None else json.dumps(content).encode()
            for fields in ((cookie,), *((cookie, field) for field in ELSEWHERE)):
                with self.subTest(path, fields=fields[1:]):
                    answer = self.http().ask(path, *fields, method=method, body=body)
                    self.assertEqual(answer.status, 403)
            for field in ELSEWHERE:  # a browser remembers a password, too
                with self.subTest(path, field=field):
                    answer = self.http(*AMY).ask(path, field, method=method, body=body)
                    self.assertEqual(answer.status, 403)

    def test_without_the_authserver_it_is_unavailable(self) -> None:
        amy = self.http(*AMY)
        self.assertEqual(amy.ask("/-/apps").status, 200)
        self.authserver.stop()
        for path in ("/-/apps", "/-/whoami"):
            self.assertEqual(amy.ask(path).status, 503)
