"""A prefetching fileserver whose folder changes, as several files of tests use it."""

from client import Client, grant
from scene import SceneTest
from waiting import eventually

# The contract says two seconds. The rest is for a loaded machine.
SOON_S = 10.0


class PrefetchScene(SceneTest):
    """Base class: the file `kept` never changes and has to stay served."""

    flags: tuple = ()

    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver_of_alice()
        self.scene.write("kept", b"kept")

    def serve(self) -> Client:
        self.fileserver = self.scene.fileserver(self.authserver, *self.flags)
        return self.granted_client()

    def granted_client(self, **options) -> Client:
        client = self.scene.client(self.fileserver, **options)
        grant(client)
        return client

    def assert_soon(self, client: Client, expected: dict[str, bytes | str]) -> None:
        """Each name gets its reply soon, and the file that never changes is still served."""
        for name, reply in expected.items():
            self.wait_for_reply(client, name, reply)
        self.assertEqual(client.ask("kept"), b"kept")

    def wait_for_reply(self, client: Client, name: str, reply: bytes | str) -> None:
        what = f"{name} is answered {reply[:40]!r}"
        eventually(lambda: client.ask(name) == reply, what, within_s=SOON_S)
