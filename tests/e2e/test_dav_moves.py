"""MOVE: what a client may rely on, and what MOVE and COPY refuse."""

import os
import threading

from client import ConnectionEndedError
from http_client import request
from moves_scene import KINDS, MovesTest
from scene import for_each, with_loops
from upload_scene import HIDDEN


class MoveTest(MovesTest):
    @for_each(KINDS)
    def test_a_moved_file_has_its_new_name_alone_on_both_fronts(self, kind: tuple) -> None:
        server = self.start("--files", kind[0], "--model", kind[1])
        client, native = self.http(server), self.native(server)
        here = "-".join(kind)
        self.put(client, here, b"moved")
        tag = client.ask(f"/{here}").fields["etag"]
        self.assertEqual(native.ask(here), b"moved")
        answer = self.move(client, here, f"{here}-2")
        self.assertEqual((answer.status, answer.closes()), (201, False))
        self.check_gone(client, native, here)
        self.assertEqual(native.ask(f"{here}-2"), b"moved")
        got = client.ask(f"/{here}-2")
        self.assertEqual((got.status, got.body, got.fields["etag"]), (200, b"moved", tag))
        client.ask(f"/{here}.d", method="MKCOL")
        self.put(client, f"{here}.d/old", b"replaced")
        self.assertEqual(client.ask(f"/{here}.d/old").body, b"replaced")
        self.assertEqual(self.move(client, f"{here}-2", f"{here}.d/old").status, 204)
        self.check_gone(client, native, f"{here}-2")
        self.assertEqual(client.ask(f"/{here}.d/old").body, b"moved")
        self.assertEqual(native.ask(f"{here}.d/old"), b"moved")

    @for_each(KINDS)
    def test_a_moved_folder_leaves_no_name_behind(self, kind: tuple) -> None:
        server = self.start("--files", kind[0], "--model", kind[1])
        client, native = self.http(server), self.native(server)
        here = "-".join(kind)
        client.ask(f"/{here}", method="MKCOL")
        client.ask(f"/{here}/deep", method="MKCOL")
        content = {name: name.encode() * 9 for name in ("a", "deep/b", "deep/c")}
        for name, data in content.items():
            self.put(client, f"{here}/{name}", data)
        self.check_there(client, native, here, content)
        self.assertEqual(self.move(client, f"{here}/", f"{here}-2/").status, 201)
        self.check_gone(client, native, *(f"{here}/{name}" for name in content))
        self.check_there(client, native, f"{here}-2", content)
        old = self.tree(f"{here}-3", 5)
        self.check_there(client, native, f"{here}-3", old)
        self.assertEqual(self.move(client, f"{here}-2", f"{here}-3").status, 204)
        self.check_gone(client, native, *(f"{here}-3/{name}" for name in old))
        self.check_gone(client, native, *(f"{here}-2/{name}" for name in content))
        self.check_there(client, native, f"{here}-3", content)
        self.assertEqual([name for name in self.names() if HIDDEN in name], [])

    def test_a_folder_of_thousands_of_files_in_memory_is_moved_at_once(self) -> None:
        for i in range(3000):
            self.scene.write(f"many/{i % 30}/{i}", b"%d" % i)
        server = self.start()
        client, native = self.http(server), self.native(server)
        self.assertEqual(native.ask("many/7/7"), b"7")
        self.assertEqual(self.move(client, "many", "more").status, 201)
        for i in range(0, 3000, 7):
            self.assertEqual(native.ask(f"many/{i % 30}/{i}"), "not-found")
            self.assertEqual(native.ask(f"more/{i % 30}/{i}"), b"%d" % i)
        self.assertEqual(client.ask("/more/", method="DELETE").status, 204)
        for i in range(0, 3000, 7):
            self.assertEqual(native.ask(f"more/{i % 30}/{i}"), "not-found")
        self.assertEqual(self.names(), [])

    def test_no_two_versions_of_a_name_have_one_tag(self) -> None:
        client = self.http(self.start())
        self.scene.write("old", b"12345")
        self.scene.write("new", b"54321")
        for name in ("old", "new"):
            os.utime(self.scene.root / name, (1_000_000_000, 1_000_000_000))
        tag = client.ask("/old").fields["etag"]
        self.assertEqual(client.ask("/new").fields["etag"], tag)
        self.assertEqual(self.move(client, "new", "old").status, 204)
        got = client.ask("/old", f"If-None-Match: {tag}")
        self.assertEqual((got.status, got.body), (200, b"54321"))
        # A name that was removed meanwhile.
        first = self.put(client, "x", b"12345")
        self.assertEqual(client.ask("/x", method="DELETE").status, 204)
        times = os.stat(self.scene.root / "old").st_mtime_ns
        self.assertEqual(self.move(client, "old", "x").status, 201)
        self.assertNotEqual(client.ask("/x").fields["etag"], first.fields["etag"])
        self.assertNotEqual(times, 0)

    def test_a_moved_file_keeps_its_time_where_no_version_had_it(self) -> None:
        client = self.http(self.start())
        self.scene.write("photo", b"x")
        os.utime(self.scene.root / "photo", (1_000_000_000.25, 1_000_000_000.25))
        self.assertEqual(self.move(client, "photo", "renamed").status, 201)
        self.assertEqual(os.stat(self.scene.root / "renamed").st_mtime, 1_000_000_000.25)

    def test_two_names_of_one_file_become_one(self) -> None:
        client = self.http(self.start())
        os.link(self.scene.write("a", b"x"), self.scene.root / "b")
        self.assertEqual(self.move(client, "a", "b").status, 204)
        self.assertEqual(self.names(), ["b"])

    @for_each(("prefetch", "disk"))
    def test_a_reader_sees_the_old_file_or_the_new_one(self, mode: str) -> None:
        server = self.start("--files", mode)
        client = self.http(server)
        bodies = {bytes([65 + i]) * 50_000 for i in range(20)}
        self.put(client, mode, b"A" * 50_000)
        ended = threading.Event()
        seen: set[bytes] = set()
        wrong: list[object] = []

        def read() -> None:
            reader = self.http(server)
            while not ended.is_set():
                try:
                    answer = reader.ask(f"/{mode}")
                except ConnectionEndedError:  # cut, as of a file that changes
                    reader = self.http(server)
                    continue
                seen.add(answer.body)
                if answer.status != 200 or answer.body not in bodies:
                    wrong.append((answer.status, answer.body[:100]))

        reading = threading.Thread(target=read)
        reading.start()
        try:
            for body in sorted(bodies):
                self.put(client, f"{mode}.new", body)
                self.assertEqual(self.move(client, f"{mode}.new", mode).status, 204)
                self.assertEqual(client.ask(f"/{mode}").body, body)
        finally:
            ended.set()
            reading.join()
        self.assertEqual(wrong, [])
        self.assertGreater(len(seen), 1)

    @for_each(("thread", "event"))
    def test_of_moves_to_one_name_that_must_be_new_one_wins(self, model: str) -> None:
        server = self.start("--model", model)
        clients = [self.http(server) for _ in range(6)]
        for i in range(len(clients)):
            self.tree(f"{model}-{i}")
        answers: dict[int, int] = {}

        def move(i: int) -> None:
            answers[i] = self.move(clients[i], f"{model}-{i}", model, "Overwrite: F").status

        threads = [threading.Thread(target=move, args=(i,)) for i in range(len(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers.values()), [201] + [412] * 5)
        left = [i for i in sorted(answers) if (self.scene.root / f"{model}-{i}").exists()]
        self.assertEqual(left, sorted(i for i in answers if answers[i] == 412))

    def test_a_folder_that_is_moved_during_an_upload_gets_no_ghost(self) -> None:
        server = self.start()
        client, native, other = self.http(server), self.native(server), self.http(server)
        client.ask("/q1", method="MKCOL")
        fields = (*client._credentials, "Content-Length: 10")
        client.send(request("/q1/x", *fields, method="PUT") + b"12345")
        self.assertEqual(self.move(other, "q1", "q2").status, 201)
        client.send(b"67890")
        self.assertEqual(client.answer("PUT").status, 409)
        self.check_gone(other, native, "q1/x", "q2/x")
        self.assertEqual(self.names(), ["q2"])

    def test_a_kill_leaves_the_old_file_or_the_new_one(self) -> None:
        for i in range(5):
            server = self.start()
            client = self.http(server)
            self.put(client, f"{i}", b"old")
            self.put(client, f"{i}.new", b"new")
            fields = (*client._credentials, f"Destination: /{i}")
            client.send(request(f"/{i}.new", *fields, method="MOVE"))
            server.kill()
            old = (self.scene.root / f"{i}").read_bytes()
            is_moved = not (self.scene.root / f"{i}.new").exists()
            self.assertEqual(old, b"new" if is_moved else b"old")


@with_loops
class RefusalsTest(MovesTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = self.start()
        self.client = self.http(self.server)
        self.scene.write("a", b"a")
        self.scene.write("b", b"b")
        self.scene.write("folder/sub/x", b"x")
        os.symlink("a", self.scene.root / "link")
        os.symlink("folder", self.scene.root / "to-folder")
        os.mkfifo(self.scene.root / "fifo")

    @for_each(("MOVE", "COPY"))
    def test_what_is_refused_changes_nothing(self, method: str) -> None:
        """destination_test.cpp has all forms of a destination."""
        before = self.names()
        for source, status, *fields in (
            ("/a", 400),
            ("/a", 400, "Destination: b"),
            ("/a", 400, "Destination: //localhost/b"),
            ("/a", 400, "Destination: ftp://localhost/b"),
            ("/a", 400, "Destination: /../b"),
            ("/a", 400, "Destination: /c%"),
            ("/a", 400, "Destination: /c%00"),
            ("/a", 400, "Destination: /c#d"),
            ("/a", 400, "Destination: /c", "Destination: /d"),
            ("/a", 400, "Destination: /c", "Overwrite: x"),
            ("/a", 400, "Destination: /c", "Overwrite: T", "Overwrite: T"),
            ("/a", 400, "Destination: /c", "Overwrite: "),
            ("/a", 400, "Destination: /c", "Overwrite: TF"),
            ("/a", 400, "Destination: /c", "Depth: 1"),
            ("/a", 400, "Destination: /c", "Depth: "),
            ("/a", 400, "Destination: /c", "Depth: 0", "Depth: infinity"),
            ("/a", 400, "Destination: "),
            ("/a", 400, "Destination: *"),
            ("/a", 400, "Destination: /%2e%2e/c"),
            ("/a", 400, "Destination: /folder/..%2f..%2fc"),
            ("/a", 400, "Destination: /c%0d%0aX-Y:%20z"),
            ("/a", 502, "Destination: http://localhost@evil/c"),
            ("/a", 502, "Destination: http://localhost.evil/c"),
            ("/a", 502, "Destination: http://127.0.0.1/c"),
            ("/a", 502, "Destination: http://y/c"),
            ("/a", 502, "Destination: http://localhost:81/c"),
            ("/a", 502, "Destination: http:///c"),
            ("/a", 403, "Destination: /-/c"),
            ("/a", 403, "Destination: /-"),
            ("/a", 403, "Destination: /%2d/c"),
            ("/a", 403, "Destination: /-/sha256/a"),
            ("/a", 403, "Destination: /%61"),
            ("/a", 403, "Destination: http://localhost"),
            ("/a", 403, "Destination: http://localhost?@evil/c"),
            ("/a", 403, "Destination: /a"),
            ("/a", 403, "Destination: http://localhost/a"),
            ("/a", 403, "Destination: /"),
            ("/", 403, "Destination: /c"),
            ("/folder/", 403, "Destination: /folder/"),
            ("/folder", 403, "Destination: /folder/sub/new"),
            ("/folder", 403, "Destination: /to-folder/new"),
            ("/folder/sub", 403, "Destination: /folder"),
            ("/no", 404, "Destination: /c"),
            ("/a/", 404, "Destination: /c"),
            ("/a/b", 404, "Destination: /c"),
            ("/no/b", 404, "Destination: /c"),
            ("/fifo", 404, "Destination: /c"),
            ("/%00", 404, "Destination: /c"),
            ("/.turnstile-upload-1", 404, "Destination: /c"),
            ("/a", 409, "Destination: /no/c"),
            ("/a", 409, "Destination: /c/"),
            ("/a", 409, "Destination: /b/c"),
            ("/a", 409, "Destination: /fifo"),
            ("/folder", 409, "Destination: /fifo"),
            ("/a", 409, "Destination: /none%2fc"),
            ("/a", 409, f"Destination: /{256 * 'n'}"),
            ("/a", 409, f"Destination: {1000 * '/d'}"),
            ("/a", 409, f"Destination: /{6000 * 'x'}"),
            ("/a", 431, f"Destination: /{20_000 * 'x'}"),
            ("/a", 409, "Destination: /.turnstile-upload-1"),
            ("/a", 409, "Destination: /%2eturnstile-upload-1"),
            ("/a", 409, "Destination: /.turnstile-upload-1/c"),
            ("/a", 412, "Destination: /b", "Overwrite: F"),
            ("/a", 412, "Destination: /folder", "Overwrite: f"),
            ("/folder", 412, "Destination: /b", "Overwrite: F"),
            ("/a", 412, "Destination: /c", 'If-Match: "x"'),
            ("/a", 412, "Destination: /c", "If-None-Match: *"),
            ("/folder", 412, "Destination: /c", 'If-Match: "x"'),
        ):
            with self.subTest(source=source, fields=[field[:60] for field in fields]):
                client = self.http(self.server)
                answer = client.ask(source, *fields, method=method)
                self.assertEqual(answer.status, status)
                self.assertNotIn("x-y", answer.fields)
                self.assertEqual(self.names(), before)

    def test_only_a_move_takes_all_of_a_folder_and_no_link(self) -> None:
        before = self.names()
        client = self.http(self.server)
        answer = self.move(client, "folder", "c", "Depth: 0")
        self.assertEqual(answer.status, 400)
        for name in ("link", "to-folder"):
            self.assertEqual(self.move(self.client, name, "c").status, 403)
        self.assertEqual(self.names(), before)

    def test_the_destination_may_be_a_uri_of_this_server(self) -> None:
        for i, uri in enumerate(
            (
                "http://localhost/",
                "https://LOCALHOST/",
                "HTTP://localhost:80/",
                "https://localhost:443/",
                "https://me:pw@localhost/",
                "http://localhost:/",
                "/",
            )
        ):
            name = "a" if i == 0 else f"a%20{i - 1}"
            answer = self.client.ask(f"/{name}", f"Destination: {uri}a%20{i}?q", method="MOVE")
            self.assertEqual(answer.status, 201, uri)
            self.assertEqual((self.scene.root / f"a {i}").read_bytes(), b"a")

    def test_without_uploads_nothing_moves(self) -> None:
        for uploads in ("off", "sink"):
            client = self.http(self.start("--uploads", uploads))
            for method in ("MOVE", "COPY"):
                answer = client.ask("/a", "Destination: /c", method=method)
                self.assertEqual(answer.status, 405)
                self.assertNotIn(method, answer.fields["allow"])
        allowed = self.client.ask("/a", method="OPTIONS").fields["allow"]
        self.assertIn("MOVE, COPY", allowed)
