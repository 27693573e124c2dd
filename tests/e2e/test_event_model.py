"""fileserver --model event: many connections in few threads, none of which holds up the others."""

import itertools
import subprocess
import threading
import time
import unittest
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import fuse_mounts
import hung_fuse
from http_client import HttpClient, request
from processes import resident_bytes, threads
from programs import SANITIZED, Program
from scene import SceneTest, for_each
from upload_scene import FOLDER, USER
from waiting import LONG_S, eventually, time_s

_KIB = 1024
_IDLE = 1_500
_HELPERS = 32
_HUNG_DISK = Path(__file__).with_name("hung_disk.c")
_NO_STACKS = Path(__file__).with_name("no_stacks.c")


def connections_of_loops(pid: int) -> list[int]:
    """How many descriptors each epoll descriptor of the process watches."""
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        if entry.readlink().name == "anon_inode:[eventpoll]":
            lines = Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text().splitlines()
            found.append(sum(line.startswith("tfd:") for line in lines))
    return found


class EventModelTest(SceneTest):
    def start(self, *flags: object, **options) -> Program:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        return self.scene.fileserver(authserver, "--model", "event", *flags, **options)

    def hung_disk(self) -> dict[str, str]:
        """The environment in which the folder `disk` hangs as long as self.mark is there."""
        self.mark = self.scene.folder / "hung"
        disk = str(self.scene.root / "disk")
        library = self.library(_HUNG_DISK)
        return {"LD_PRELOAD": library, "HUNG_DISK": disk, "HUNG_WHILE": str(self.mark)}

    def library(self, source: Path) -> str:
        made = self.scene.folder / f"{source.stem}.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
        return str(made)

    @contextmanager
    def hanging(self, kind: str) -> Iterator[None]:
        """Calls of this kind hang meanwhile, and no others."""
        mark = self.mark.with_name(f"{self.mark.name}.{kind}")
        mark.touch()
        try:
            yield
        finally:
            mark.unlink()

    def wait_until_hung(self, server: Program, kind: str) -> None:
        eventually(lambda: f"call={kind}" in server.log(), f"{kind} hangs")

    def logged_in(self, server: Program):
        client = self.scene.client(server)
        self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        return client

    def wait_for_file(self, client, name: str, content: bytes) -> None:
        eventually(lambda: client.ask(name) == content, "the file is served")

    @unittest.skipIf(SANITIZED, "a sanitizer has memory of its own for each object")
    def test_an_idle_connection_takes_less_than_3_kib_and_no_thread(self) -> None:
        server = self.start("--loops", 1)
        first = self.logged_in(server)  # so the loop has begun
        before, threads_before = resident_bytes(server.pid), threads(server.pid)
        clients = [self.logged_in(server) for _ in range(_IDLE)]
        grown = resident_bytes(server.pid) - before
        self.assertLess(grown / _IDLE, 3 * _KIB)
        self.assertEqual(threads(server.pid), threads_before)
        self.scene.write("late", b"x" * 2_000)
        for client in (first, clients[0], clients[-1]):  # they are still logged in
            self.wait_for_file(client, "late", b"x" * 2_000)

    def test_an_end_that_comes_with_the_last_bytes_is_seen(self) -> None:
        server = self.start()
        client = self.logged_in(server)  # so it is watched
        client.send("get:alice:wonderland\n" * 200)
        client.half_close()
        self.assertEqual(client.rest(), b"OK\n" * 200)

    def test_all_idle_connections_of_a_loop_are_closed(self) -> None:
        server = self.start("--loops", 1, "--idle-timeout", 1)
        clients = [self.logged_in(server) for _ in range(5)]
        self.assertEqual([client.rest() for client in clients], [b""] * 5)

    def test_connections_of_one_client_are_spread_over_the_loops(self) -> None:
        server = self.start("--loops", 3)
        for _ in range(90):
            self.scene.client(server)
        eventually(lambda: sum(connections_of_loops(server.pid)) >= 90, "all are accepted")
        # Not 30: a loop that stands still, as on a busy machine, gets no new connection.
        self.assertGreaterEqual(min(connections_of_loops(server.pid)), 10)

    def test_one_client_with_many_requests_does_not_keep_another_waiting(self) -> None:
        self.scene.write("small", b"x" * 1_000)
        server = self.start("--loops", 1)
        busy, other = self.logged_in(server), self.logged_in(server)
        count = 100_000
        sending = threading.Thread(target=busy.send, args=(b"small\n" * count,), daemon=True)
        sending.start()
        taken = threading.Event()
        received = 0

        def receive() -> None:
            nonlocal received
            while received < count * 1_008 and (some := busy.socket.recv(1 << 16)):
                received += len(some)
                taken.set()

        receiving = threading.Thread(target=receive, daemon=True)
        receiving.start()
        self.assertTrue(taken.wait(30))
        self.assertEqual(other.ask("small"), b"x" * 1_000)
        at_answer = received
        receiving.join()
        sending.join()
        self.assertEqual(received, count * 1_008)  # "OK 1000\n" before each
        self.assertLess(at_answer, received)

    @unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
    def test_without_memory_for_contexts_new_clients_are_busy_and_others_wait(self) -> None:
        mark = self.scene.folder / "no stacks"
        preloaded = {"LD_PRELOAD": self.library(_NO_STACKS), "NO_STACKS": str(mark)}
        server = self.start("--loops", 1, env=preloaded)
        self.logged_in(server)  # so the loop has begun
        mark.touch()
        halves = []
        while "no memory for another context" not in server.log():
            halves.append(self.scene.client(server))
            halves[-1].send("get:alice:won")
            self.assertLess(len(halves), 1_000)
            time.sleep(0.02)  # so that a server on a busy machine is not far behind
        self.assertEqual(self.scene.client(server).reply(), "busy")
        for client in halves:
            with suppress(OSError):  # one of the last may have been refused
                client.send("derland\n")
        replies = Counter(client.reply() for client in halves)
        self.assertEqual(replies["OK"] + replies["busy"], len(halves), replies)
        self.assertGreater(replies["OK"], 2)
        self.logged_in(server)

    def test_a_disk_that_hangs_holds_up_nobody_who_is_served_from_memory(self) -> None:
        large = bytes(range(256)) * 4096
        self.scene.write("disk/large", large)
        self.scene.write("small", b"in memory")
        server = self.start("--loops", 1, "--memory-limit", "512K", env=self.hung_disk())
        waiting = [self.logged_in(server) for _ in range(3)]
        self.mark.touch()
        for client in waiting:
            client.send("disk/large\n")
        other = self.logged_in(server)
        for _ in range(50):
            self.assertEqual(other.ask("small"), b"in memory")
        self.mark.unlink()
        self.assertEqual([client.reply() for client in waiting], [large] * 3)

    def test_a_file_that_cannot_be_closed_holds_up_neither_the_loop_nor_the_end(self) -> None:
        self.scene.write("disk/large", large := bytes(1 << 20))
        self.scene.write("small", b"in memory")
        flags = ("--loops", 1, "--memory-limit", "512K", "--drain-seconds", "0.3")
        server = self.start(*flags, env=self.hung_disk())
        client = self.logged_in(server)
        with self.hanging("close"):
            self.assertEqual(client.ask("disk/large"), large)
            self.wait_until_hung(server, "close")
            for one in (client, self.logged_in(server)):
                self.assertEqual(one.ask("small"), b"in memory")
            self.assertLess(time_s(lambda: self.assertEqual(server.stop(), 0)), LONG_S / 2)
        self.assertIn("stopped while files are not closed yet", server.log())

    def begun_upload(self, *fields: str) -> str:
        """The path of an upload in parts without bytes, which another server has begun."""
        server = self.start(*FOLDER)
        client = self.scene.keep(HttpClient(server, *USER))
        of_new = ("Upload-Length: 3", "Upload-Metadata: filename YQ==")
        path = client.ask("/-/tus/", *fields, *of_new, method="POST").fields["location"]
        self.assertEqual(server.stop(), 0)
        return path

    @for_each(("parts", "trash"))
    def test_no_loop_closes_what_an_upload_has_open(self, what: str) -> None:
        self.scene.write("small", b"in memory")
        self.scene.write("old", b"old")
        hung = self.hung_disk()
        fields: tuple[str, ...] = ()
        target, method, body = "/old", "PUT", b"new"
        hung["HUNG_DISK"] = f"{self.scene.root}/.turnstile-trash/"  # not the folder itself
        if what == "parts":
            fields, method, body = ("Tus-Resumable: 1.0.0",), "HEAD", b""
            target = self.begun_upload(*fields)
            name = target.rpartition("/")[2]
            hung["HUNG_DISK"] = f"{self.scene.root}/.turnstile-upload-parts/{name}$"
        server = self.start(*FOLDER, "--loops", 1, "--trash", 7, env=hung)
        uploads = self.scene.keep(HttpClient(server, *USER))
        with self.hanging("close"):
            uploads.send(request(target, *uploads._credentials, *fields, method=method, body=body))
            self.wait_until_hung(server, "close")
            client = self.logged_in(server)
            for _ in range(5):
                self.assertEqual(client.ask("small"), b"in memory")
        self.assertIn(uploads.answer(method).status, (200, 204))

    def test_a_loop_that_is_held_up_gets_no_new_connection(self) -> None:
        self.scene.write("disk/large", bytes(1 << 20))
        self.scene.write("small", b"in memory")
        server = self.start("--loops", 2, "--memory-limit", "512K", env=self.hung_disk())
        with self.hanging("loop"):
            self.logged_in(server).send("disk/large\n")
            self.wait_until_hung(server, "loop")
            time.sleep(0.5)  # so that it has stood still for a while
            for _ in range(20):
                self.assertEqual(self.logged_in(server).ask("small"), b"in memory")

    @for_each(itertools.product((1, 2), ("read", "open", "look")))
    def test_who_needs_no_disk_that_hangs_is_answered(self, case: tuple[int, str]) -> None:
        loops, kind = case
        self.scene.write("disk/large", bytes(1 << 20))
        self.scene.write("other/file", b"elsewhere")
        self.scene.write("other/large", large := bytes(1 << 20))
        flags = ("--loops", loops, "--memory-limit", "512K")
        server = self.start(*FOLDER, *flags, env=self.hung_disk())
        hung = [self.scene.keep(HttpClient(server, *USER)) for _ in range(2 * _HELPERS)]
        with self.hanging(kind):
            for client in hung:
                client.send(request("/disk/large", *client._credentials))
            self.wait_until_hung(server, kind)
            self.assert_others_are_answered(server, f"/other/{loops}-{kind}", large)

    def assert_others_are_answered(self, server: Program, new: str, large: bytes) -> None:
        client = self.scene.keep(HttpClient(server, *USER))
        self.assertEqual(client.ask("/other/file").body, b"elsewhere")
        self.assertEqual(client.ask("/other/large").body, large)
        self.assertEqual(client.ask("/no-file").status, 404)
        self.assertIn(b"file", client.ask("/other/").body)
        self.assertEqual(client.ask(new, method="PUT", body=b"x").status, 201)
        found = client.ask("/other/", "Depth: 1", method="PROPFIND")
        self.assertIn(new.encode(), found.body)

    @for_each(itertools.product((1, 2), ("read", "open", "look", "close")))
    def test_who_needs_no_file_system_of_fuse_that_hangs_is_answered(
        self, case: tuple[int, str]
    ) -> None:
        loops, kind = case
        name = f"{loops}-{kind}"
        (folder := self.scene.root / name).mkdir()
        self.scene.write("other/file", b"elsewhere")
        self.scene.write("other/large", large := bytes(1 << 20))
        self.mark = self.scene.folder / name
        said = fuse_mounts.hung(self, folder, self.mark)
        server = self.start(*FOLDER, "--loops", loops, "--memory-limit", "512K")
        hung = [self.scene.keep(HttpClient(server, *USER)) for _ in range(2 * _HELPERS)]
        with self.hanging(kind):
            for client in hung:
                client.send(request(f"/{name}/large", *client._credentials))
            if kind == "close":
                self.assert_large(hung)
            eventually(lambda: kind in said.read_text(), f"{kind} hangs")
            self.assert_others_are_answered(server, f"/other/{name}", large)
        if kind != "close":
            self.assert_large(hung)

    def assert_large(self, clients: list[HttpClient]) -> None:
        for client in clients:
            self.assertEqual(len(client.answer().body), hung_fuse.SIZE)

    def test_a_user_has_four_long_changes_at_once(self) -> None:
        self.scene.write("disk/folder/file", b"x")
        (other := self.scene.root / "other").mkdir()
        server = self.start(*FOLDER, "--loops", 1, env=self.hung_disk())
        copies = [self.scene.keep(HttpClient(server, *USER)) for _ in range(20)]

        def begun() -> int:
            return sum(1 for _ in other.glob(".turnstile-upload-*"))

        with self.hanging("open"):
            for i, client in enumerate(copies):
                fields = (*client._credentials, f"Destination: /other/{i}/")
                client.send(request("/disk/folder/", *fields, method="COPY"))
            eventually(lambda: begun() >= 4, "four have begun")
            time.sleep(0.3)
            self.assertEqual(begun(), 4)
        self.assertEqual({client.answer("COPY").status for client in copies}, {201})

    @for_each(("thread", "event"))
    def test_what_is_not_there_waits_behind_no_long_change(self, model: str) -> None:
        self.scene.write(f"disk/{model}/file", b"x")
        (other := self.scene.root / model).mkdir()
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        flags = (*FOLDER, "--model", model)
        server = self.scene.fileserver(authserver, *flags, env=self.hung_disk())
        copies = [self.scene.keep(HttpClient(server, *USER)) for _ in range(7)]

        def begun() -> int:
            return sum(1 for _ in other.glob(".turnstile-upload-*"))

        with self.hanging("open"):
            for i, client in enumerate(copies):
                fields = (*client._credentials, f"Destination: /{model}/{i}/")
                client.send(request(f"/disk/{model}/", *fields, method="COPY"))
            eventually(lambda: begun() == 4, "four have begun")
            client = self.scene.keep(HttpClient(server, *USER))
            (other / "file").touch()
            for name, method, field, status in (
                ("none/", "DELETE", "Depth: infinity", 404),
                ("file/", "DELETE", "Depth: infinity", 404),
                ("", "DELETE", 'If-Match: "x"', 412),
                ("none", "COPY", f"Destination: /{model}/new", 404),
                ("file", "COPY", f"Destination: /{model}/none/new", 409),
            ):
                answer = client.ask(f"/{model}/{name}", field, method=method)
                self.assertEqual(answer.status, status, (name, method))
        self.assertEqual({client.answer("COPY").status for client in copies}, {201})

    def test_copies_that_take_long_keep_nobody_from_short_changes(self) -> None:
        self.scene.write("disk/folder/file", b"x")
        (self.scene.root / "other").mkdir()
        server = self.start(*FOLDER, "--loops", 1, env=self.hung_disk())
        copies = [self.scene.keep(HttpClient(server, *USER)) for _ in range(_HELPERS + 8)]
        with self.hanging("open"):
            for i, client in enumerate(copies):
                fields = (*client._credentials, f"Destination: /other/{i}/")
                client.send(request("/disk/folder/", *fields, method="COPY"))
            self.wait_until_hung(server, "open")
            client = self.scene.keep(HttpClient(server, *USER))
            self.assertEqual(client.ask("/new", method="PUT", body=b"x").status, 201)
            self.assertEqual(client.ask("/new", "Destination: /newer", method="MOVE").status, 201)
            self.assertEqual(client.ask("/newer", method="DELETE").status, 204)
            self.assertEqual(client.ask("/folder/", method="MKCOL").status, 201)
        self.assertEqual({client.answer("COPY").status for client in copies}, {201})

    def test_uploads_that_hang_keep_nobody_who_reads_or_uploads_elsewhere(self) -> None:
        (self.scene.root / "disk").mkdir()
        self.scene.write("other/file", b"x")
        server = self.start(*FOLDER, "--loops", 1, env=self.hung_disk())
        uploads = [HttpClient(server, *USER) for _ in range(_HELPERS + 8)]
        for client in uploads:
            self.scene.keep(client)
        self.mark.touch()
        for i, client in enumerate(uploads):
            body = ("Content-Length: 1", *client._credentials)
            client.send(request(f"/disk/{i}", *body, method="PUT", body=b"x"))
        other = self.scene.keep(HttpClient(server, *USER))
        self.assertEqual(other.ask("/no-file").status, 404)
        self.assertIn(b"file", other.ask("/other/").body)
        self.assertEqual(other.ask("/other/new", method="PUT", body=b"x").status, 201)
        self.mark.unlink()
        self.assertEqual({client.answer("PUT").status for client in uploads}, {201})
