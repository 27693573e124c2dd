"""A share whose users make links for guests."""

import json
import re
import signal
from typing import Any

from http_client import FLAG, Answer, HttpClient, basic
from programs import Program, run
from scene import SceneTest, create_account
from waiting import eventually

PASSWORD = "wonderland"
ADDRESS = re.compile(r"/-/l/([A-Za-z0-9_-]{43})/")
RIGHTS = "* / read write\nbob /docs read\nbob /docs/hidden none\ncid /docs none\n"
NOBODYS = "A" * 43  # a token that is of nothing


class LinksScene(SceneTest):
    """amy may all, bob may read /docs but for what is hidden in it, and cid sees none of it."""

    def setUp(self) -> None:
        super().setUp()
        for name in ("docs/a.txt", "docs/sub/b.txt", "docs/hidden/c.txt", "other.txt"):
            self.scene.write(name, name.encode())
        (self.scene.root / "inbox").mkdir()
        self.rights = self.scene.folder / "rights"
        self.rights.write_text(RIGHTS)
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        for user in ("amy", "bob", "cid"):
            create_account(self.authserver, user)
        self.server = self.serve()

    def serve(self, *flags: object, auth: Program | None = None) -> Program:
        given = ("--uploads", "folder", "--rights", self.rights, *flags)
        return self.scene.fileserver(auth or self.authserver, *FLAG, *given)

    def http(self, *credentials: str) -> HttpClient:
        return self.scene.keep(HttpClient(self.server, *credentials))

    def ask(self, target: str, *fields: str, method: str = "GET", body: bytes = b"") -> Answer:
        """As a guest, by a connection of its own."""
        client = HttpClient(self.server)
        try:
            return client.ask(target, *fields, method=method, body=body)
        finally:
            client.close()

    def status(self, target: str, *fields: str, method: str = "GET", body: bytes = b"") -> int:
        return self.ask(target, *fields, method=method, body=body).status

    def asked_for(self, content: object, user: str = "amy") -> Answer:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.http(user, PASSWORD).ask("/-/links", method="POST", body=body)

    def made(self, path: str, may: str = "read", user: str = "amy", **further: object) -> str:
        """Returns the address of a new link."""
        answer = self.asked_for({"path": path, "may": may, **further}, user)
        self.assertEqual((answer.status, answer.fields["cache-control"]), (201, "no-store"), answer)
        told = json.loads(answer.body)
        self.assertEqual(answer.fields["location"], told["address"])
        self.assertRegex(told["address"], ADDRESS)
        address: str = told["address"]
        return address

    def listed(self, user: str = "amy") -> list[dict[str, Any]]:
        answer = self.http(user, PASSWORD).ask("/-/links")
        self.assertEqual((answer.status, answer.fields["cache-control"]), (200, "no-store"))
        links: list[dict[str, Any]] = json.loads(answer.body)
        return links

    def revoked(self, link: dict[str, Any], user: str = "amy") -> int:
        asked = self.http(user, PASSWORD).ask(f"/-/links/{link['id']}", method="DELETE")
        return asked.status

    def account(self, *task: str, stdin: str = "") -> None:
        done = run("authserver", *task, "--sqlite-path", self.scene.accounts, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)

    def change_rights(self, rights: str) -> None:
        words = "the rights were read again"
        before = self.server.log().count(words)
        self.rights.write_text(rights)
        self.server.signal(signal.SIGHUP)
        eventually(lambda: self.server.log().count(words) == before + 1, words)


def password(text: str, user: str = "guest") -> str:
    return f"Authorization: {basic(user, text)}"
