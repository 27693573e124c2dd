"""fileserver --model process: what all processes share, and what a server of threads has alone."""

import itertools
import shutil
import unittest

import servers
from client import Client, grant
from processes import resident_bytes, server_of
from programs import SANITIZED, Program, run
from scene import SceneTest, for_each

KINDS = tuple(kind for kind in servers.PROCESS_KINDS if kind not in servers.AUTHSERVER_KINDS)
LARGE_BYTES = 64_000_000
# Without threads, a process has only its own stack and what it changes of the parent's memory.
MOST_BYTES_OF_A_CHILD = 16_000_000


class FileProcessesTest(SceneTest):
    def start(self, kind: str, *flags: object) -> Program:
        return servers.start(self.scene, kind, *flags)

    def logged_in(self, server: Program, **options) -> Client:
        client = self.scene.client(server, **options)
        client.ask("new:alice:wonderland")  # or it is there
        grant(client)
        return client

    @for_each(itertools.product(KINDS, ("prefetch", "disk")))
    def test_changes_are_seen_by_every_process(self, case: tuple[str, str]) -> None:
        kind, files = case
        shutil.rmtree(self.scene.root)
        for name in ("changed", "replaced", "removed", "folder/inside"):
            self.scene.write(name, b"before")
        server = self.start(kind, "--files", files)
        early = self.logged_in(server)
        owner = server_of(early, server.pid)
        names = ("changed", "replaced", "removed", "folder/inside", "made")
        self.assertEqual([early.ask(name) for name in names], [b"before"] * 4 + ["not-found"])
        self.scene.write("changed", b"after")
        self.scene.write("fresh", b"after").rename(self.scene.root / "replaced")
        (self.scene.root / "removed").unlink()
        (self.scene.root / "folder").rename(self.scene.root / "gone")
        self.scene.write("made", b"after")
        expected = [b"after", b"after", "not-found", "not-found", b"after"]
        for client in (early, self.logged_in(server)):
            self.assertEqual([client.ask(name) for name in names], expected)
            self.assertEqual(client.ask("gone/inside"), b"before")
        self.assertEqual(server_of(early, server.pid), owner)

    def test_a_file_that_is_sent_from_memory_is_sent_whole_while_it_is_replaced(self) -> None:
        path = self.scene.write("large", b"1" * LARGE_BYTES)
        client = self.logged_in(self.start(KINDS[0]), receive_buffer=1 << 16)
        client.send("large\n")
        self.assertEqual(client.begin_file(), LARGE_BYTES)
        fresh = self.scene.write("fresh", b"2" * LARGE_BYTES)
        fresh.rename(path)
        self.assertEqual(client.take(LARGE_BYTES), b"1" * LARGE_BYTES)
        self.assertEqual(client.ask("large"), b"2" * LARGE_BYTES)

    @unittest.skipIf(SANITIZED, "a sanitizer has memory of its own in each process")
    @for_each(KINDS)
    def test_prefetched_files_are_in_memory_once(self, kind: str) -> None:
        for number in range(4):
            self.scene.write(f"large{number}", b"x" * LARGE_BYTES)
        for number in range(200):
            self.scene.write(f"small{number}", b"x" * 10_000)
        server = self.start(kind)
        clients = [self.logged_in(server) for _ in range(4)]
        for number, client in enumerate(clients):
            self.assertEqual(len(client.ask(f"large{number}")), LARGE_BYTES)
            self.assertEqual(client.ask(f"small{number}"), b"x" * 10_000)
        for client in clients:
            size = resident_bytes(server_of(client, server.pid), "RssAnon")
            self.assertLess(size, MOST_BYTES_OF_A_CHILD)

    def test_a_folder_that_is_removed_and_made_again_is_served(self) -> None:
        self.scene.write("a", b"before")
        server = self.start(KINDS[0])
        early = self.logged_in(server)
        self.assertEqual(early.ask("a"), b"before")
        shutil.rmtree(self.scene.root)
        self.scene.write("a", b"after")
        for client in (early, self.logged_in(server)):
            self.assertEqual(client.ask("a"), b"after")

    def test_what_needs_threads_is_wrong_usage(self) -> None:
        for flags, named in (
            (("--http-listen", "127.0.0.1:0"), "--http-listen"),
            (("--transfer-log", "a.json"), "--transfer-log"),
        ):
            with self.subTest(flags=flags):
                done = run("fileserver", "--model", "process", *flags)
                self.assertEqual(done.returncode, 2)
                self.assertIn(named, done.stderr)
