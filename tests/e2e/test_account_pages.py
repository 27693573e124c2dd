"""The pages on which people look after their account, as they are sent."""

import json
from typing import Any

from http_client import FLAG, Answer, HttpClient
from programs import run
from scene import SharedSceneTest, create_account

AMY = ("amy", "amy's password")  # the administrator
BOB = ("bob", "bob's password")
BROWSER = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
OURS = "Sec-Fetch-Site: same-origin"


class AccountPagesTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("f", b"content")
        cls.authserver = cls.scene.authserver("--password-scheme", "plain")
        for user, password in (AMY, BOB):
            create_account(cls.authserver, user, password)
        done = run("authserver", "--make-admin", "amy", "--sqlite-path", cls.scene.accounts)
        assert done.returncode == 0, done.stderr
        cls.server = cls.scene.fileserver(cls.authserver, *FLAG)

    def http(self, *credentials: str) -> HttpClient:
        client = HttpClient(self.server, *credentials)
        self.addCleanup(client.close)
        return client

    def post(self, path: str, content: dict[str, Any], *fields: str) -> Answer:
        return self.http().ask(path, *fields, method="POST", body=json.dumps(content).encode())

    def cookie(self, user: str, password: str) -> str:
        answer = self.post("/-/session", {"user": user, "password": password})
        self.assertEqual(answer.status, 204)
        return f"Cookie: {answer.fields['set-cookie'].partition(';')[0]}"

    def program(self, user: str, password: str) -> HttpClient:
        """Who has an application password of the user."""
        answer = self.post("/-/apps", {"name": "x"}, self.cookie(user, password), OURS)
        self.assertEqual(answer.status, 201)
        return self.http(user, json.loads(answer.body)["password"])

    def assert_is_page(self, answer: Answer, title: str) -> None:
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.fields["content-type"], "text/html; charset=utf-8")
        self.assertEqual(answer.fields["cache-control"], "no-store")
        policy = answer.fields["content-security-policy"]
        for part in ("script-src 'self'", "form-action 'none'", "require-trusted-types-for"):
            self.assertIn(part, policy)
        self.assertNotIn("unsafe", policy)
        self.assertIn(f"<title>{title}</title>".encode(), answer.body)

    def test_the_own_account_has_a_page_for_a_session_and_for_a_password(self) -> None:
        for answer, has_session in (
            (self.http().ask("/-/account", self.cookie(*BOB)), True),
            (self.http(*BOB).ask("/-/account"), False),
        ):
            self.assert_is_page(answer, "Account")
            self.assertIn(b"<bdi>bob</bdi>", answer.body)
            self.assertEqual(b"data-session" in answer.body, has_session)

    def test_who_is_not_signed_in_gets_the_page_for_that(self) -> None:
        answer = self.http().ask("/-/account", BROWSER)
        self.assertEqual((answer.status, answer.fields["cache-control"]), (401, "no-store"))
        self.assertIn(b"<title>Sign in</title>", answer.body)
        self.assertIn("www-authenticate", self.http().ask("/-/account").fields)

    def test_a_program_has_no_page(self) -> None:
        self.assertEqual(self.program(*BOB).ask("/-/account", BROWSER).status, 403)

    def test_administrators_have_a_page_and_a_way_to_it(self) -> None:
        way = b'href="/-/admin/people"'
        for client in (self.http(*AMY), self.http()):
            fields = () if client.ask("/-/whoami").status == 200 else (self.cookie(*AMY),)
            self.assert_is_page(client.ask("/-/admin/people", *fields), "People")
            self.assertIn(way, client.ask("/-/account", *fields).body)
        self.assertNotIn(way, self.http(*BOB).ask("/-/account").body)

    def test_for_all_others_the_page_of_people_is_as_one_that_never_was(self) -> None:
        for client in (self.http(*BOB), self.program(*AMY)):
            for method in ("GET", "HEAD", "POST"):
                for fields in ((BROWSER,), ()):
                    asked = [
                        client.ask(f"/-/admin/{name}", *fields, method=method)
                        for name in ("people", "never", "rights/amy")
                    ]
                    for answer in asked:
                        answer.fields.pop("date")
                        self.assertEqual((answer.status, answer), (404, asked[0]))
        self.assertEqual(self.http().ask("/-/admin/people", BROWSER).status, 401)
        self.assertEqual(self.http(*AMY).ask("/-/admin/people/").status, 404)
        self.assertEqual(self.http(*AMY).ask("/-/admin/people/x").status, 404)

    def test_administrators_see_the_rights_as_they_stand(self) -> None:
        everything = [{"path": "/", "may": "read write", "line": 0}]
        answer = self.http(*AMY).ask("/-/admin/rights/bob")
        self.assertEqual((answer.status, answer.fields["cache-control"]), (200, "no-store"))
        self.assertEqual(json.loads(answer.body), everything)
        file = self.scene.folder / "rights"
        file.write_text('bob /home/%u read\n* /a"b none\namy / read write\n')
        server = self.scene.fileserver(self.authserver, *FLAG, "--rights", file)
        amy = HttpClient(server, *AMY)
        self.addCleanup(amy.close)
        for user, rights in (
            ("bob", [("/", "none", 0), ('/a"b', "none", 2), ("/home/bob", "read", 1)]),
            ("nobody", [("/", "none", 0), ('/a"b', "none", 2)]),
        ):
            told = json.loads(amy.ask(f"/-/admin/rights/{user}").body)
            self.assertEqual([(one["path"], one["may"], one["line"]) for one in told], rights)
        for path in ("rights", "rights/", "rights/a%20b", f"rights/{'x' * 65}"):
            self.assertEqual(amy.ask(f"/-/admin/{path}").status, 404, path)

    def test_only_reading_is_allowed_and_only_at_the_path_itself(self) -> None:
        bob = self.http(*BOB)
        answer = bob.ask("/-/account", method="POST", body=b"{}")
        self.assertEqual((answer.status, answer.fields["allow"]), (405, "GET, HEAD, OPTIONS"))
        self.assertEqual(self.http(*BOB).ask("/-/account", method="HEAD").body, b"")
        for path in ("/-/account/", "/-/account/x"):
            self.assertEqual(self.http(*BOB).ask(path).status, 404)
