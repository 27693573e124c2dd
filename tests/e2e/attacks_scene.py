"""What the attacks on sessions, links and files have in common.

tests/docs/attacks.txt has the list of all attacks, and what holds each.
"""

import json
from typing import Any

from http_client import Answer, HttpClient
from links_scene import PASSWORD, LinksScene
from programs import Program

OURS = "Sec-Fetch-Site: same-origin"
EVIL = "Origin: http://evil.example"
PAGE = "Accept: text/html"
NOTHING = "Content-Length: 0"


class AttacksScene(LinksScene):
    """amy may all and is an administrator."""

    def setUp(self) -> None:
        super().setUp()
        self.account("--make-admin", "amy")

    def serve(self, *flags: object, auth: Program | None = None) -> Program:
        return super().serve("--trash", 7, "--max-upload", 1000, *flags, auth=auth)

    def user(self, name: str) -> HttpClient:
        return self.http(name, PASSWORD)

    def post(self, path: str, content: object, *fields: str, by: str = "") -> Answer:
        client = self.user(by) if by else self.http()
        return client.ask(path, *fields, method="POST", body=json.dumps(content).encode())

    def cookie(self, user: str, *fields: str) -> str:
        answer = self.post("/-/session", {"user": user, "password": PASSWORD}, *fields)
        self.assertEqual(answer.status, 204)
        return "Cookie: " + answer.fields["set-cookie"].partition(";")[0]

    def told(self, path: str, by: str = "amy") -> Any:
        answer = self.user(by).ask(path)
        self.assertEqual(answer.status, 200)
        return json.loads(answer.body)

    def invited(self, verb: str, user: str) -> str:
        """The token of a new link by which the user chooses a password."""
        answer = self.post(f"/-/admin/{verb}", {"user": user}, by="amy")
        self.assertEqual(answer.status, 201)
        token: str = json.loads(answer.body)["link"].partition("#")[2]
        return token

    def choose(self, token: str, new: str = PASSWORD) -> int:
        return self.post("/-/invitation", {"token": token, "new": new}).status
