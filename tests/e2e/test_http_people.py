"""Application passwords, and what administrators do with accounts, over HTTP."""

import json
import re
from typing import Any

from client import grant
from http_client import FLAG, Answer, HttpClient
from programs import Program, run
from scene import SceneTest, with_loops

AMY = ("amy", "amy's password")  # the administrator
BOB = ("bob", "bob's password")
OURS = "Sec-Fetch-Site: same-origin"
ELSEWHERE = ("Sec-Fetch-Site: cross-site", "Origin: http://evil.example", "Origin: null")
LINK = re.compile(r"/-/invitation#([A-Za-z0-9_-]{43})")


@with_loops
class PeopleTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.scene.write("f", b"content")
        self.authserver = self.scene.authserver("--password-scheme", "plain")
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
        return self.content_of(client.ask(path, *fields))

    def asked(self, client: HttpClient, path: str, content: object) -> Any:
        return self.content_of(self.post(client, path, content))

    def content_of(self, answer: Answer) -> Any:
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

    def invited(self, client: HttpClient, verb: str, user: str, *fields: str) -> str:
        """Returns the token of the link."""
        answer = self.post(client, f"/-/admin/{verb}", {"user": user}, *fields)
        self.assertEqual((answer.status, answer.fields["cache-control"]), (201, "no-store"))
        told = json.loads(answer.body)
        self.assertEqual(told["user"], user)
        link = LINK.fullmatch(told["link"])
        assert link, told
        return link[1]

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
            (404, "GET", "/-/admin/list", b""),
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
            ("POST", "/-/admin/add", {"user": "eve"}),
            ("POST", "/-/admin/remove", {"user": "bob"}),
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
        for field in ELSEWHERE:
            content = {"token": "x" * 43, "new": "x"}
            self.assertEqual(self.post(self.http(), "/-/invitation", content, field).status, 403)
        users = [one["user"] for one in self.told(self.http(*AMY), "/-/admin/list")]
        self.assertEqual(users, ["amy", "bob"])

    def test_for_who_is_no_administrator_there_is_nothing(self) -> None:
        self.change_account("--disable-account", "amy")
        self.assertEqual(self.http(*AMY).ask("/-/admin/list").status, 401)
        self.change_account("--enable-account", "amy")
        paths = ["list", "list/a", "sessions/bob", "sessions/amy", "add", "none", "a/b"]
        for client in (
            self.http(*BOB),
            self.http("amy", self.made_app(self.http(*AMY), "x")["password"]),
        ):
            for path in paths:
                for method in ("GET", "POST"):
                    with self.subTest(path, method=method):
                        body = b'{"user": "eve"}' if method == "POST" else b""
                        asked = client.ask(f"/-/admin/{path}", method=method, body=body)
                        self.assertEqual((asked.status, asked.body), (404, b"Not Found\n"))
                        if asked.closes():
                            client = self.http(*BOB)
        self.assertEqual(self.http().ask("/-/admin/list").status, 401)
        amy = self.http(*AMY)
        for path in ("none", "list/a/b", "list/a b".replace(" ", "%20"), "sessions", "sessions/"):
            self.assertEqual(amy.ask(f"/-/admin/{path}").status, 404)
        for content in (b"{}", {"user": 1}, {"user": "a b"}, {"user": ""}, {"user": "x" * 65}):
            self.assertEqual(self.post(amy, "/-/admin/add", content).status, 422)
        self.change_account("--unmake-admin", "amy")
        self.assertEqual(amy.ask("/-/admin/list").status, 404)

    def test_an_administrator_manages_accounts(self) -> None:
        cookie = self.cookie(*AMY)
        amy = self.http()
        who = self.told(amy, "/-/whoami", cookie)
        self.assertEqual(who, {"user": "amy", "admin": True, "by": "session"})
        token = self.invited(amy, "add", "cat", cookie, OURS)
        self.assertEqual(self.post(amy, "/-/admin/add", {"user": "cat"}, cookie, OURS).status, 409)
        states = {
            one["user"]: (one["admin"], one["disabled"], one["invited"])
            for one in self.told(amy, "/-/admin/list", cookie)
        }
        nothing = (False, False, False)
        self.assertEqual(
            states, {"amy": (True, False, False), "bob": nothing, "cat": (False, False, True)}
        )
        # The link sets a password, once.
        page = self.http().ask("/-/invitation")
        self.assertEqual((page.status, page.fields["cache-control"]), (200, "no-store"))
        self.assertIn("script-src 'self'", page.fields["content-security-policy"])
        guest = self.http()
        for status, content in (
            (422, {"token": token}),
            (422, {"token": token, "new": ""}),
            (422, {"token": token, "new": "x" * 129}),
            (401, {"token": "", "new": "x"}),
            (401, {"token": token[:-1], "new": "x"}),
            (401, {"token": "x" * 43, "new": "x"}),
            (204, {"token": token, "new": "me:w"}),
            (401, {"token": token, "new": "another"}),
        ):
            with self.subTest(content):
                self.assertEqual(self.post(guest, "/-/invitation", content).status, status)
        cat = self.http("cat", "me:w")
        self.assertEqual(cat.ask("/f").status, 200)
        # Who is signed in, and the end of that.
        of_cat = self.cookie("cat", "me:w")
        (session,) = self.told(amy, "/-/admin/sessions/cat", cookie)
        self.assertEqual(session["kind"], "session")
        self.assertGreater(session["end"], session["made"])
        ended = {"user": "cat", "id": session["id"]}
        for status in (204, 404):
            answer = self.post(amy, "/-/admin/end", ended, cookie, OURS)
            self.assertEqual(answer.status, status)
        self.assertEqual(self.http().ask("/f", of_cat).status, 401)
        for verb, status in (("disable", 401), ("enable", 200), ("remove", 401)):
            answer = self.post(amy, f"/-/admin/{verb}", {"user": "cat"}, cookie, OURS)
            self.assertEqual((answer.status, answer.body), (204, b""))
            self.assertEqual(cat.ask("/f").status, status)
        for status, verb, user in (
            (404, "disable", "cat"),
            (404, "reset", "cat"),
            (422, "remove", "amy"),
            (422, "disable", "amy"),
        ):
            answer = self.post(amy, f"/-/admin/{verb}", {"user": user}, cookie, OURS)
            self.assertEqual(answer.status, status)
        self.assertEqual(amy.ask("/-/admin/sessions/cat", cookie).status, 404)

    def test_users_called_as_no_path_can_be_are_looked_after(self) -> None:
        amy = self.http(*AMY)
        for user in (".", "..", "cat"):
            content = {"user": user}
            token = self.invited(amy, "add", user)
            self.assertEqual(
                self.post(amy, "/-/invitation", {"token": token, "new": "me:w"}).status, 204
            )
            self.cookie(user, "me:w")
            (session,) = self.asked(amy, "/-/admin/sessions", content)
            self.assertEqual(session["kind"], "session")
            rights = self.asked(amy, "/-/admin/rights", content)
            self.assertEqual(rights, [{"path": "/", "may": "read write", "line": 0}])
            users = [one["user"] for one in self.told(amy, "/-/admin/list")]
            behind = [one["user"] for one in self.asked(amy, "/-/admin/list", content)]
            self.assertEqual(behind, users[users.index(user) + 1 :])
            ended = {"user": user, "id": session["id"]}
            self.assertEqual(self.post(amy, "/-/admin/end", ended).status, 204)
            self.assertEqual(self.asked(amy, "/-/admin/sessions", content), [])
            self.assertEqual(self.post(amy, "/-/admin/remove", content).status, 204)
            self.assertEqual(self.post(amy, "/-/admin/sessions", content).status, 404)

    def test_questions_that_are_none(self) -> None:
        for status, verb, content in (
            (422, "list", {}),
            (422, "list", {"user": ""}),
            (422, "sessions", {"user": "a/b"}),
            (422, "rights", {"user": "a:b"}),
            (422, "rights", b"{"),
            (404, "sessions", {"user": "nobody"}),
            (404, "sessions/bob", {"user": "bob"}),
            (404, "who", {"user": "bob"}),
        ):
            with self.subTest(verb, content=content):
                answer = self.post(self.http(*AMY), f"/-/admin/{verb}", content)
                self.assertEqual(answer.status, status)
        for field in ELSEWHERE:
            answer = self.post(self.http(*AMY), "/-/admin/sessions", {"user": "bob"}, field)
            self.assertEqual(answer.status, 403)
        self.assertEqual(
            self.post(self.http(*BOB), "/-/admin/sessions", {"user": "bob"}).status, 404
        )

    def test_each_change_is_a_line_of_the_log_and_no_secret_is(self) -> None:
        auth = self.scene.authserver("--log-level", "debug", "--password-scheme", "plain")
        server = self.fileserver("--log-level", "debug", auth=auth)
        amy = self.http(*AMY, server=server)
        secrets = [AMY[1], "secret-new"]
        secrets.append(self.made_app(amy, "phone")["password"])
        secrets.append(self.invited(amy, "add", "cat"))
        secrets.append(self.invited(amy, "reset", "cat"))
        content = {"token": secrets[-1], "new": secrets[1]}
        self.assertEqual(self.post(amy, "/-/invitation", content).status, 204)
        self.assertEqual(self.http("amy", secrets[2], server=server).ask("/f").status, 200)
        for verb in ("disable", "enable", "remove"):
            self.assertEqual(self.post(amy, f"/-/admin/{verb}", {"user": "cat"}).status, 204)
        for program in (auth, server):
            program.stop()
            for secret in secrets:
                self.assertNotIn(secret, program.log())
        for verb in ("add", "reset", "disable", "enable", "remove"):
            line = f"account changed by=amy did={verb} user=cat"
            self.assertIn(f"{line}\n", auth.log())
            self.assertIn(f"{line} address=127.0.0.1\n", server.log())
        for line in ("by=amy did=app user=amy", "by=cat did=password user=cat"):
            self.assertIn(f"account changed {line}\n", auth.log())
        for file in self.scene.accounts.parent.glob(self.scene.accounts.name + "*"):
            for secret in secrets[2:]:
                self.assertNotIn(secret.encode(), file.read_bytes())

    def test_without_the_authserver_it_is_unavailable(self) -> None:
        amy = self.http(*AMY)
        self.assertEqual(amy.ask("/-/apps").status, 200)
        self.authserver.stop()
        for path in ("/-/apps", "/-/admin/list", "/-/whoami"):
            self.assertEqual(amy.ask(path).status, 503)
        content = {"token": "x" * 43, "new": "x"}
        self.assertEqual(self.post(self.http(), "/-/invitation", content).status, 503)
