"""--http-listen: GET and HEAD of files, with ranges and conditions."""

import functools
import os
import re
from pathlib import Path
from typing import Any

from http_client import FLAG, HttpClient, check_rows
from programs import Program
from scene import SceneTest, SharedSceneTest, for_each, with_loops
from waiting import eventually

_PAGE = Path(__file__).parents[2] / "docs" / "http.md"
_MODES = ("prefetch", "disk")
_KINDS = tuple((mode, model) for mode in _MODES for model in ("thread", "event"))
_ACTIVE = ("text/html", "image/svg+xml", "application/xml", "application/xhtml+xml")
_SMALL = b"0123456789"
_LARGE = bytes(range(256)) * 1000
_A_DAY_AGO_S = 86_400


class FilesTest(SharedSceneTest):
    """Both ways to serve files by both models, with the same files."""

    @classmethod
    def prepare(cls) -> None:
        for name, content in (
            ("small.txt", _SMALL),
            ("large.bin", _LARGE),
            ("empty", b""),
            ("sub/a b+c%.html", b"<p>"),
            ("caf\u00e9/\u2603", b"snow"),
            ("old", b"x"),
            ("new", b"x"),
        ):
            path = cls.scene.write(name, content)
            time = int(path.stat().st_mtime) - _A_DAY_AGO_S
            os.utime(path, (time, time))
        os.utime(cls.scene.root / "old", (-1, -1))
        os.utime(cls.scene.root / "new", (4_000_000_000, 4_000_000_000))
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.servers = [
            cls.scene.fileserver(authserver, *FLAG, "--files", mode, "--model", model)
            for mode, model in _KINDS
        ]
        client = HttpClient(cls.servers[0], "alice", "wonderland")
        fields = client.ask("/small.txt").fields
        cls.tag, cls.date = fields["etag"], fields["last-modified"]
        client.close()

    def connect_to(self, server: Program) -> HttpClient:
        client = HttpClient(server, "alice", "wonderland")
        self.addCleanup(client.close)
        return client

    def clients(self) -> list[HttpClient]:
        return [self.connect_to(server) for server in self.servers]

    def check(self, *rows: tuple[Any, ...]) -> None:
        """Of all servers, which keep the connection."""
        for server in self.servers:
            answers = check_rows(self, functools.partial(self.connect_to, server), rows)
            self.assertFalse(any(answer.closes() for answer in answers))

    def test_a_file_comes_with_its_fields(self) -> None:
        for client in self.clients():
            answer = client.ask("/small.txt")
            self.assertEqual((answer.status, answer.body), (200, _SMALL))
            self.assertEqual(answer.fields["content-type"], "text/plain; charset=utf-8")
            self.assertEqual(answer.fields["accept-ranges"], "bytes")
            self.assertEqual(answer.fields["x-content-type-options"], "nosniff")
            self.assertRegex(answer.fields["etag"], r'\A"[^"]+"\Z')
            self.assertRegex(answer.fields["last-modified"], r" GMT\Z")
            self.assertNotIn("connection", answer.fields)

    def test_no_answer_is_a_script_of_another_page(self) -> None:
        same = {"cross-origin-resource-policy": "same-origin"}
        self.check(
            (200, "GET /small.txt", same),
            (206, "GET /small.txt", "Range: bytes=0-1", same),
            (304, "GET /small.txt", f"If-None-Match: {self.tag}", same),
            (416, "GET /small.txt", "Range: bytes=99-", same),
            (301, "GET /sub", same),
            (200, "GET /sub/", same),
            (404, "GET /none", same),
            (200, "GET /-/health", same),
        )

    def test_a_browser_asks_before_it_shows_a_file_again(self) -> None:
        asks = {"cache-control": "private, no-cache"}
        self.check(
            (200, "GET /small.txt", asks),
            (206, "GET /small.txt", "Range: bytes=0-1", asks),
            (206, "GET /small.txt", "Range: bytes=0-1,5-6", asks),
            (304, "GET /small.txt", f"If-None-Match: {self.tag}", asks),
        )

    def test_head_has_the_fields_of_get_and_no_body(self) -> None:
        for client in self.clients():
            for path in ("/small.txt", "/large.bin", "/empty", "/", "/none"):
                got, head = client.ask(path), client.ask(path, method="HEAD")
                self.assertEqual(got.status, head.status)
                self.assertEqual(got.fields | {"date": ""}, head.fields | {"date": ""}, path)

    def test_names_are_decoded_once(self) -> None:
        for client in self.clients():
            for path, content in (
                ("/sub/a%20b+c%25.html", b"<p>"),
                ("/%73ub/a%20b%2Bc%25.html?query", b"<p>"),
                ("http://localhost:1/sub/a%20b+c%25.html", b"<p>"),
                ("/caf%C3%A9/%E2%98%83", b"snow"),
                ("/caf\u00e9/\u2603", b"snow"),
            ):
                self.assertEqual(client.ask(path).body, content, path)

    def test_what_is_no_file_is_not_found(self) -> None:
        paths = (
            *("/none", "/sub/none", "/small.txt/", "/small.txt/x", "//small.txt", "/./small.txt"),
            *("/sub/../small.txt", "/%2e%2e/x", "/small.txt%00", "/small.txt%0a", "/%", "/%4"),
            *("/%zz", "/sub\\x", "/sub%5cx", "/sub//", "/" + "x" * 5000, "/%252e"),
        )
        self.check(*((404, f"GET {path}") for path in paths))

    def test_ranges(self) -> None:
        """range_test.cpp has all forms."""

        def is_sent(first: int, last: int, size: int) -> dict[str, str]:
            length = str(last + 1 - first)
            return {"content-range": f"bytes {first}-{last}/{size}", "content-length": length}

        self.check(
            (206, "GET /small.txt", "Range: bytes=0-3", is_sent(0, 3, 10)),
            (206, "GET /large.bin", "Range: bytes=-4", is_sent(255_996, 255_999, 256_000)),
            (206, "GET /large.bin", "Range: bytes=1-999999", is_sent(1, 255_999, 256_000)),
            (206, "GET /large.bin", "Range: bytes=4-5,2-3", is_sent(2, 5, 256_000)),
            (416, "GET /small.txt", "Range: bytes=10-", {"content-range": "bytes */10"}),
            (416, "GET /empty", "Range: bytes=-0", {"content-range": "bytes */0"}),
        )
        for client in self.clients():
            answer = client.ask("/large.bin", "Range: bytes=70000-200000")
            self.assertEqual(answer.body, _LARGE[70_000:200_001])

    def test_several_ranges_are_a_multipart(self) -> None:
        boundaries = []
        for client in self.clients():
            answer = client.ask("/large.bin", "Range: bytes=-3, 10-12, 500-500")
            self.assertEqual(answer.status, 206)
            boundary = re.fullmatch(
                r"multipart/byteranges; boundary=(\S+)", answer.fields["content-type"]
            )
            self.assertIsNotNone(boundary)
            boundaries.append(boundary[1])
            mark = f"--{boundary[1]}".encode()
            expected = b""
            for first, last in ((10, 12), (500, 500), (255_997, 255_999)):
                expected += mark + b"\r\nContent-Type: application/octet-stream\r\n"
                expected += f"Content-Range: bytes {first}-{last}/256000\r\n\r\n".encode()
                expected += _LARGE[first : last + 1] + b"\r\n"
            self.assertEqual(answer.body, expected + mark + b"--\r\n")
            self.assertEqual(client.ask("/small.txt").body, _SMALL)
        # So nobody can upload a file that holds the boundary.
        self.assertEqual(len(set(boundaries)), len(boundaries))

    def test_ranges_that_do_not_count(self) -> None:
        whole = {"content-length": "10", "content-range": None}
        self.check(
            (200, "GET /small.txt", "Range: bytes=5-2", whole),
            (200, "GET /small.txt", "Range: lines=1-2", whole),
            (200, "GET /small.txt", "Range: bytes=0-,0-,0-", whole),
            (200, "GET /small.txt", "Range: bytes=1-2", "Range: bytes=3-4", whole),
            (200, "HEAD /small.txt", "Range: bytes=1-2", whole),
        )

    def test_conditions(self) -> None:
        """conditions_test.cpp has all of them and what counts first."""
        old = "Sun, 06 Nov 1994 08:49:37 GMT"
        self.check(
            (304, "GET /small.txt", f"If-None-Match: {self.tag}", {"etag": self.tag}),
            (200, "GET /small.txt", 'If-None-Match: "x"'),
            (304, "GET /small.txt", f"If-Modified-Since: {self.date}"),
            (200, "GET /small.txt", f"If-Modified-Since: {old}"),
            (200, "GET /small.txt", f"If-Modified-Since: {self.date}", 'If-None-Match: "x"'),
            (200, "GET /small.txt", f"If-Match: {self.tag}"),
            (412, "GET /small.txt", 'If-Match: "x"'),
            (200, "GET /small.txt", f"If-Unmodified-Since: {self.date}"),
            (412, "GET /small.txt", f"If-Unmodified-Since: {old}"),
        )

    def test_if_range(self) -> None:
        self.check(
            (206, "GET /small.txt", "Range: bytes=1-2", f"If-Range: {self.tag}"),
            (200, "GET /small.txt", "Range: bytes=1-2", 'If-Range: "x"'),
            (200, "GET /small.txt", "Range: bytes=1-2", f"If-Range: {self.date}"),
        )

    def test_times_that_give_no_last_modified(self) -> None:
        for client in self.clients():
            for name in ("old", "new"):
                self.assertNotIn("last-modified", client.ask(f"/{name}").fields)

    def test_all_ways_and_both_protocols_agree(self) -> None:
        for name in ("small.txt", "large.bin"):
            tags = {client.ask(f"/{name}").fields["etag"] for client in self.clients()}
            self.assertEqual(len(tags), 1)
        native = self.connect(self.servers[0])
        self.assertEqual(native.ask("get:alice:wonderland"), "OK")
        self.assertEqual(native.ask("large.bin"), _LARGE)

    def test_the_types_are_those_of_the_page(self) -> None:
        page = _PAGE.read_text()
        rows = re.findall(r"^\| `(\S+/\S+.*?)` \| (`.*`) \|$", page, re.MULTILINE)
        types = {end: kind for kind, ends in rows for end in re.findall(r"`(\S+?)`", ends)}
        self.assertGreater(len(types), 50)
        types["unknown"] = "application/octet-stream"
        client = self.clients()[1]
        for end, kind in types.items():
            self.scene.write(f"types/FILE.{end.upper()}", b"x")
            answer = client.ask(f"/types/FILE.{end.upper()}", method="HEAD")
            self.assertEqual(answer.fields["content-type"], kind)
            policy = "sandbox" if kind.split(";")[0] in _ACTIVE else None
            self.assertEqual(answer.fields.get("content-security-policy"), policy, kind)


@with_loops
class ChangedFilesTest(SceneTest):
    @for_each(_MODES)
    def test_a_changed_file_has_another_tag_and_a_resume_starts_again(self, mode: str) -> None:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.scene.write("file", b"old")
        server = self.scene.fileserver(authserver, *FLAG, "--files", mode)
        client = self.scene.keep(HttpClient(server, "alice", "wonderland"))
        tag = client.ask("/file").fields["etag"]
        self.scene.write("file", b"newer")
        eventually(lambda: client.ask("/file").fields["etag"] != tag, "the file is seen to change")
        answer = client.ask("/file", "Range: bytes=2-", f"If-Range: {tag}")
        self.assertEqual((answer.status, answer.body), (200, b"newer"))
        (self.scene.root / "file").unlink()
        eventually(lambda: client.ask("/file").status == 404, "the file is seen to be gone")
