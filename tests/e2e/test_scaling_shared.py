"""docs/scaling.md: two fileservers above one shared file system, with uploads."""

import glob
import json
import os
import subprocess
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import fuse_mounts
from client import ConnectionEndedError
from http_client import FLAG, Answer, HttpClient
from prefetch_scene import SOON_S
from programs import SANITIZED, Program
from scene import SceneTest, for_each, with_loops
from upload_scene import HIDDEN
from waiting import LONG_S, eventually

PAGE = Path(__file__).parents[2] / "docs" / "scaling.md"
_OLD_RENAMES = Path(__file__).with_name("old_renames.c")
MOVES = 2  # of each kind, with each Overwrite, by two servers and by one
LARGE = os.urandom(2_000_000)


class TwoHostsTest(SceneTest):
    folders: list[Path]  # as the servers see them
    servers: list[Program]
    replaces_folders_of_another = True

    def test_of_two_that_make_a_file_at_once_one_is_told_so(self) -> None:
        """Each has its own connection, as one that was told so before its body came is closed."""
        servers = self.pairs()[0]
        with ThreadPoolExecutor(2) as pool:
            for number in range(20):
                asked = [pool.submit(self.make, server, f"/n{number}") for server in servers]
                self.assertEqual(sorted(one.result() for one in asked), [201, 412])
        self.assert_nothing_is_hidden()

    def assert_nothing_is_hidden(self) -> None:
        """A server says why it has left something."""
        left = list(self.scene.folder.rglob(f"{HIDDEN}*"))
        self.assertEqual(left, [], "".join(server.log() for server in self.servers))

    def make(self, server: Program, path: str) -> int:
        return self.ask(server, path, "If-None-Match: *", method="PUT", body=b"x")

    def ask(self, server: Program, path: str, *fields: str, **options) -> int:
        client = HttpClient(server, "alice", "wonderland")
        try:
            return client.ask(path, *fields, **options).status
        finally:
            client.close()

    def pairs(self) -> list[tuple[Program, Program]]:
        """The servers that two clients speak to, the same one too."""
        one, other = self.servers
        return [(one, other), (one, one)]

    @for_each(("file", "folder", "empty folder"))
    def test_of_two_that_move_to_one_free_name_one_has_made_it(self, kind: str) -> None:
        for pair, servers in enumerate(self.pairs()):
            replaces = kind == "file" or self.replaces_folders_of_another or len(set(servers)) == 1
            for number in range(2 * MOVES):
                overwrite = "FT"[number % 2] if replaces else "F"
                here = self.folders[0] / f"{kind.replace(' ', '-')}-{pair}-{number}"
                self.move_both(servers, kind, here, overwrite)
        self.assert_nothing_is_hidden()

    def test_a_file_that_another_removes_may_be_replaced(self) -> None:
        one, other = self.pairs()[0]
        with ThreadPoolExecutor(2) as pool:
            for number in range(10):
                path = f"/r{number}"
                self.assertEqual(self.ask(one, path, method="PUT", body=b"old"), 201)
                put = pool.submit(self.ask, one, path, method="PUT", body=b"new")
                time.sleep(number * 0.005)  # at any moment of the other
                gone = pool.submit(self.ask, other, path, method="DELETE")
                self.assertIn(put.result(), (201, 204))
                self.assertEqual(gone.result(), 204)
        self.assert_nothing_is_hidden()

    @for_each(("file", "folder"))
    def test_one_name_that_two_move_has_one_new_name(self, kind: str) -> None:
        method = {"file": "PUT", "folder": "MKCOL"}[kind]
        for pair, servers in enumerate(self.pairs()):
            for number in range(MOVES):
                here = f"{kind}-{pair}-{number}"
                self.assertEqual(self.ask(servers[0], f"/{here}", method=method), 201)
                with ThreadPoolExecutor(2) as pool:
                    asked = [
                        pool.submit(
                            self.ask, server, f"/{here}", f"Destination: /{here}-{i}", method="MOVE"
                        )
                        for i, server in enumerate(servers)
                    ]
                    first, second = sorted(one.result() for one in asked)
                self.assertEqual(first, 201)
                self.assertIn(second, (404, 409))
                self.assertEqual(len(list(self.folders[0].glob(f"{here}*"))), 1)

    def move_both(
        self, servers: tuple[Program, Program], kind: str, here: Path, overwrite: str
    ) -> None:
        """Each client moves a name of its own to the same new one."""
        for i, server in enumerate(servers):
            if kind == "file":
                self.ask(server, f"/{here.name}-{i}", method="PUT", body=b"%d" % i)
                continue
            self.ask(server, f"/{here.name}-{i}", method="MKCOL")
            if kind == "folder":
                self.ask(server, f"/{here.name}-{i}/in-{i}", method="PUT", body=b"%d" % i)
        fields = (f"Destination: /{here.name}", f"Overwrite: {overwrite}")
        with ThreadPoolExecutor(2) as pool:
            asked = [
                pool.submit(self.ask, server, f"/{here.name}-{i}", *fields, method="MOVE")
                for i, server in enumerate(servers)
            ]
            answers = [one.result() for one in asked]
        may_both_replace = (kind, overwrite) == ("folder", "T") and len(set(servers)) == 2
        if may_both_replace and answers == [204, 204]:
            self.assert_one_has_replaced_the_other(here)
            return
        self.assertEqual(sorted(answers), [201, {"F": 412, "T": 204}[overwrite]])
        last = answers.index(201 if overwrite == "F" else 204)
        left = {here, here.with_name(f"{here.name}-{1 - last}")} if overwrite == "F" else {here}
        self.assertEqual(set(here.parent.glob(f"{here.name}*")), left)
        if kind == "file":
            eventually(lambda: here.read_bytes() == b"%d" % last, "the last one is there")
        elif kind == "folder":
            eventually(lambda: os.listdir(here) == [f"in-{last}"], "the last one is there")

    def assert_one_has_replaced_the_other(self, here: Path) -> None:
        """The first one's empty folder was replaced, and then it replaced the other's whole one."""
        self.assertEqual(list(here.parent.glob(f"{here.name}*")), [here])
        eventually(lambda: os.listdir(here) in (["in-0"], ["in-1"]), "one of them is there, whole")


class SharedFolderTest(TwoHostsTest):
    """Subclasses mount the folders."""

    def setUp(self) -> None:
        super().setUp()
        self.folders = [self.scene.folder / name for name in ("here", "there")]
        for folder in self.folders:
            folder.mkdir()
        self.mount()
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.servers = [self.start(folder) for folder in self.folders]
        self.here, self.there = (self.client(server) for server in self.servers)

    def mount(self) -> None:
        raise NotImplementedError

    def start(self, folder: Path) -> Program:
        flags = (*FLAG, "--uploads", "folder", "--root", str(folder))
        return self.scene.fileserver(self.authserver, *flags)

    def client(self, server: Program) -> HttpClient:
        return self.scene.keep(HttpClient(server, "alice", "wonderland"))

    def put(self, client: HttpClient, path: str, body: bytes) -> Answer:
        return client.ask(path, method="PUT", body=body)

    def names(self, client: HttpClient, path: str = "/") -> list[tuple[str, int]]:
        listing = json.loads(client.ask(path, "Accept: application/json").body)
        return [(entry["name"], entry.get("size", -1)) for entry in listing]

    def soon(self, path: str, body: bytes, names: list[tuple[str, int]]) -> None:
        """There, GET and the listing have it."""
        eventually(
            lambda: self.there.ask(path).body == body and self.names(self.there) == names,
            f"{path} is {body[:20]!r} there too",
            within_s=SOON_S,
        )

    def test_what_is_done_here_is_seen_there(self) -> None:
        for server in self.servers:
            self.assertIn("changes by other hosts are not reported here", server.log())
        made = self.put(self.here, "/a", b"first")
        self.assertEqual((made.status, self.here.ask("/a").body), (201, b"first"))
        self.soon("/a", b"first", [("a", 5)])
        self.assertEqual(self.there.ask("/a").fields["etag"], made.fields["etag"])
        self.assertEqual(self.put(self.here, "/a", b"other").status, 204)
        self.soon("/a", b"other", [("a", 5)])
        self.assertEqual(self.here.ask("/sub/", method="MKCOL").status, 201)
        self.assertEqual(self.put(self.here, "/sub/b", b"b").status, 201)
        self.soon("/sub/b", b"b", [("a", 5), ("sub", -1)])
        self.assertEqual(self.here.ask("/a", method="DELETE").status, 204)
        eventually(lambda: self.there.ask("/a").status == 404, "gone", within_s=SOON_S)

    def test_no_answer_is_a_mixture(self) -> None:
        versions = [LARGE, LARGE[::-1], LARGE[:1_500_000]]
        self.put(self.here, "/large", versions[0])
        self.soon("/large", versions[0], [("large", len(LARGE))])
        done = threading.Event()
        bodies: list[bytes] = []

        def read() -> None:
            while not done.is_set():
                client = HttpClient(self.servers[1], "alice", "wonderland")
                try:
                    answer = client.ask("/large")
                    bodies.append(answer.body if answer.status == 200 else versions[0])
                except ConnectionEndedError:  # it was cut, and the client sees that
                    pass
                finally:
                    client.close()

        reader = threading.Thread(target=read)
        reader.start()
        try:
            for number in range(1, 10):
                self.put(self.here, "/large", versions[number % 3])
        finally:
            done.set()
            reader.join()
        self.assertGreater(len(bodies), 0)
        self.assertTrue(all(body in versions for body in bodies))


class BindfsTest(SharedFolderTest):
    def mount(self) -> None:
        behind = self.scene.folder / "behind"
        behind.mkdir()
        for folder in self.folders:
            fuse_mounts.bind(self, behind, folder)

    def test_a_folder_whose_file_is_read_is_removed_behind_the_reader(self) -> None:
        """Until then the file system keeps the file in it, under another name, as NFS does."""
        behind = self.scene.folder / "behind"
        for number in range(4):  # on a busy machine the reader may be too late
            folder = f"read{number}"
            self.assertEqual(self.here.ask(f"/{folder}/", method="MKCOL").status, 201)
            self.assertEqual(self.put(self.here, f"/{folder}/file", b"x").status, 201)
            left = set(behind.glob(f"{HIDDEN}*"))
            with (
                ThreadPoolExecutor(1) as pool,
                (self.folders[0] / folder / "file").open() as reader,
            ):
                removed = pool.submit(self.here.ask, f"/{folder}/", method="DELETE")
                pattern = f"{behind}/{HIDDEN}*/.fuse_hidden*"
                eventually(lambda: {Path(one).parent for one in glob.glob(pattern)} - left, "kept")
                reader.close()
                self.assertEqual(removed.result().status, 204)
            if set(behind.glob(f"{HIDDEN}*")) == left:
                return
        self.fail("".join(server.log() for server in self.servers))


class GlusterTest(SharedFolderTest):
    """Two mounts that replace one folder at the same moment lose one of theirs at times."""

    replaces_folders_of_another = False

    def mount(self) -> None:
        own = self.scene.folder / "gluster"
        own.mkdir()
        volume = fuse_mounts.Gluster(self, own)
        for folder in self.folders:
            volume.mount(folder)


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
class OldRenamesTest(TwoHostsTest):
    """A folder of this host, whose renames are as poor as those of shared file systems."""

    SERVERS = 2
    env: ClassVar[dict[str, str]] = {}

    def setUp(self) -> None:
        super().setUp()
        library = self.scene.folder / "old_renames.so"
        compiler = os.environ.get("CC", "gcc").split()[-1]
        command = [compiler, "-std=gnu11", "-shared", "-fPIC", "-O2", str(_OLD_RENAMES)]
        subprocess.run([*command, "-o", str(library), "-ldl"], check=True, timeout=2 * LONG_S)
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        flags = (*FLAG, "--uploads", "folder")
        self.folders = [self.scene.root] * 2
        self.servers = [
            self.scene.fileserver(authserver, *flags, env={"LD_PRELOAD": str(library), **self.env})
            for _ in range(self.SERVERS)
        ]


@with_loops
class NoLinksTest(OldRenamesTest):
    """There are no links either. One server still keeps its clients apart."""

    SERVERS = 1
    env: ClassVar = {"NO_LINKS": "1"}

    def pairs(self) -> list[tuple[Program, Program]]:
        (server,) = self.servers
        return [(server, server)]


class RcloneTest(SceneTest):
    """rclone, before a folder in the place of an object store."""

    def test_changes_are_seen_and_uploads_refused(self) -> None:
        behind = self.scene.folder / "behind"
        behind.mkdir()
        (behind / "a").write_bytes(b"first")
        (behind / "gone").write_bytes(b"gone")
        fuse_mounts.rclone(self, PAGE, behind, self.scene.root)
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        server = self.scene.fileserver(authserver, *FLAG, "--uploads", "folder")
        client = self.scene.keep(HttpClient(server, "alice", "wonderland"))
        self.assertEqual(client.ask("/a").body, b"first")
        (behind / "a").write_bytes(b"the second")
        (behind / "gone").unlink()
        eventually(lambda: client.ask("/a").body == b"the second", "changed", within_s=SOON_S)
        eventually(lambda: client.ask("/gone").status == 404, "gone", within_s=SOON_S)
        self.assertEqual(client.ask("/a", method="PUT", body=b"x").status, 403)


del TwoHostsTest, SharedFolderTest  # Without this, unittest would run the base classes too.
