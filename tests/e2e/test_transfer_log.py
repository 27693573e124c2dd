"""--transfer-log: one line of JSON for each file that was asked for."""

import random
import socket
import time

from client import Client, ConnectionEndedError, grant
from dav_client import lock, lock_info, token_of, unlock
from http_client import FLAG as HTTP
from http_client import HttpClient, basic, request
from peers import Peer
from programs import Program, run
from scene import SceneTest, for_each, with_loops
from transfer_lines import Line, lines_of, wait_for_lines
from waiting import eventually

BIG = 32_000_000
USER = ("alice", "wonderland")
MODES = ("prefetch", "disk")
SENT = ["result", "asked", "first_byte", "last_byte", "bytes", "size", "client", "name"]
NOT_SENT = ["result", "asked", "bytes", "client", "name"]
TICK_S = 0.001  # the times of a line are computed from two clocks


@with_loops
class TransferLogTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.scene.folder / "transfers.json"

    def serve(self, *flags: object, **options) -> Program:
        authserver = self.scene.authserver_of_alice()
        return self.scene.fileserver(authserver, "--transfer-log", self.log, *flags, **options)

    def granted(self, server: Program, **options) -> Client:
        client = self.scene.client(server, **options)
        grant(client)
        return client

    def lines(self, count: int) -> list[Line]:
        return wait_for_lines(self.log, count)

    @for_each(MODES)
    def test_a_line_says_what_was_asked_for_and_what_came_of_it(self, mode: str) -> None:
        self.log.unlink(missing_ok=True)
        files = {"a": b"hello", "sub/b": bytes(200_000), "empty": b""}
        for name, content in files.items():
            self.scene.write(name, content)
        server = self.serve("--files", mode)
        before = time.time()
        client = self.scene.client(server)
        self.assertEqual(client.ask("a"), "denied")
        grant(client)
        for name, content in files.items():
            self.assertEqual(client.ask(name), content)
        for name in ("missing", "../a", "sub"):
            self.assertEqual(client.ask(name), "not-found")
        self.assertEqual(client.ask("ping"), "OK")
        self.assertEqual(server.stop(), 0)
        denied, *sent, missing, outside, folder = self.lines(len(files) + 4)
        for line, name, result in (
            (denied, "a", "denied"),
            (missing, "missing", "not-found"),
            (outside, "../a", "not-found"),
            (folder, "sub", "not-found"),
        ):
            self.assertEqual(list(line), NOT_SENT)
            self.assertEqual((line["name"], line["result"], line["bytes"]), (name, result, 0))
        self.assertEqual([line["name"] for line in sent], list(files))
        for line in sent:
            size = len(files[line["name"]])
            self.assertEqual(list(line), SENT)
            self.assertEqual((line["result"], line["bytes"], line["size"]), ("ok", size, size))
            self.assertEqual(line["client"], "127.0.0.1")
            times = [line["asked"], line["first_byte"], line["last_byte"]]
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[0], before - TICK_S)
            self.assertLess(times[2], time.time() + TICK_S)

    def test_http_writes_the_same_lines_and_those_of_changes(self) -> None:
        server = self.serve(*HTTP, "--uploads", "folder", "--max-upload", "100K")
        body = random.randbytes(70_000)
        asked: tuple[tuple[tuple[str, str, bytes], int, dict[str, object]], ...] = (
            (("/a", "PUT", body), 201, {"change": "put", "bytes": 70_000, "size": 70_000}),
            (("/a", "GET", b""), 200, {"bytes": 70_000, "size": 70_000}),
            (("/f", "MKCOL", b""), 201, {"change": "mkcol", "bytes": 0}),
            (("/f/a", "DELETE", b""), 404, {"change": "delete", "result": "not-found"}),
            (("/none/a", "PUT", b"x"), 409, {"change": "put", "result": "exists", "bytes": 0}),
            (("/a", "DELETE", b""), 204, {"change": "delete", "bytes": 0}),
            (("/new", "LOCK", lock_info()), 201, {"change": "put", "bytes": 0, "size": 0}),
            (("/", "PUT", b"x"), 409, {"change": "put", "result": "exists", "bytes": 0}),
            (("/a", "PUT", bytes(100_001 + 2400)), 413, {"change": "put", "result": "too-long"}),
        )
        for (path, method, content), status, _ in asked:
            http = self.scene.keep(HttpClient(server, *USER))
            self.assertEqual(http.ask(path, method=method, body=content).status, status)
        lines = self.lines(len(asked))
        for ((path, *_), _, differs), line in zip(asked, lines, strict=True):
            with self.subTest(path=path, **differs):
                usual = {"result": "ok", "name": path[1:], "client": "127.0.0.1"}
                expected = {**usual, **differs}
                self.assertEqual({key: line[key] for key in expected}, expected)
                self.assertEqual("change" in line, "change" in expected)
        times = [lines[0][key] for key in ("asked", "first_byte", "last_byte")]
        self.assertEqual(times, sorted(times))

    def test_a_lock_of_a_file_that_is_there_is_a_line(self) -> None:
        self.scene.write("a", b"hello")
        server = self.serve(*HTTP, "--uploads", "folder")
        client = self.scene.keep(HttpClient(server, *USER))
        made = lock(client, "/a")
        self.assertEqual(made.status, 200)
        self.assertEqual(lock(client, "/a").status, 423)
        self.assertEqual(lock(client, "/none/a").status, 409)
        self.assertEqual(unlock(client, "/a", token_of(made)).status, 204)
        self.assertEqual(unlock(client, "/a", token_of(made)).status, 409)
        self.assertEqual(
            [(line["change"], line["result"], line["name"]) for line in self.lines(5)],
            [
                ("lock", "ok", "a"),
                ("lock", "exists", "a"),
                ("lock", "exists", "none/a"),
                ("unlock", "ok", "a"),
                ("unlock", "exists", "a"),
            ],
        )

    @for_each(MODES)
    def test_a_range_counts_as_bytes_of_its_file(self, mode: str) -> None:
        self.log.unlink(missing_ok=True)
        content = random.randbytes(100_000)
        self.scene.write("a", content)
        server = self.serve(*HTTP, "--files", mode)
        http = self.scene.keep(HttpClient(server, *USER))
        asked: tuple[tuple[str, int, int, list[list[int]] | None], ...] = (
            ("bytes=0-9", 206, 10, [[0, 9]]),
            ("bytes=0-9,100-109", 206, 20, [[0, 9], [100, 109]]),
            ("bytes=-1", 206, 1, [[99_999, 99_999]]),
            ("bytes=50-59,0-9,5-19", 206, 30, [[0, 19], [50, 59]]),
            ("lines=1-2", 200, 100_000, None),
        )
        for field, status, _, _ in asked:
            self.assertEqual(http.ask("/a", f"Range: {field}").status, status)
        for line, (_, _, size, ranges) in zip(self.lines(len(asked)), asked, strict=True):
            self.assertEqual((line["result"], line["bytes"]), ("ok", size))
            self.assertEqual((line["size"], line.get("range")), (len(content), ranges))

    @for_each(MODES)
    def test_a_range_that_is_cut_is_aborted(self, mode: str) -> None:
        self.log.unlink(missing_ok=True)
        self.scene.write("big", bytes(BIG))
        server = self.serve(*HTTP, "--files", mode)
        for ranges in ("bytes=10-", f"bytes=0-9,20-{BIG - 2}"):
            http = self.scene.keep(HttpClient(server, *USER, receive_buffer=1 << 16))
            http.send(request("/big", f"Authorization: {basic(*USER)}", f"Range: {ranges}"))
            self.assertEqual(http.interim(), 206)
            http.close()
        for line in self.lines(2):
            self.assertEqual((line["result"], line["size"]), ("aborted", BIG))
            self.assertLess(line["bytes"], BIG - 12)

    def test_what_sends_no_file_has_no_line(self) -> None:
        self.scene.write("a", b"content")
        http = self.scene.keep(HttpClient(self.serve(*HTTP), *USER))
        tag = http.ask("/a").fields["etag"]
        for method, path, field, status in (
            ("GET", "/a", f"If-None-Match: {tag}", 304),
            ("GET", "/a", 'If-Match: "x"', 412),
            ("GET", "/a", "Range: bytes=9-", 416),
            ("HEAD", "/a", "Accept: */*", 200),
            ("GET", "/", "Accept: */*", 200),
            ("GET", "/last", "Accept: */*", 404),
        ):
            self.assertEqual(http.ask(path, field, method=method).status, status)
        self.assertEqual([line["name"] for line in self.lines(2)], ["a", "last"])

    def test_an_upload_into_the_sink_is_a_line(self) -> None:
        server = self.serve(*HTTP, "--uploads", "sink", "--max-upload", "1K")
        http = self.scene.keep(HttpClient(server, *USER))
        self.assertEqual(http.ask("/a/b", method="PUT", body=b"x" * 1024).status, 204)
        self.assertEqual(http.ask("/..", method="PUT", body=b"x").status, 204)
        self.assertEqual(http.ask("/c", method="PUT", body=b"x" * 1025).status, 413)
        stored, refused = self.lines(2)
        found = {key: stored[key] for key in ("result", "change", "bytes", "size", "name")}
        usual = {"result": "ok", "change": "put", "bytes": 1024, "size": 1024, "name": "a/b"}
        self.assertEqual(found, usual)
        times = [stored[key] for key in ("asked", "first_byte", "last_byte")]
        self.assertEqual(times, sorted(times))
        self.assertEqual((refused["result"], refused["name"]), ("too-long", "c"))

    def test_an_upload_that_ends_early_is_a_line(self) -> None:
        server = self.serve(*HTTP, "--uploads", "folder")
        http = self.scene.keep(HttpClient(server, *USER))
        http.send(
            request("/a", f"Authorization: {basic(*USER)}", "Content-Length: 10", method="PUT")
            + b"abc"
        )
        http.half_close()
        (line,) = self.lines(1)
        found = {key: line[key] for key in ("result", "bytes", "change")}
        self.assertEqual(found, {"result": "syntax", "bytes": 3, "change": "put"})

    def test_a_line_has_the_address_of_the_client(self) -> None:
        server = self.serve()
        with socket.create_connection(server.address, source_address=("127.0.0.7", 0)) as client:
            client.sendall(b"a\n")
            self.assertTrue(client.recv(100))
        self.assertEqual([line["client"] for line in self.lines(1)], ["127.0.0.7"])

    @for_each(MODES)
    def test_the_first_and_the_last_byte_have_their_own_times(self, mode: str) -> None:
        self.log.unlink(missing_ok=True)
        self.scene.write("big", b"1" * BIG)
        client = self.granted(self.serve("--files", mode), receive_buffer=1 << 16)
        client.send("big\n")
        self.assertEqual(client.begin_file(), BIG)
        begun = time.time()
        self.assertEqual(self.log.read_bytes(), b"")
        client.take(BIG)
        (line,) = self.lines(1)
        self.assertLess(line["first_byte"], begun + TICK_S)
        self.assertGreater(line["last_byte"], begun - TICK_S)
        self.assertEqual((line["result"], line["bytes"]), ("ok", BIG))

    def test_an_upload_has_the_times_of_its_first_and_its_last_byte(self) -> None:
        http = self.scene.keep(HttpClient(self.serve(*HTTP, "--uploads", "sink"), *USER))
        fields = (f"Authorization: {basic(*USER)}", f"Content-Length: {BIG + 1}")
        http.send(request("/a", *fields, method="PUT") + bytes(BIG))
        begun = time.time()  # some has been read: it is more than the sockets hold
        time.sleep(100 * TICK_S)
        http.send(b"x")
        self.assertEqual(http.answer("PUT").status, 204)
        (line,) = self.lines(1)
        self.assertLess(line["first_byte"], begun + TICK_S)
        self.assertGreater(line["last_byte"], begun - TICK_S)

    @for_each(MODES)
    def test_a_client_that_leaves_in_the_middle_has_aborted(self, mode: str) -> None:
        self.log.unlink(missing_ok=True)
        self.scene.write("big", b"1" * BIG)
        client = self.granted(self.serve("--files", mode), receive_buffer=1 << 16)
        client.send("big\n")
        self.assertEqual(client.begin_file(), BIG)
        client.close()
        (line,) = self.lines(1)
        self.assertEqual((line["result"], line["size"]), ("aborted", BIG))
        self.assertLess(line["bytes"], BIG)
        self.assertGreater(line["bytes"], 0)

    def test_a_file_that_changes_while_it_is_sent_is_aborted(self) -> None:
        path = self.scene.write("big", b"1" * BIG)
        client = self.granted(self.serve("--files", "disk"), receive_buffer=1 << 16)
        client.send("big\n")
        self.assertEqual(client.begin_file(), BIG)
        path.write_bytes(b"2")
        with self.assertRaises(ConnectionEndedError):
            client.take(BIG)
        (line,) = self.lines(1)
        self.assertEqual((line["result"], line["size"]), ("aborted", BIG))
        self.assertLess(line["bytes"], BIG)

    def test_a_transfer_that_the_server_cuts_when_it_stops_is_in_the_log(self) -> None:
        self.scene.write("big", b"1" * BIG)
        server = self.serve("--drain-seconds", "0.2")
        client = self.granted(server, receive_buffer=1 << 16)
        client.send("big\n")
        self.assertEqual(client.begin_file(), BIG)
        self.assertEqual(server.stop(), 0)
        self.assertEqual([line["result"] for line in lines_of(self.log)], ["aborted"])

    def test_names_can_hold_any_bytes(self) -> None:
        names = [
            b'"',
            b"\\",
            b'","result":"ok","x":"',
            "ä€😀".encode(),
            "\u2028\u009b31m".encode(),
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b"a\xc3",
            b"\xef\xbf\xbd",
            b"\xff" * 511,
            "ä".encode() * 255,
        ]
        self.scene.write(names[1], b"there")
        client = self.granted(self.serve())
        for name in names:
            self.assertEqual(client.ask(name), b"there" if name == names[1] else "not-found")
        for line, name in zip(self.lines(len(names)), names, strict=True):
            try:
                self.assertEqual(line["name"], name.decode())
                self.assertNotIn("name_hex", line)
            except UnicodeDecodeError:
                self.assertIn("\ufffd", line["name"])
                self.assertEqual(bytes.fromhex(line["name_hex"]), name)

    def test_no_user_and_no_password_is_in_it(self) -> None:
        client = self.granted(self.serve())
        for line in ("get:alice:wonderland ", "new:bob:wonderland", "get:alice:wonderland", "a"):
            client.ask(line)
        self.lines(1)
        text = self.log.read_text()
        for secret in ("alice", "bob", "wonderland", "get:", "new:"):
            self.assertNotIn(secret, text)

    def test_only_the_owner_and_its_group_can_read_it(self) -> None:
        self.serve()
        self.assertEqual(self.log.stat().st_mode & 0o137, 0)

    def test_a_file_of_an_earlier_run_is_continued(self) -> None:
        self.log.write_bytes(b'{"result":"ok"}\n{"res')
        client = self.granted(self.serve())
        client.ask("missing")
        eventually(lambda: self.log.read_bytes().endswith(b"}\n"), "a line comes")
        first, torn, last = self.log.read_bytes().splitlines()
        self.assertEqual((first, torn), (b'{"result":"ok"}', b'{"res'))
        self.assertIn(b'"missing"', last)

    def test_what_waits_is_reported_when_a_request_never_ends(self) -> None:
        """The process ends while a thread still waits for the authserver."""
        self.log.write_bytes(b"{}\n" * 2000)
        peer = self.scene.keep(Peer(lambda line, _: b"OK\n" if b"alice" in line else None))
        server = self.scene.fileserver(
            peer, "--transfer-log", self.log, "--drain-seconds", "0.1", "--auth-timeout", "1000",
            prefix=["prlimit", "--fsize=6000"],
        )  # fmt: skip
        client = self.granted(server)
        self.assertEqual(client.ask_all([b"a"] * 3), ["not-found"] * 3)
        stuck = self.scene.client(server)
        stuck.send("get:bob:pw\n")
        peer.wait_for_lines(2)
        self.assertEqual(server.stop(), 0)
        self.assertIn("stopped while requests still wait", server.log())
        self.assertIn("lines were lost lines=3", server.log())


class TransferLogStartTest(SceneTest):
    def refused(self, log: object) -> str:
        flags = ("--listen", "127.0.0.1:0", "--root", self.scene.root)
        ended = run("fileserver", *flags, "--transfer-log", log)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        self.assertTrue(ended.stderr.startswith("fileserver: "), ended.stderr)
        return ended.stderr

    def test_a_file_that_cannot_be_opened_is_refused(self) -> None:
        missing = self.scene.folder / "missing" / "log"
        self.assertIn(f"{missing}: No such file or directory", self.refused(missing))
        self.assertIn("Is a directory", self.refused(self.scene.folder))

    def test_a_file_in_the_served_folder_is_refused(self) -> None:
        (self.scene.root / "sub").mkdir()
        (self.scene.folder / "link").symlink_to(self.scene.root / "sub")
        for log in (self.scene.root / "log", self.scene.folder / "link" / "log"):
            self.assertIn("served folder", self.refused(log))
        self.assertEqual(list(self.scene.root.rglob("*")), [self.scene.root / "sub"])
