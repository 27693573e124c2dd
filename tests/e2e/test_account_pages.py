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

    def test_only_reading_is_allowed_and_only_at_the_path_itself(self) -> None:
        bob = self.http(*BOB)
        answer = bob.ask("/-/account", method="POST", body=b"{}")
        self.assertEqual((answer.status, answer.fields["allow"]), (405, "GET, HEAD, OPTIONS"))
        self.assertEqual(self.http(*BOB).ask("/-/account", method="HEAD").body, b"")
        for path in ("/-/account/", "/-/account/x"):
            self.assertEqual(self.http(*BOB).ask(path).status, 404)
