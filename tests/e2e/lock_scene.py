"""A fileserver with accounts and files to lock, by WebDAV."""

from xml.etree import ElementTree

from dav_client import lock, token_of
from http_client import Answer, HttpClient
from programs import Program
from scene import SharedSceneTest, create_account
from upload_scene import FOLDER, USER

OTHER = ("bob", "secret")
FREE = "urn:uuid:00000000-0000-4000-8000-000000000000"


class LocksScene(SharedSceneTest):
    """One server of all tests. Each test has a folder of its own."""

    server: Program

    @classmethod
    def prepare(cls) -> None:
        cls.authserver = cls.scene.authserver("--password-scheme", "plain")
        for account in (USER, OTHER):
            create_account(cls.authserver, *account)
        cls.server = cls.scene.fileserver(cls.authserver, *FOLDER)

    def setUp(self) -> None:
        self.folder = self.id().rsplit(".", 1)[1]
        self.write("a", b"old")
        self.amy = self.http(*USER)
        self.bob = self.http(*OTHER)

    def http(self, user: str, password: str) -> HttpClient:
        client = HttpClient(self.server, user, password)
        self.addCleanup(client.close)
        return client

    def write(self, name: str, content: bytes) -> None:
        self.scene.write(f"{self.folder}/{name}", content)

    def at(self, name: str = "") -> str:
        return f"/{self.folder}/{name}"

    def read(self, name: str) -> bytes:
        return (self.scene.root / self.folder / name).read_bytes()

    def ask(self, method: str, name: str, *fields: str, body: bytes = b"") -> Answer:
        """By amy, on a connection of its own: a body that was not read ends it."""
        client = self.http(*USER)
        length = () if body or method != "PUT" else ("Content-Length: 0",)
        return client.ask(self.at(name), *fields, *length, method=method, body=body)

    def put(self, name: str, *fields: str, body: bytes = b"new") -> Answer:
        return self.ask("PUT", name, *fields, body=body)

    def lock(self, name: str, *fields: str, scope: str = "exclusive") -> str:
        """Locks the name for amy. Returns the token."""
        answer = lock(self.amy, self.at(name), *fields, scope=scope)
        self.assertIn(answer.status, (200, 201))
        return token_of(answer)

    def assert_locked(self, answer: Answer, root: str, condition: str = "token") -> None:
        name = {"token": "lock-token-submitted", "lock": "no-conflicting-lock"}[condition]
        self.assertEqual(answer.status, 423)
        self.assertEqual(answer.fields["content-type"], "application/xml; charset=utf-8")
        error = ElementTree.fromstring(answer.body)
        self.assertEqual(error.tag, "{DAV:}error")
        href = error.find(f"{{DAV:}}{name}/{{DAV:}}href")
        assert href is not None, answer.body
        self.assertEqual(href.text, self.at(root))
