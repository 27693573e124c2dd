"""A fileserver whose files and folders are moved and copied, and seen on both fronts."""

from client import Client, grant
from http_client import Answer, HttpClient
from programs import Program
from upload_scene import UploadTest

# --files and --model.
KINDS = (
    ("prefetch", "thread"),
    ("disk", "thread"),
    ("prefetch", "event"),
)


class MovesTest(UploadTest):
    def move(self, client: HttpClient, source: str, target: str, *fields: str) -> Answer:
        return client.ask(f"/{source}", f"Destination: /{target}", *fields, method="MOVE")

    def copy(self, client: HttpClient, source: str, target: str, *fields: str) -> Answer:
        return client.ask(f"/{source}", f"Destination: /{target}", *fields, method="COPY")

    def tree(self, folder: str, files: int = 3) -> dict[str, bytes]:
        """Makes a folder with files, and returns their bytes by their names in it.

        It appears at once, so that no file is served before all of it is written.
        """
        content = {}
        made = self.scene.folder / "made"
        for i in range(files):
            name = f"{'deep/' * (i % 3)}{i}"
            content[name] = f"{folder} {name} ".encode() * 10
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content[name])
        (self.scene.root / folder).parent.mkdir(parents=True, exist_ok=True)
        made.rename(self.scene.root / folder)
        return content

    def check_there(
        self, client: HttpClient, native: Client, folder: str, content: dict[str, bytes]
    ) -> None:
        for name, data in content.items():
            answer = client.ask(f"/{folder}/{name}")
            self.assertEqual((answer.status, answer.body), (200, data))
            self.assertEqual(native.ask(f"{folder}/{name}"), data)
            self.assertEqual((self.scene.root / folder / name).read_bytes(), data)

    def check_gone(self, client: HttpClient, native: Client, *names: str) -> None:
        for name in names:
            self.assertEqual(client.ask(f"/{name}").status, 404, name)
            self.assertEqual(native.ask(name), "not-found", name)

    def native(self, server: Program) -> Client:
        native = self.scene.client(server)
        grant(native)
        return native
