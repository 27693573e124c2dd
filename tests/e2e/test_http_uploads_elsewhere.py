"""Uploads into a file system that has no reservations and does not tell how much room it has."""

import random
import unittest

from client import grant
from mount_namespace import NAMESPACES, why_no_mounts
from scene import for_each
from upload_scene import UploadTest


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class RamFsTest(UploadTest):
    @for_each(("prefetch", "disk"))
    def test_uploads_of_any_size_are_taken(self, mode: str) -> None:
        mount = f'mount -t ramfs none "{self.scene.root}" && exec "$0" "$@"'
        server = self.start("--files", mode, prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        native = self.scene.client(server)
        grant(native)
        for size, status in ((3, 201), (100_000, 204), (3_000_000, 204), (0, 204)):
            body = random.randbytes(size)
            self.assertEqual(self.put(client, "a", body).status, status)
            self.assertEqual(client.ask("/a").body, body)
            self.assertEqual(native.ask("a"), body)
