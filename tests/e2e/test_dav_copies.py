"""COPY, DELETE of folders, and MOVE to another file system: what a client may rely on."""

import itertools
import os
import shutil
import threading
import unittest

from http_client import request
from mount_namespace import NAMESPACES, why_no_mounts
from moves_scene import KINDS, MovesTest
from scene import for_each
from upload_scene import HIDDEN
from waiting import eventually

# Of a deep folder. The kernel's checks for the sandbox look at each of them.
LEVELS = 800


class CopyTest(MovesTest):
    @for_each(KINDS)
    def test_a_copy_is_served_at_once_and_apart(self, kind: tuple) -> None:
        server = self.start("--files", kind[0], "--model", kind[1])
        client, native = self.http(server), self.native(server)
        here = "-".join(kind)
        body = os.urandom(3_000_000)
        self.put(client, here, body)
        self.assertEqual(self.copy(client, here, f"{here}-2").status, 201)
        self.assertEqual(native.ask(f"{here}-2"), body)
        self.put(client, here, b"changed")
        self.assertEqual(client.ask(f"/{here}-2").body, body)
        self.assertEqual(self.copy(client, here, f"{here}-2").status, 204)
        self.assertEqual(native.ask(f"{here}-2"), b"changed")
        content = self.tree(f"{here}-3", 7)
        self.assertEqual(self.copy(client, f"{here}-3/", f"{here}-4/").status, 201)
        self.check_there(client, native, f"{here}-4", content)
        self.check_there(client, native, f"{here}-3", content)
        self.assertEqual(self.copy(client, f"{here}-3", f"{here}-2").status, 204)
        self.check_there(client, native, f"{here}-2", content)
        self.assertEqual(native.ask(f"{here}-2"), "not-found")
        self.assertEqual(self.copy(client, here, f"{here}-4/").status, 204)
        self.check_gone(client, native, *(f"{here}-4/{name}" for name in content))
        self.assertEqual(native.ask(f"{here}-4"), b"changed")
        self.assertEqual([name for name in self.names() if HIDDEN in name], [])

    def test_depth_0_copies_the_folder_alone(self) -> None:
        client = self.http(self.start())
        self.tree("folder")
        self.assertEqual(self.copy(client, "folder", "new", "Depth: 0").status, 201)
        self.assertEqual(list((self.scene.root / "new").iterdir()), [])
        self.tree("old")
        self.assertEqual(self.copy(client, "folder", "old", "Depth: 0").status, 204)
        self.assertEqual(list((self.scene.root / "old").iterdir()), [])

    def test_links_are_copied_as_what_they_lead_to_within_the_folder(self) -> None:
        client = self.http(self.start())
        self.scene.write("folder/a", b"a")
        (self.scene.root.parent / "secret").write_bytes(b"secret")
        root = self.scene.root
        os.symlink("a", root / "folder/inside")
        os.symlink("../../secret", root / "folder/outside")
        os.symlink("..", root / "folder/up")
        os.mkfifo(root / "folder/fifo")
        os.symlink("folder/a", root / "link")
        os.symlink("folder", root / "to-folder")
        os.symlink("../secret", root / "out")
        for i, source in enumerate(("folder", "to-folder")):
            self.assertEqual(self.copy(client, source, f"c{i}").status, 201)
            copied = {path.name: path for path in (root / f"c{i}").iterdir()}
            self.assertEqual(sorted(copied), ["a", "inside"])
            self.assertFalse(copied["inside"].is_symlink())
            self.assertEqual(copied["inside"].read_bytes(), b"a")
        self.assertEqual(self.copy(client, "link", "d").status, 201)
        self.assertFalse((root / "d").is_symlink())
        self.assertEqual(self.copy(client, "out", "e").status, 404)

    def test_permissions_are_not_widened(self) -> None:
        client = self.http(self.start())
        self.scene.write("folder/a", b"a").chmod(0o600)
        (self.scene.root / "folder").chmod(0o700)
        self.assertEqual(self.copy(client, "folder/a", "b").status, 201)
        self.assertEqual((self.scene.root / "b").stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.copy(client, "folder", "c").status, 201)
        self.assertEqual((self.scene.root / "c").stat().st_mode & 0o777, 0o700)
        self.assertEqual((self.scene.root / "c/a").stat().st_mode & 0o777, 0o600)

    def test_a_copy_ends_when_its_client_is_gone(self) -> None:
        path = self.scene.write("big", b"")
        os.truncate(path, 8 << 30)
        self.scene.write("folder/a", b"")
        shutil.move(path, self.scene.root / "folder/big")
        server = self.start("--files", "disk")
        client = self.http(server)
        fields = (*client._credentials, "Destination: /copied")
        client.send(request("/folder", *fields, method="COPY"))
        eventually(lambda: any(HIDDEN in name for name in self.names()), "a copy begins")
        client.close()
        eventually(lambda: not any(HIDDEN in name for name in self.names()), "it ends")
        self.assertEqual(self.names(), ["folder", "folder/a", "folder/big"])


class DeleteTest(MovesTest):
    @for_each(KINDS)
    def test_a_folder_goes_with_all_that_is_in_it(self, kind: tuple) -> None:
        server = self.start("--files", kind[0], "--model", kind[1])
        client, native = self.http(server), self.native(server)
        content = self.tree("folder", 9)
        os.symlink("../kept", self.scene.root / "folder/link")
        os.mkfifo(self.scene.root / "folder/fifo")
        self.scene.write("kept/a", b"kept")
        self.check_there(client, native, "folder", content)
        self.assertEqual(client.ask("/folder", method="DELETE").status, 409)
        self.assertEqual(client.ask("/folder/", 'If-Match: "x"', method="DELETE").status, 412)
        self.assertEqual(client.ask("/folder/", method="DELETE").status, 204)
        self.check_gone(client, native, *(f"folder/{name}" for name in content))
        self.assertEqual(self.names(), ["kept", "kept/a"])
        self.assertEqual(client.ask("/folder/", method="DELETE").status, 404)
        self.assertEqual(client.ask("/kept/a/", method="DELETE").status, 404)
        self.assertEqual(client.ask("/", method="DELETE").status, 403)
        self.assertEqual(self.names(), ["kept", "kept/a"])

    @for_each(KINDS[1:])
    def test_a_deep_folder_is_copied_and_goes(self, kind: tuple) -> None:
        here = os.open(self.scene.root, os.O_RDONLY)
        for _ in range(LEVELS):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
        client = self.http(self.start("--files", kind[0], "--model", kind[1]))
        self.assertEqual(self.copy(client, "d", "e").status, 201)
        last = self.scene.root / ("e" + "/d" * (LEVELS - 1))
        self.assertEqual(os.listdir(last), [])
        self.assertEqual(client.ask("/d/", method="DELETE").status, 204)
        self.assertEqual(client.ask("/e/", method="DELETE").status, 204)
        self.assertEqual(os.listdir(self.scene.root), [])

    def test_what_a_killed_server_has_left_goes_at_the_next_start(self) -> None:
        self.tree(f"{HIDDEN}0123456789abcdef")
        self.tree(f"sub/{HIDDEN}0123456789abcdef")
        self.scene.write("sub/a", b"a")
        self.start()
        self.assertEqual(self.names(), ["sub", "sub/a"])


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class MountTest(MovesTest):
    def test_a_move_to_another_file_system_is_a_copy_and_a_removal(self) -> None:
        (self.scene.root / "mounted").mkdir()
        content = self.tree("folder", 6)
        self.scene.write("file", b"file")
        self.scene.write("with-link/a", b"a")
        os.symlink("a", self.scene.root / "with-link/link")
        mount = f'mount -t tmpfs none "{self.scene.root}/mounted" && exec "$0" "$@"'
        server = self.start(prefix=[*NAMESPACES, "sh", "-c", mount])
        client, native = self.http(server), self.native(server)
        self.assertEqual(self.move(client, "file", "mounted/file").status, 201)
        self.assertEqual(self.move(client, "folder", "mounted/folder").status, 201)
        self.check_gone(client, native, "file", *(f"folder/{name}" for name in content))
        self.assertEqual(native.ask("mounted/file"), b"file")
        for name, data in content.items():
            self.assertEqual(native.ask(f"mounted/folder/{name}"), data)
        self.assertEqual(self.move(client, "with-link", "mounted/x").status, 403)
        self.assertEqual(client.ask("/mounted/x/").status, 404)
        self.assertEqual(self.move(client, "mounted", "elsewhere").status, 409)
        self.assertEqual(client.ask("/mounted/", method="DELETE").status, 409)
        self.assertEqual(native.ask("mounted/file"), b"file")
        self.assertEqual(self.names(), ["mounted", "with-link", "with-link/a", "with-link/link"])

    def test_what_is_put_into_a_folder_while_it_is_copied_is_not_lost(self) -> None:
        (self.scene.root / "mounted").mkdir()
        mount = f'mount -t tmpfs none "{self.scene.root}/mounted" && exec "$0" "$@"'
        server = self.start(prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        for number in range(3):
            folder = f"folder{number}"
            self.tree(folder, 300)
            moved = threading.Event()
            stored: list[str] = []

            def put(folder: str = folder, moved: threading.Event = moved, stored=stored) -> None:
                other = self.http(server)
                for name in (f"new{i}" for i in itertools.count()):
                    if moved.is_set() or self.put(other, f"{folder}/{name}", b"x").status != 201:
                        return
                    stored.append(name)

            putting = threading.Thread(target=put)
            putting.start()
            eventually(lambda: stored, "something was put")
            status = self.move(client, folder, f"mounted/{folder}").status
            moved.set()
            putting.join()
            self.assertIn(status, (201, 409))
            for name in stored:
                found = [client.ask(f"/{at}{folder}/{name}").status for at in ("", "mounted/")]
                self.assertIn(200, found, name)
        self.assertEqual([name for name in self.names() if HIDDEN in name], [])
