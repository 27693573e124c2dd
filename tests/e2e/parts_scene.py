"""Uploads that come in parts, by both protocols."""

import base64
import hashlib

from http_client import Answer, HttpClient, request
from programs import Program
from upload_scene import UploadTest

FOLDER = ".turnstile-upload-parts"
PARTIAL = "Content-Type: application/partial-upload"
STREAM = "Content-Type: application/offset+octet-stream"
TUS = "Tus-Resumable: 1.0.0"
INTEROP = "Upload-Draft-Interop-Version: 8"
MORE, LAST = "Upload-Complete: ?0", "Upload-Complete: ?1"


def sha256(content: bytes) -> str:
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


def metadata(name: str) -> str:
    return f"Upload-Metadata: filename {base64.b64encode(name.encode()).decode()},is_ok"


class PartsTest(UploadTest):
    def begin(self, client: HttpClient, name: str, body: bytes = b"", *fields: str) -> str:
        """Returns the path of a new upload of the draft."""
        answer = self.ask(client, "POST", f"/-/parts/{name}", body, MORE, *fields)
        self.assertEqual((answer.status, answer.fields["upload-complete"]), (201, "?0"))
        return answer.fields["location"]

    def begin_tus(self, client: HttpClient, name: str, size: int, *fields: str) -> str:
        length = f"Upload-Length: {size}"
        answer = self.ask(client, "POST", "/-/tus/", b"", TUS, length, metadata(name), *fields)
        self.assertEqual(answer.status, 201)
        return answer.fields["location"]

    def ask(self, client: HttpClient, method: str, path: str, body: bytes, *fields: str) -> Answer:
        length = () if body else ("Content-Length: 0",)
        return client.ask(path, *fields, *length, method=method, body=body)

    def append(
        self, client: HttpClient, path: str, offset: int, body: bytes, complete: str, *fields: str
    ) -> Answer:
        at = f"Upload-Offset: {offset}"
        return self.ask(client, "PATCH", path, body, PARTIAL, complete, at, *fields)

    def offset(self, client: HttpClient, path: str, *fields: str) -> int:
        """What has come, as HEAD tells."""
        answer = client.ask(path, *fields, method="HEAD")
        self.assertIn(answer.status, (200, 204))
        self.assertEqual(answer.fields["cache-control"], "no-store")
        return int(answer.fields["upload-offset"])

    def cut(self, server: Program, path: str, offset: int, body: bytes, announced: int) -> None:
        """Sends the beginning of a part, and goes away."""
        client = self.http(server)
        fields = (PARTIAL, MORE, f"Upload-Offset: {offset}", f"Content-Length: {announced}")
        client.send(request(path, *client._credentials, *fields, method="PATCH", body=body))
        client.half_close()
        self.assertTrue(client.is_ended())

    def kept(self) -> list[str]:
        """The names of what is on the disk for uploads that are not finished."""
        folder = self.scene.root / FOLDER
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def read(self, name: str) -> bytes:
        return (self.scene.root / name).read_bytes()
