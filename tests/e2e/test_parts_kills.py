"""Uploads in parts whose connection is cut, or whose server is killed, or whose disk is full."""

import contextlib
import random
import time
import unittest
from collections.abc import Callable
from pathlib import Path

from client import ConnectionEndedError
from faults import SYNC, Faults
from http_client import HttpClient, request
from mount_namespace import NAMESPACES, why_no_mounts
from parts_scene import INTEROP, LAST, MORE, PARTIAL, STREAM, TUS, PartsTest
from programs import SANITIZED, Program
from scene import for_each

CONTENT = random.Random(51).randbytes(3_000_000)
PART = 700_000
KILLS = 8
CUTS = 20
MOST_AGAIN = 1 << 20  # bytes that are sent again after a break


class PartsKillsTest(PartsTest):
    def setUp(self) -> None:
        super().setUp()
        self.server: Program = self.start()
        self.random = random.Random()
        self.again = 0

    def kill(self) -> None:
        self.server.kill()
        self.server = self.start()

    def send(self, path: str, at: int, is_tus: bool, size: int) -> HttpClient:
        """Sends `size` bytes of a part, which says that it goes on to its end."""
        end = min(at + PART, len(CONTENT))
        complete = LAST if end == len(CONTENT) else MORE
        fields = (TUS, STREAM) if is_tus else (PARTIAL, complete)
        numbers = (f"Upload-Offset: {at}", f"Content-Length: {end - at}")
        client = HttpClient(self.server, *self.user)
        client.send(request(path, *client._credentials, *fields, *numbers, method="PATCH"))
        client.send(CONTENT[at : min(end, at + size)])
        return client

    user = ("alice", "wonderland")

    def upload(
        self, name: str, is_tus: bool, breaks: int, end: Callable[[HttpClient], None]
    ) -> None:
        client = self.http(self.server)
        path = self.begin_tus(client, name, len(CONTENT)) if is_tus else self.begin(client, name)
        further = (TUS,) if is_tus else ()
        while True:
            told = self.http(self.server).ask(path, *further, method="HEAD")
            at = int(told.fields["upload-offset"])
            is_whole = (self.scene.root / name).exists()
            if is_whole or (at == len(CONTENT) and told.fields.get("upload-complete") == "?1"):
                break
            size = self.random.randrange(PART) if breaks > 0 else PART
            try:
                client = self.send(path, at, is_tus, size)
            except (BrokenPipeError, ConnectionResetError):
                continue
            if breaks > 0:
                breaks -= 1
                end(client)
                now = self.offset(self.http(self.server), path, *further)
                self.assertGreaterEqual(now, at)
                self.assertLessEqual(at + min(size, PART) - now, MOST_AGAIN)
            else:
                self.assertIn(client.answer("PATCH").status, (201, 204))
            client.close()
        self.assertEqual(self.read(name), CONTENT)

    def test_the_server_is_killed(self) -> None:
        def end(_client: HttpClient) -> None:
            time.sleep(self.random.uniform(0, 0.02))
            self.kill()

        for is_tus in (False, True):
            self.upload(f"killed-{is_tus}", is_tus, KILLS // 2, end)
        self.assertEqual([one for one in self.kept() if not one.endswith(".state")], [])

    def test_the_connection_is_cut(self) -> None:
        for is_tus in (False, True):
            self.upload(f"cut-{is_tus}", is_tus, CUTS // 2, HttpClient.close)

    def test_the_server_is_killed_while_the_file_gets_its_name(self) -> None:
        """It has the name or not, whole. What the client is told next leads to its end."""
        for i in range(KILLS):
            name = f"f{i}"
            path = self.begin(self.http(self.server), name, CONTENT[:1000])
            client = HttpClient(self.server, *self.user)
            fields = (PARTIAL, LAST, "Upload-Offset: 1000", "Content-Length: 0")
            client.send(request(path, *client._credentials, *fields, method="PATCH"))
            time.sleep(self.random.uniform(0, 0.006))
            self.kill()
            client.close()
            there = self.scene.root / name
            self.assertIn(there.read_bytes() if there.exists() else None, (None, CONTENT[:1000]))
            told = self.http(self.server).ask(path, method="HEAD").fields
            self.assertEqual(told["upload-offset"], "1000")
            if told["upload-complete"] == "?0":
                answer = self.append(self.http(self.server), path, 1000, b"", LAST)
                self.assertIn(answer.status, (201, 204))
            self.assertEqual(self.read(name), CONTENT[:1000])
            self.assertEqual(there.stat().st_nlink, 1)
        left = [one for one in self.names() if "upload" in one and not one.endswith(".state")]
        self.assertEqual(left, [".turnstile-upload-parts"])

    def test_a_cut_of_what_was_sent_is_no_error_of_the_client(self) -> None:
        """A part that ends early tells nobody anything, and the next one goes on."""
        path = self.begin(self.http(self.server), "a")
        client = self.send(path, 0, False, 1000)
        client.half_close()
        with self.assertRaises(ConnectionEndedError):
            client.answer("PATCH")
        self.assertEqual(self.offset(self.http(self.server), path), 1000)


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
class PartsFaultTest(PartsTest):
    def test_bytes_that_a_disk_has_lost_do_not_count(self) -> None:
        """The system tells once that they are not on the disk."""
        faults = Faults(self.scene.folder)
        server = self.start(env=faults.env)
        path = self.begin(self.http(server), "a", b"begun")
        much = bytes(20 << 20)
        for body in (b"of a part", much):  # the sync at its end, and one in between
            faults.fail(SYNC, 1)
            answer = self.append(self.http(server), path, 5, body, MORE, INTEROP)
            self.assertEqual((answer.status, answer.fields["upload-offset"]), (500, "5"))
            self.assertEqual(faults.left(), 0)
            self.assertEqual(self.offset(self.http(server), path), 5)
        self.assertEqual(self.append(self.http(server), path, 5, b" and done", LAST).status, 201)
        self.assertEqual(self.read("a"), b"begun and done")


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class PartsDiskTest(PartsTest):
    def serve(self, mounted: Path, mode: str) -> None:
        """A file system of 1 MiB is mounted, which only the server sees."""
        mount = f'mount -t tmpfs -o size=1m none "{mounted}" && exec "$0" "$@"'
        prefix = [*NAMESPACES, "sh", "-c", mount]
        self.server = self.start("--files", mode, prefix=prefix)
        self.client = self.http(self.server)

    @for_each(("prefetch", "disk"))
    def test_a_folder_on_another_file_system_gets_a_copy(self, mode: str) -> None:
        (self.scene.root / "disk").mkdir(exist_ok=True)
        self.serve(self.scene.root / "disk", mode)
        for status in (201, 204):
            path = self.begin(self.client, "disk/a", CONTENT[:300_000])
            answer = self.append(self.client, path, 300_000, CONTENT[300_000:400_000], LAST)
            self.assertEqual(answer.status, status)
            self.assertEqual(self.client.ask("/disk/a").body, CONTENT[:400_000])
        big = self.begin(self.client, "disk/b", CONTENT[:900_000])
        answer = self.append(self.client, big, 900_000, b"", LAST)
        self.assertEqual((answer.status, answer.fields["upload-complete"]), (507, "?1"))
        self.assertEqual(self.client.ask("/disk/b").status, 404)
        self.assertEqual(self.client.ask("/disk/a", method="DELETE").status, 204)
        self.assertEqual(self.append(self.client, big, 900_000, b"", LAST).status, 201)
        self.assertEqual(self.client.ask("/disk/b").body, CONTENT[:900_000])
        self.assertEqual([one for one in self.kept() if not one.endswith(".state")], [])

    def test_a_full_disk_is_507_and_loses_nothing(self) -> None:
        self.serve(self.scene.root, "disk")
        refused = self.ask(self.client, "POST", "/-/parts/a", b"", MORE, "Upload-Length: 600000")
        self.assertEqual(refused.status, 507)  # more than half of the file system
        path = self.begin(self.client, "a", CONTENT[:400_000])
        client = self.http(self.server)
        answer = self.append(client, path, 400_000, CONTENT[400_000:800_000], MORE)
        self.assertEqual((answer.status, answer.fields["upload-offset"]), (507, "400000"))
        client = self.http(self.server)
        chunked = (PARTIAL, MORE, "Upload-Offset: 400000", "Transfer-Encoding: chunked")
        client.send(request(path, *client._credentials, *chunked, method="PATCH"))
        with contextlib.suppress(ConnectionEndedError, OSError):
            for at in range(400_000, 1_200_000, 50_000):
                client.send(b"c350\r\n" + CONTENT[at : at + 50_000] + b"\r\n")
            self.assertEqual(client.answer("PATCH").status, 507)
        client = self.http(self.server)
        at = self.offset(client, path)
        self.assertIn(at, range(400_000, 530_000))
        self.assertEqual(self.append(client, path, at, b"", LAST).status, 201)
        self.assertEqual(client.ask("/a").body, CONTENT[:at])
