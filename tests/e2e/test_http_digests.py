"""--http-listen: Want-Repr-Digest, and the lines of /-/sha256/."""

import base64
import hashlib
import os
import socket
import struct
import subprocess
import threading
from pathlib import Path

from http_client import FLAG, Answer, HttpClient, basic, request
from scene import SceneTest, SharedSceneTest, for_each, with_loops
from transfer_lines import wait_for_lines
from waiting import LONG_S, eventually, time_s

_SERVERS = {
    "prefetch": (),
    "disk": ("--files", "disk"),
    "over the limit": ("--memory-limit", "1K"),
}
_SMALL = b"0123456789"
_LARGE = bytes(range(256)) * 3000
_WANTED = "Want-Repr-Digest: sha-512=3, sha-256=10"
_A_DAY_AGO_S = 86_400
_USER = ("alice", "wonderland")
# Nobody reads so much in the time of a test. It has no bytes on the disk.
_ENDLESS = 1 << 42


def field_of(content: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(content).digest()).decode()}:"


def line_of(content: bytes, name: str) -> bytes:
    return f"{hashlib.sha256(content).hexdigest()}  {name}\n".encode("utf-8", "surrogateescape")


def without_date(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    """Nor what a multipart body has at random."""
    fields = {name: value for name, value in answer.fields.items() if name != "date"}
    if fields.get("content-type", "").startswith("multipart"):
        return answer.status, fields | {"content-type": ""}, b""
    return answer.status, fields, answer.body


@with_loops
class DigestsTest(SharedSceneTest):
    """All ways to serve files, with the same files."""

    @classmethod
    def prepare(cls) -> None:
        for name, content in (
            ("small.txt", _SMALL),
            ("large.bin", _LARGE),
            ("empty", b""),
            ("sub/a b+c%.bin", b"odd"),
            (b"caf\xe9", b"no UTF-8"),
            ("-/hidden", b"x"),
        ):
            path = cls.scene.write(name, content)
            time = int(path.stat().st_mtime) - _A_DAY_AGO_S
            os.utime(path, (time, time))
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.servers = {
            name: cls.scene.fileserver(authserver, *FLAG, *flags)
            for name, flags in _SERVERS.items()
        }

    def client(self, name: str, *account: str) -> HttpClient:
        client = HttpClient(self.servers[name], *(account or _USER))
        self.addCleanup(client.close)
        return client

    @for_each(_SERVERS)
    def test_a_file_and_its_parts_come_with_the_digest_of_the_whole(self, name: str) -> None:
        client = self.client(name)
        for path, content in (("/small.txt", _SMALL), ("/large.bin", _LARGE), ("/empty", b"")):
            for ranges in ((), ("Range: bytes=2-5",), ("Range: bytes=0-1,5-6",)):
                for method in ("GET", "HEAD"):
                    plain = client.ask(path, *ranges, method=method)
                    for _ in range(2):
                        answer = client.ask(path, *ranges, _WANTED, method=method)
                        digest = answer.fields.pop("repr-digest", None)
                        has_file = answer.status in (200, 206)
                        self.assertEqual(digest, field_of(content) if has_file else None)
                        self.assertEqual(without_date(answer), without_date(plain))

    @for_each(_SERVERS)
    def test_nobody_gets_a_digest_who_does_not_want_it_or_no_file(self, name: str) -> None:
        client = self.client(name)
        tag = client.ask("/small.txt").fields["etag"]
        for status, path, *fields in (
            (200, "/small.txt"),
            (200, "/small.txt", "Want-Repr-Digest: sha-256=0"),
            (200, "/small.txt", "Want-Repr-Digest: sha-512=1"),
            (200, "/small.txt", "Want-Content-Digest: sha-256=1"),
            (200, "/", _WANTED),
            (301, "/sub", _WANTED),
            (304, "/small.txt", _WANTED, f"If-None-Match: {tag}"),
            (404, "/none", _WANTED),
            (412, "/small.txt", _WANTED, 'If-Match: "x"'),
            (416, "/small.txt", _WANTED, "Range: bytes=10-"),
        ):
            answer = client.ask(path, *fields)
            self.assertEqual(answer.status, status, (path, fields))
            self.assertNotIn("repr-digest", answer.fields)

    @for_each(_SERVERS)
    def test_the_line_is_that_of_sha256sum(self, name: str) -> None:
        client = self.client(name)
        for path, file, content in (
            ("small.txt", "small.txt", _SMALL),
            ("large.bin", "large.bin", _LARGE),
            ("empty", "empty", b""),
            ("sub/a%20b+c%25.bin?query", "sub/a b+c%.bin", b"odd"),
            ("caf%e9", "caf\udce9", b"no UTF-8"),
        ):
            answer = client.ask(f"/-/sha256/{path}")
            self.assertEqual((answer.status, answer.body), (200, line_of(content, file)))
            self.assertTrue(answer.fields["content-type"].startswith("text/plain"))
            head = client.ask(f"/-/sha256/{path}", method="HEAD")
            self.assertEqual(head.fields | {"date": ""}, answer.fields | {"date": ""})
            command = ["sha256sum", "--check", "--strict", "--status"]
            checked = subprocess.run(command, input=answer.body, cwd=self.scene.root)
            self.assertEqual(checked.returncode, 0, path)

    @for_each(_SERVERS)
    def test_it_is_refused_as_the_file_is(self, name: str) -> None:
        client, stranger = self.client(name), self.client(name, "alice", "wrong")
        names = (
            "none",
            "sub",
            "sub/",
            "",
            "-/hidden",
            "a%5cb",
            "a%0ab",
            "../small.txt",
            "-/health",
        )
        for path in names:
            self.assertEqual(client.ask(f"/-/sha256/{path}").status, 404, path)
        for path in ("small.txt", "none", "sub/"):
            self.assertEqual(stranger.ask(f"/-/sha256/{path}").status, 401, path)
        for method in ("PUT", "DELETE", "POST"):
            answer = client.ask("/-/sha256/small.txt", method=method)
            self.assertEqual((answer.status, answer.fields["allow"]), (405, "GET, HEAD, OPTIONS"))
        self.assertEqual(stranger.ask("/-/sha256/small.txt", method="OPTIONS").status, 204)


class ChangingFileTest(SceneTest):
    def serve(self, *flags: object) -> None:
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.server = self.scene.fileserver(self.authserver, *FLAG, *flags)

    def client(self) -> HttpClient:
        return self.scene.keep(HttpClient(self.server, *_USER))

    def test_the_line_of_a_file_named_dash_is_not_of_standard_input(self) -> None:
        self.scene.write("-", _SMALL)
        self.serve()
        client = self.client()
        self.assertEqual(client.ask("/-/sha256/-").body, line_of(_SMALL, "./-"))

    def test_a_client_that_has_only_finished_sending_gets_a_digest(self) -> None:
        self.scene.write("file", _SMALL)
        self.serve()
        asked = request("/-/sha256/file", f"Authorization: {basic(*_USER)}")
        address = self.server.further_address("http")
        with socket.create_connection(address, LONG_S) as half, half.makefile("rb") as answer:
            half.sendall(asked)
            half.shutdown(socket.SHUT_WR)
            self.assertIn(line_of(_SMALL, "file"), answer.read())

    @for_each(("prefetch", "disk"))
    def test_a_digest_is_always_that_of_the_bytes_beside_it(self, mode: str) -> None:
        versions = [bytes([65 + number]) * 300_000 for number in range(10)]
        self.scene.write("file", versions[0])
        self.serve("--uploads", "folder", "--files", mode)
        writer, client = self.client(), self.client()
        lines = {line_of(content, "file") for content in versions}
        is_over = threading.Event()

        def replace() -> None:
            for _ in range(5):
                for content in versions:
                    writer.ask("/file", method="PUT", body=content)
            is_over.set()

        thread = threading.Thread(target=replace)
        thread.start()
        tags: dict[str, str] = {}
        while not is_over.is_set():
            answer = client.ask("/file", _WANTED)
            self.assertEqual(answer.fields["repr-digest"], field_of(answer.body))
            head = client.ask("/file", _WANTED, method="HEAD")
            for one in (answer, head):
                digest = one.fields["repr-digest"]
                self.assertEqual(tags.setdefault(one.fields["etag"], digest), digest)
            self.assertIn(client.ask("/-/sha256/file").body, lines)
        thread.join()

    def test_a_range_with_a_digest_has_its_line_in_the_transfer_log(self) -> None:
        self.scene.write("file", _LARGE)
        log = self.scene.folder / "transfers.json"
        self.serve("--transfer-log", log)
        client = self.client()
        for fields in (("Range: bytes=10-19",), ("Range: bytes=10-19", _WANTED)):
            self.assertEqual(client.ask("/file", *fields).status, 206)
        client.ask("/-/sha256/file")
        client.ask("/file", _WANTED, method="HEAD")
        client.ask("/file", _WANTED)
        lines = wait_for_lines(log, 3)
        kept = ("result", "name", "size", "bytes", "range")
        found = [{key: line.get(key) for key in kept} for line in lines]
        part = {"result": "ok", "name": "file", "size": len(_LARGE)}
        self.assertEqual(found[:2], [part | {"bytes": 10, "range": [[10, 19]]}] * 2)
        self.assertEqual(found[2:], [part | {"bytes": len(_LARGE), "range": None}])


class EndlessFileTest(SceneTest):
    """The file is so large that its digest is never computed."""

    def serve(self, *flags: object) -> None:
        with open(self.scene.write("endless", b""), "r+b") as file:
            file.truncate(_ENDLESS)
        os.utime(self.scene.root / "endless", (1, 1))
        self.scene.write("small", _SMALL)
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.server = self.scene.fileserver(self.authserver, *FLAG, "--files", "disk", *flags)

    def ask_for_digest(self, target: str, *fields: str, method: str = "GET") -> socket.socket:
        """Returns when the server reads the file for it."""
        before = self.bytes_read()
        asking = socket.create_connection(self.server.further_address("http"), LONG_S)
        self.addCleanup(asking.close)
        account = f"Authorization: {basic(*_USER)}"
        asking.sendall(request(target, account, *fields, method=method))
        eventually(lambda: self.bytes_read() > before + 10_000_000, "the server reads the file")
        return asking

    def bytes_read(self) -> int:
        return int(Path(f"/proc/{self.server.pid}/io").read_text().split()[1])

    def stop_quickly(self) -> None:
        """Though the drain time is long."""
        self.assertLess(time_s(lambda: self.assertEqual(self.server.stop(), 0)), LONG_S)

    def test_the_server_stops_at_the_end_of_the_drain_time(self) -> None:
        self.serve("--drain-seconds", 0.2)
        self.ask_for_digest("/endless", _WANTED)
        self.ask_for_digest("/endless", _WANTED, "Range: bytes=1-2")  # it waits for the first one
        self.stop_quickly()

    def test_nothing_is_computed_for_a_client_that_is_gone(self) -> None:
        self.serve("--drain-seconds", 10 * LONG_S)
        for target, method in (("/endless", "HEAD"), ("/-/sha256/endless", "GET")):
            for resets in (True, False):
                asking = self.ask_for_digest(target, _WANTED, method=method)
                if resets:
                    linger = struct.pack("ii", 1, 0)
                    asking.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                asking.close()
        self.stop_quickly()

    def test_others_are_served_meanwhile(self) -> None:
        self.serve("--drain-seconds", 0)
        self.ask_for_digest("/endless", _WANTED)
        client = self.scene.keep(HttpClient(self.server, *_USER))
        self.assertEqual(client.ask("/small", _WANTED).fields["repr-digest"], field_of(_SMALL))
        self.assertEqual(client.ask("/-/sha256/small").body, line_of(_SMALL, "small"))
        self.assertEqual(client.ask("/endless", "Range: bytes=0-0").body, b"\0")
        self.stop_quickly()
