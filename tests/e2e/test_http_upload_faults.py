"""PUT of --http-listen while something ends it: a stop, a kill, a removed folder, a full disk."""

import contextlib
import itertools
import random
import signal
import threading
import time
import unittest
from pathlib import Path

from client import ConnectionEndedError, grant, refuses_connections
from http_client import HttpClient, request
from mount_namespace import NAMESPACES, why_no_mounts
from programs import BUILD, Program
from scene import for_each, with_loops
from test_descriptors import SANITIZER_NEEDS_DESCRIPTORS, with_few_descriptors
from upload_scene import HIDDEN, USER, UploadTest
from waiting import LONG_S, eventually


@with_loops
class StopTest(UploadTest):
    def begin(
        self, *flags: object, framing: str = "Content-Length: 10"
    ) -> tuple[Program, HttpClient]:
        """A server that was told to stop, and a client half of whose body has come."""
        server = self.start(*flags)
        client = self.http(server)
        expect = (*client._credentials, framing, "Expect: 100-continue")
        client.send(request("/a", *expect, method="PUT"))
        self.assertEqual(client.interim(), 100)
        client.send(b"01234" if framing.endswith("10") else b"5\r\n01234\r\n")
        server.signal(signal.SIGTERM)
        eventually(lambda: refuses_connections(server.address), "the server stops accepting")
        return server, client

    def test_a_body_under_way_is_taken_to_its_end(self) -> None:
        for framing, rest in (
            ("Content-Length: 10", b"56789"),
            ("Transfer-Encoding: chunked", b"5\r\n56789\r\n0\r\n\r\n"),
        ):
            server, client = self.begin("--drain-seconds", LONG_S, framing=framing)
            client.send(rest)
            answer = client.answer("PUT")
            self.assertIn(answer.status, (201, 204))
            self.assertTrue(answer.closes())
            self.assertTrue(client.is_ended())
            self.assertEqual(server.wait(), 0)
            self.assertEqual((self.scene.root / "a").read_bytes(), b"0123456789")

    def test_a_body_that_does_not_come_is_cut(self) -> None:
        server, client = self.begin("--drain-seconds", "0.3")
        self.assertTrue(client.is_ended())
        self.assertEqual(server.wait(), 0)
        self.assertIn("connections cut at the end of the drain time", server.log())
        self.assertEqual(self.names(), [])

    def test_a_client_that_goes_away_is_not_waited_for(self) -> None:
        server, client = self.begin("--drain-seconds", LONG_S)
        client.half_close()
        self.assertEqual(server.wait(), 0)
        self.assertEqual(self.names(), [])


class RemovedFolderTest(UploadTest):
    def test_the_folder_may_go_while_the_body_comes(self) -> None:
        server = self.start()
        client, other = self.http(server), self.http(server)
        self.assertEqual(other.ask("/gone/", method="MKCOL").status, 201)
        client.send(request("/gone/f", *client._credentials, "Content-Length: 2", method="PUT"))
        client.send(b"x")
        eventually(
            lambda: other.ask("/gone/", method="DELETE").status == 204, "the folder is removed"
        )
        client.send(b"y")
        self.assertEqual(client.answer("PUT").status, 409)


class RenamedFolderTest(UploadTest):
    def check(self, mode: str, target: Path) -> None:
        """The folder of an upload gets another name. No name leads to the bytes then."""
        server = self.start("--files", mode)
        native = self.scene.client(server)
        grant(native)
        client, other = self.http(server), self.http(server)
        self.assertEqual(other.ask("/q1/", method="MKCOL").status, 201)
        expect = (*client._credentials, "Content-Length: 2", "Expect: 100-continue")
        client.send(request("/q1/x", *expect, method="PUT"))
        self.assertEqual(client.interim(), 100)
        (self.scene.root / "q1").rename(target)
        client.send(b"xy")
        answer = client.answer("PUT")
        self.assertEqual((answer.status, answer.closes()), (409, False))
        for name in ("q1/x", "q2/x"):
            self.assertEqual(other.ask(f"/{name}").status, 404)
            self.assertEqual(native.ask(name), "not-found")
        self.assertEqual(other.ask("/q1/").status, 404)
        self.assertEqual(list(target.iterdir()), [])

    @for_each(("prefetch", "disk"))
    def test_another_name_in_the_served_folder(self, mode: str) -> None:
        self.check(mode, self.scene.root / "q2")

    @for_each(("prefetch", "disk"))
    def test_moved_out_of_the_served_folder(self, mode: str) -> None:
        self.check(mode, self.scene.folder / "outside")


@with_loops
class RefusedEarlyTest(UploadTest):
    def test_a_name_that_is_too_long_is_refused_before_its_body(self) -> None:
        server = self.start()
        name = "/" + 256 * "a"
        for expect in ((), ("Expect: 100-continue",)):
            client = self.http(server)
            fields = (*client._credentials, "Content-Length: 1000000", *expect)
            client.send(request(name, *fields, method="PUT"))
            answer = client.answer("PUT")
            self.assertEqual((answer.status, answer.closes()), (409, True))
        self.assertEqual(self.http(server).ask(name, method="DELETE").status, 404)
        self.assertEqual(self.names(), [])


@with_loops
@unittest.skipIf(BUILD.name == "address", SANITIZER_NEEDS_DESCRIPTORS)
class FewDescriptorsTest(UploadTest):
    def test_what_is_stored_is_answered_so(self) -> None:
        """Uploads that end at the same moment need more descriptors than there are."""
        server = self.start("--spare-threads", 1, prefix=with_few_descriptors(64))
        clients = [self.http(server) for _ in range(25)]
        for client in clients:
            self.assertEqual(client.ask("/none").status, 404)  # it is accepted
        begun = []
        for number, client in enumerate(clients):
            expect = (*client._credentials, "Content-Length: 2", "Expect: 100-continue")
            client.send(request(f"/f{number}", *expect, method="PUT"))
            if client.interim() == 100:
                begun.append((f"f{number}", client))
        self.assertIn(len(begun), range(1, 25))
        for _, client in begun:
            client.send(b"x")
        for _, client in begun:
            client.send(b"y")
        statuses = {name: client.answer("PUT").status for name, client in begun}
        self.assertLessEqual(set(statuses.values()), {201, 500})
        stored = sorted(name for name, status in statuses.items() if status == 201)
        self.assertEqual(self.names(), stored)


class CrashTest(UploadTest):
    ROUNDS = 4
    NAMES = 5
    SENDERS = 10

    def send_until_killed(self, server: Program, letters: "itertools.cycle[str]") -> None:
        sizes = (10, 5_000, 300_000)
        try:
            client = HttpClient(server, *USER)
            while True:
                body = next(letters).encode() * random.choice(sizes)
                self.put(client, f"{random.randrange(self.NAMES)}", body)
        except (ConnectionEndedError, OSError):
            pass

    def test_names_are_whole_after_a_kill(self) -> None:
        letters = itertools.cycle("abcdefghijklmnop")
        for _ in range(self.ROUNDS):
            server = self.start()
            threads = [
                threading.Thread(target=self.send_until_killed, args=(server, letters))
                for _ in range(self.SENDERS)
            ]
            for thread in threads:
                thread.start()
            time.sleep(random.uniform(0.05, 0.5))
            server.kill()
            for thread in threads:
                thread.join()
            for path in self.scene.root.iterdir():
                if path.name.startswith(HIDDEN):
                    continue
                body = path.read_bytes()
                self.assertIn(len(body), (10, 5_000, 300_000))
                self.assertEqual(body, body[:1] * len(body), "one version, whole")
        self.start()
        self.assertEqual([name for name in self.names() if HIDDEN in name], [], "swept")

    def test_hidden_names_are_neither_served_nor_listed(self) -> None:
        server = self.start()
        self.scene.write(f"{HIDDEN}1", b"x")
        self.scene.write("a", b"x")
        client = self.http(server)
        self.assertEqual(client.ask(f"/{HIDDEN}1").status, 404)
        self.assertEqual(client.ask(f"/{HIDDEN}1", method="DELETE").status, 404)
        self.assertNotIn(HIDDEN.encode(), client.ask("/").body)


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class ReadOnlyTest(UploadTest):
    def test_what_may_not_be_written_is_403_and_logged_once(self) -> None:
        (self.scene.root / "ro").mkdir()
        mount = f'mount -t tmpfs -o ro none "{self.scene.root}/ro" && exec "$0" "$@"'
        server = self.start(prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        for _ in range(3):
            put = self.put(client, "ro/a", b"")
            self.assertEqual((put.status, put.closes()), (403, False))
            made = client.ask("/ro/b/", method="MKCOL")
            self.assertEqual((made.status, made.closes()), (403, False))
        self.assertEqual(client.ask("/ro/a").status, 404)
        warning = "warning a part of the served folder may not be changed"
        self.assertEqual(server.log().count(warning), 1, server.log())
        self.assertNotIn("error ", server.log())


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class RamFsTest(UploadTest):
    """A file system that has no reservations and does not tell how much room it has."""

    @for_each(("prefetch", "disk"))
    def test_uploads_of_any_size_are_taken(self, mode: str) -> None:
        mount = f'mount -t ramfs none "{self.scene.root}" && exec "$0" "$@"'
        server = self.start("--files", mode, prefix=[*NAMESPACES, "sh", "-c", mount])
        client, native = self.http(server), self.scene.client(server)
        grant(native)
        for size, status in ((3, 201), (100_000, 204), (3_000_000, 204), (0, 204)):
            body = random.randbytes(size)
            self.assertEqual(self.put(client, "a", body).status, status)
            self.assertEqual(client.ask("/a").body, body)
            self.assertEqual(native.ask("a"), body)


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class FullDiskTest(UploadTest):
    """The served folder is a file system of 1 MiB, which only the server sees."""

    @for_each(("prefetch", "disk"))
    def test_a_full_disk_is_507_and_loses_nothing(self, mode: str) -> None:
        mount = f'mount -t tmpfs -o size=1m none "{self.scene.root}" && exec "$0" "$@"'
        server = self.start("--files", mode, prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        self.assertEqual(self.put(client, "a", b"old").status, 201)
        expect = (*client._credentials, "Content-Length: 2000000", "Expect: 100-continue")
        client.send(request("/a", *expect, method="PUT"))
        self.assertEqual(client.answer("PUT").status, 507)
        client = self.http(server)
        chunk = b"10000\r\n" + bytes(65536) + b"\r\n"
        chunked = "Transfer-Encoding: chunked"
        client.send(request("/b", *client._credentials, chunked, method="PUT") + chunk * 40)
        self.assertEqual(client.answer("PUT").status, 507)
        client = self.http(server)
        self.assertEqual(client.ask("/a").body, b"old")
        self.assertEqual(client.ask("/b").status, 404)
        self.assertEqual(self.put(client, "c", bytes(900_000)).status, 201)
        warning = "warning the served folder has no room for an upload"
        self.assertEqual(server.log().count(warning), 1, server.log())

    def test_a_small_body_that_waits_is_refused_before_it_comes(self) -> None:
        mount = f'mount -t tmpfs -o size=1m none "{self.scene.root}" && exec "$0" "$@"'
        server = self.start("--files", "disk", prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        self.assertEqual(self.put(client, "a", bytes(1_000_000)).status, 201)
        expect = (*client._credentials, "Content-Length: 60000", "Expect: 100-continue")
        client.send(request("/b", *expect, method="PUT"))
        self.assertEqual(client.answer("PUT").status, 507)

    def test_a_length_that_is_only_announced_takes_no_room_from_others(self) -> None:
        mount = f'mount -t tmpfs -o size=160m none "{self.scene.root}" && exec "$0" "$@"'
        server = self.start("--files", "disk", prefix=[*NAMESPACES, "sh", "-c", mount])
        promised = self.http(server)
        expect = (*promised._credentials, "Content-Length: 150000000", "Expect: 100-continue")
        promised.send(request("/a", *expect, method="PUT"))
        self.assertEqual(promised.interim(), 100)
        client = self.http(server)
        self.assertEqual(self.put(client, "b", bytes(80_000_000)).status, 201)
        # Now there is no room for it any more.
        with contextlib.suppress(ConnectionEndedError, OSError):
            for _ in range(150):
                promised.send(bytes(1_000_000))
        with contextlib.suppress(ConnectionEndedError):  # the answer may be lost with the rest
            self.assertEqual(promised.answer("PUT").status, 507)
        self.assertEqual(client.ask("/a").status, 404)
        self.assertEqual(client.ask("/b", method="HEAD").fields["content-length"], "80000000")
        self.assertEqual(self.put(client, "c", bytes(70_000_000)).status, 201)
