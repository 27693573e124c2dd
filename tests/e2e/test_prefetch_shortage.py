"""A fileserver out of descriptors keeps the files it cannot check, and sees changes later."""

import unittest

from client import Client, grant
from prefetch_scene import SOON_S
from programs import BUILD
from scene import SceneTest
from test_descriptors import LIMIT, SANITIZER_NEEDS_DESCRIPTORS, take_descriptors
from waiting import eventually


@unittest.skipIf(BUILD.name == "address", SANITIZER_NEEDS_DESCRIPTORS)
class PrefetchShortageTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.scene.write("a", b"first")
        authserver = self.scene.authserver_of_alice()
        # Each idle thread has reserved a descriptor for its next connection, so there are only two.
        self.fileserver = self.scene.fileserver(authserver, "--spare-threads", "2")
        self.client = self.scene.client(self.fileserver)
        grant(self.client)
        take_descriptors(self.fileserver)

    def crowd(self) -> list[Client]:
        """Connects clients until the fileserver has no descriptor left."""
        crowd = [self.scene.client(self.fileserver) for _ in range(LIMIT + 20)]
        eventually(lambda: "cannot accept" in self.fileserver.log(), "the log says so")
        return crowd

    def test_changes_are_seen_once_there_are_descriptors_again(self) -> None:
        crowd = self.crowd()
        self.scene.write("a", b"second")
        self.scene.write("new/sub/b", b"new")
        eventually(
            lambda: "cannot be checked for changes" in self.fileserver.log(), "the log says so"
        )
        self.assertEqual(self.client.ask("a"), b"first")
        for other in crowd:
            other.close()
        for name, content in {"a": b"second", "new/sub/b": b"new"}.items():
            self.wait_for_file(name, content)

    def wait_for_file(self, name: str, content: bytes) -> None:
        eventually(lambda: self.client.ask(name) == content, f"{name} is seen", within_s=SOON_S)
