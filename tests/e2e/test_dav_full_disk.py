"""Requests of WebDAV where the disk is full."""

import unittest
from pathlib import Path

from dav_client import lock
from http_client import HttpClient
from mount_namespace import NAMESPACES, why_no_mounts
from moves_scene import KINDS, MovesTest
from programs import Program
from scene import for_each
from transfer_lines import wait_for_lines
from upload_scene import HIDDEN

DISK = "disk"  # what is mounted: a file system of 1 MiB, which only the server sees
FILES = 8  # in a folder that is copied; they fit once, and most of them twice


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class FullDiskTest(MovesTest):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.scene.folder / "transfers.json"
        self.lines = 0

    def serve(self, kind: tuple, *, mounted: str = DISK, options: str = "size=1m") -> None:
        (self.scene.root / mounted).mkdir(exist_ok=True)
        self.log.unlink(missing_ok=True)
        self.lines = 0
        place = self.scene.root / mounted
        mount = f'mount -t tmpfs -o {options} none "{place}" && exec "$0" "$@"'
        flags = ("--files", kind[0], "--model", kind[1], "--transfer-log", self.log)
        prefix = [*NAMESPACES, "sh", "-c", mount]
        self.server: Program = self.start(*flags, "--transfer-log-users", "on", prefix=prefix)
        self.client: HttpClient = self.http(self.server)

    def there(self) -> dict[str, bytes | None]:
        """What is on the server's disk, as it sees it, hidden names too. None for a folder."""
        root = Path(f"/proc/{self.server.pid}/root{self.scene.root}")
        return {
            str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
            for path in root.rglob("*")
        }

    def make(self, name: str, body: bytes) -> None:
        self.assertEqual(self.put(self.client, name, body).status, 201)
        self.lines += 1

    def make_folder(self, name: str) -> None:
        self.assertEqual(self.client.ask(f"/{name}", method="MKCOL").status, 201)
        self.lines += 1

    def check_full(self, method: str, source: str, target: str) -> None:
        """Nothing has changed then, and the connection goes on."""
        before = self.there()
        answer = self.client.ask(f"/{source}", f"Destination: /{target}", method=method)
        self.assertEqual((answer.status, answer.closes()), (507, False))
        self.assertEqual(self.there(), before)
        self.assertFalse([name for name in before if HIDDEN in name])
        listed = self.client.ask("/", "Accept: application/json").body
        self.assertNotIn(HIDDEN.encode(), listed)
        if target not in before:
            self.assertEqual(self.client.ask(f"/{target}").status, 404)
            self.assertEqual(self.native(self.server).ask(target), "not-found")
            self.lines += 2
        self.lines += 1
        changes = [line for line in wait_for_lines(self.log, self.lines) if "to" in line]
        said = [changes[-1][key] for key in ("result", "change", "user", "name", "to", "status")]
        self.assertEqual(said, ["internal", method.lower(), "alice", source, target, 507])

    @for_each(KINDS)
    def test_a_file_has_no_room_beside_itself(self, kind: tuple) -> None:
        self.serve(kind)
        self.make("disk/a", bytes(range(256)) * 2400)
        self.make("disk/old", b"old")
        self.make_folder("disk/folder")
        self.make("disk/folder/kept", b"kept")
        for target in ("disk/new", "disk/old", "disk/folder", "disk/folder/new"):
            self.check_full("COPY", "disk/a", target)
        self.assertEqual(self.copy(self.client, "disk/old", "disk/new").status, 201)
        warning = "warning the served folder has no room for an upload"
        self.assertEqual(self.server.log().count(warning), 1, self.server.log())

    @for_each(KINDS)
    def test_a_folder_has_no_room_beside_itself(self, kind: tuple) -> None:
        self.serve(kind)
        for folder in ("disk/a", "disk/a/deep", "disk/old"):
            self.make_folder(folder)
        for i in range(FILES):
            self.make(f"disk/a/{'deep/' * (i % 2)}{i}", b"%d" % i * 75_000)
        self.make("disk/old/kept", b"kept")
        self.make("disk/file", b"file")
        for target in ("disk/new", "disk/old", "disk/file"):
            self.check_full("COPY", "disk/a", target)
        self.assertEqual(self.copy(self.client, "disk/old", "disk/new").status, 201)

    @for_each(KINDS)
    def test_there_is_room_for_bytes_but_for_no_more_names(self, kind: tuple) -> None:
        self.serve(kind, options="size=1m,nr_inodes=9")
        for folder in ("disk/a", "disk/a/deep"):
            self.make_folder(folder)
        for name in ("0", "deep/1", "deep/2", "deep/3"):
            self.make(f"disk/a/{name}", name.encode())
        self.check_full("COPY", "disk/a", "disk/new")
        self.make("disk/b", b"b")
        self.make("disk/c", b"c")
        self.check_full("COPY", "disk/a", "disk/new")
        self.check_full("COPY", "disk/c", "disk/new")
        self.check_full("COPY", "disk/c", "disk/b")
        self.assertEqual(lock(self.client, "/disk/new").status, 507)
        self.assertEqual(self.client.ask("/disk/new/", method="MKCOL").status, 507)
        # What takes no room is done, and makes some.
        self.assertEqual(self.move(self.client, "disk/a/0", "disk/0").status, 201)
        self.assertEqual(self.move(self.client, "disk/c", "disk/b").status, 204)
        self.assertEqual(self.client.ask("/disk/a/", method="DELETE").status, 204)
        self.assertEqual(self.put(self.client, "disk/new", b"new").status, 201)  # no lock is left
        left = {"disk": None, "disk/0": b"0", "disk/b": b"c", "disk/new": b"new"}
        self.assertEqual(self.there(), left)

    @for_each(KINDS)
    def test_a_move_to_a_full_disk_leaves_all_where_it_was(self, kind: tuple) -> None:
        self.serve(kind)
        here = "-".join(kind)
        self.scene.write(f"{here}/large", bytes(2_000_000))
        for i in range(FILES):
            self.scene.write(f"{here}/folder/{i}", b"%d" % i * 150_000)
        self.make("disk/old", b"old")
        for target in ("disk/new", "disk/old"):
            self.check_full("MOVE", f"{here}/large", target)
            self.check_full("MOVE", f"{here}/folder", target)
