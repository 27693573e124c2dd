"""Versions of one name that are put at the same time: each has an ETag of its own."""

import contextlib
import os
import shlex
import threading
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

from mount_namespace import NAMESPACES, OF_ROOT, ext4_with_whole_seconds, why_no_mounts
from programs import Program
from scene import for_each
from threads import run_threads
from upload_scene import UploadTest
from waiting import LONG_S, eventually

NO_MOUNTS = why_no_mounts()


class VersionsTest(UploadTest):
    ROUNDS = 150
    CLIENTS = 4
    COUNT = 200

    def start_on(self, mount: str, namespaces: tuple[str, ...] = tuple(NAMESPACES)) -> Program:
        """Serves a file system that only the server sees. `mount` has the options of mount."""
        script = f'mount {mount} {shlex.quote(str(self.scene.root))} && exec "$0" "$@"'
        return self.start(prefix=[*namespaces, "sh", "-c", script])

    def check_tags(self, server: Program, rounds: int = ROUNDS) -> None:
        meet = threading.Barrier(2)
        tags: list[str] = []

        def send(letter: bytes) -> None:
            client = self.http(server)
            for _ in range(rounds):
                meet.wait(LONG_S)
                answer = self.put(client, "a", letter * 20)
                if "etag" not in answer.fields:
                    meet.abort()
                tags.append(answer.fields["etag"])

        run_threads([lambda _: send(b"A"), lambda _: send(b"B")])
        client = self.http(server)
        self.assertIn(client.ask("/a").fields["etag"], tags)
        for _ in range(3):
            self.assertEqual(client.ask("/a", method="DELETE").status, 204)
            tags.append(self.put(client, "a", b"A" * 20).fields["etag"])
        self.assertEqual(len(tags), 2 * rounds + 3)
        self.assertEqual(len(set(tags)), len(tags))

    def check_counter(self, server: Program) -> None:
        """Clients add one with If-Match. Each addition that was acknowledged counts."""
        self.put(self.http(server), "n", b"00000")
        added: list[int] = []

        def add(_: threading.Event) -> None:
            client = self.http(server)
            while len(added) < self.COUNT:
                got = client.ask("/n")
                number = int(got.body) + 1
                answer = self.put(client, "n", b"%05d" % number, f"If-Match: {got.fields['etag']}")
                self.assertIn(answer.status, (204, 412))
                if answer.status == 204:
                    added.append(number)
                if answer.closes():
                    client.close()
                    client = self.http(server)

        run_threads([add] * self.CLIENTS)
        self.assertEqual(int(self.http(server).ask("/n").body), len(added))
        self.assertEqual(len(set(added)), len(added))

    @for_each(("prefetch", "disk"))
    def test_no_two_versions_have_one_tag(self, mode: str) -> None:
        self.check_tags(self.start("--files", mode))

    @for_each(("prefetch", "disk"))
    def test_no_acknowledged_update_is_lost(self, mode: str) -> None:
        self.check_counter(self.start("--files", mode))

    @unittest.skipIf(NO_MOUNTS, NO_MOUNTS or "")
    def test_in_memory(self) -> None:
        self.check_tags(self.start_on("-t tmpfs none"))

    @unittest.skipUnless(os.geteuid() == 0, "only root may mount a ramfs")
    @unittest.skipIf(NO_MOUNTS, NO_MOUNTS or "")
    def test_where_the_clock_of_files_has_ticks(self) -> None:
        server = self.start_on("-t ramfs none", OF_ROOT)
        self.check_tags(server)
        self.check_counter(server)

    def test_where_the_clock_of_files_has_seconds(self) -> None:
        prefix = ext4_with_whole_seconds(self, self.scene.folder / "image", self.scene.root)
        self.check_tags(self.start(prefix=prefix), rounds=30)

    @contextlib.contextmanager
    def changing(self, path: Path) -> Iterator[None]:
        """Another program overwrites the file in place, again and again, by bytes of its size."""
        size = path.stat().st_size
        is_done = threading.Event()

        def write() -> None:
            with path.open("r+b", buffering=0) as file:
                while not is_done.wait(0.001):
                    os.pwrite(file.fileno(), os.urandom(size), 0)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            yield
        finally:
            is_done.set()
            thread.join()

    def check_weak_tag(self, server: Program, path: Path) -> None:
        client = self.http(server)
        path.write_bytes(b"0" * 40)
        weak = ""

        def is_weak() -> bool:
            nonlocal weak
            weak = client.ask("/a", method="HEAD").fields["etag"]
            return weak.startswith('W/"')

        with self.changing(path):
            eventually(is_weak, "the tag of a file that goes on changing is weak")
            for tag in (weak, weak[2:]):
                answer = client.ask("/a", f"If-None-Match: {tag}", method="HEAD")
                self.assertEqual(answer.status, 200)
                self.assertEqual(self.put(client, "a", b"", f"If-Match: {tag}").status, 412)
        last = path.read_bytes()
        eventually(lambda: client.ask("/a").body == last, "the last version is served")
        strong = client.ask("/a").fields["etag"]
        self.assertRegex(strong, r'\A"[^"]+"\Z')
        for tag in (weak, weak[2:]):
            self.assertEqual(client.ask("/a", f"If-None-Match: {tag}").body, last)
            self.assertEqual(client.ask("/a", f"If-Match: {tag}").status, 412)
            answer = client.ask("/a", "Range: bytes=1-", f"If-Range: {tag}")
            self.assertEqual((answer.status, answer.body), (200, last))
        self.assertEqual(client.ask("/a", f"If-None-Match: {strong}").status, 304)
        self.assertEqual(self.put(client, "a", b"1", f"If-Match: {strong}").status, 204)

    def test_a_file_that_goes_on_changing_has_a_weak_tag(self) -> None:
        self.check_weak_tag(self.start("--files", "disk"), self.scene.root / "a")

    def test_a_file_that_goes_on_changing_where_the_clock_of_files_has_seconds(self) -> None:
        prefix = ext4_with_whole_seconds(self, self.scene.folder / "image", self.scene.root)
        server = self.start("--files", "disk", prefix=prefix)
        self.check_weak_tag(server, Path(f"/proc/{server.pid}/root{self.scene.root}/a"))

    def check_own_tags(self, server: Program) -> None:
        """An upload is known by its tag at once, also before its version is settled."""
        client = self.http(server)
        tag = self.put(client, "a", b"00").fields["etag"]
        for number in range(1, 20):
            answer = self.put(client, "a", b"%02d" % number, f"If-Match: {tag}")
            self.assertEqual(answer.status, 204)
            tag = answer.fields["etag"]
            self.assertRegex(tag, r'\A"[^"]+"\Z')
        self.assertEqual(client.ask("/a").fields["etag"], tag)
        self.assertEqual(client.ask("/a", f"If-Match: {tag}", method="DELETE").status, 204)

    @for_each(("prefetch", "disk"))
    def test_an_upload_has_a_strong_tag_at_once(self, mode: str) -> None:
        self.check_own_tags(self.start("--files", mode))

    def test_an_upload_has_a_strong_tag_at_once_where_the_clock_has_seconds(self) -> None:
        prefix = ext4_with_whole_seconds(self, self.scene.folder / "image", self.scene.root)
        self.check_own_tags(self.start(prefix=prefix))

    def check_beside_another_program(self, server: Program, rounds: int) -> None:
        """It changes each upload at once, in place, by bytes of the same size."""
        client = self.http(server)
        path = Path(f"/proc/{server.pid}/root{self.scene.root}/a")
        tags: set[str] = set()
        for number in range(rounds):
            ours, hers = b"%039da" % number, b"%039db" % number
            tag = self.put(client, "a", ours).fields["etag"]
            with path.open("r+b", buffering=0) as file:
                file.write(hers)
            eventually(lambda: client.ask("/a").body == hers, "the other program's bytes are seen")
            other = client.ask("/a").fields["etag"]
            self.assertEqual(len(tags | {tag, other}), len(tags) + 2, f"{tag} {other}")
            tags |= {tag, other}

    @for_each(("prefetch", "disk"))
    def test_what_another_program_writes_just_after_an_upload(self, mode: str) -> None:
        self.check_beside_another_program(self.start("--files", mode), rounds=30)

    @unittest.skipUnless(os.geteuid() == 0, "only root may mount a ramfs")
    @unittest.skipIf(NO_MOUNTS, NO_MOUNTS or "")
    def test_what_another_program_writes_in_the_tick_of_an_upload(self) -> None:
        self.check_beside_another_program(self.start_on("-t ramfs none", OF_ROOT), rounds=30)

    def test_what_another_program_writes_in_the_second_of_an_upload(self) -> None:
        prefix = ext4_with_whole_seconds(self, self.scene.folder / "image", self.scene.root)
        server = self.start(prefix=prefix)
        time.sleep(1 - time.time() % 1 + 0.02)
        self.check_beside_another_program(server, rounds=1)
