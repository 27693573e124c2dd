"""A fileserver that takes uploads, and clients that send them."""

from http_client import FLAG, Answer, HttpClient
from programs import Program
from scene import SceneTest, create_account

FOLDER = (*FLAG, "--uploads", "folder")
USER = ("alice", "wonderland")
HIDDEN = ".turnstile-upload-"


class UploadTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(self.authserver, *USER)

    def start(self, *flags: object, **options) -> Program:
        return self.scene.fileserver(self.authserver, *FOLDER, *flags, **options)

    def http(self, server: Program) -> HttpClient:
        return self.scene.keep(HttpClient(server, *USER))

    def put(self, client: HttpClient, name: str, body: bytes, *fields: str) -> Answer:
        if not body:
            fields = (*fields, "Content-Length: 0")
        return client.ask(f"/{name}", *fields, method="PUT", body=body)

    def names(self) -> list[str]:
        """All files and folders on the disk."""
        return sorted(str(path.relative_to(self.scene.root)) for path in self.scene.root.rglob("*"))
