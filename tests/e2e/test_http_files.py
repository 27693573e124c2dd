"""--http-listen: GET and HEAD of files, with ranges and conditions."""

import os
import re
from pathlib import Path

from http_client import FLAG, HttpClient
from scene import SceneTest, SharedSceneTest, create_account, for_each
from waiting import eventually

_PAGE = Path(__file__).parents[2] / "docs" / "http.md"
_MODES = ("prefetch", "disk")
_ACTIVE = ("text/html", "image/svg+xml", "application/xml", "application/xhtml+xml")
_SMALL = b"0123456789"
_LARGE = bytes(range(256)) * 1000
_A_DAY_AGO_S = 86_400


class FilesTest(SharedSceneTest):
    """Both ways to serve files, with the same files."""

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
        authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(authserver)
        cls.servers = {
            mode: cls.scene.fileserver(authserver, *FLAG, "--files", mode) for mode in _MODES
        }

    def clients(self) -> list[HttpClient]:
        clients = [HttpClient(server, "alice", "wonderland") for server in self.servers.values()]
        for client in clients:
            self.addCleanup(client.close)
        return clients

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
        for client in self.clients():
            tag = client.ask("/small.txt").fields["etag"]
            for path, fields, status in (
                ("/small.txt", (), 200),
                ("/small.txt", ("Range: bytes=0-1",), 206),
                ("/small.txt", (f"If-None-Match: {tag}",), 304),
                ("/small.txt", ("Range: bytes=99-",), 416),
                ("/sub", (), 301),
                ("/sub/", (), 200),
                ("/none", (), 404),
                ("/-/health", (), 200),
            ):
                answer = client.ask(path, *fields)
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.fields["cross-origin-resource-policy"], "same-origin")

    def test_a_browser_asks_before_it_shows_a_file_again(self) -> None:
        for client in self.clients():
            tag = client.ask("/small.txt").fields["etag"]
            for fields, status in (
                ((), 200),
                (("Range: bytes=0-1",), 206),
                (("Range: bytes=0-1,5-6",), 206),
                ((f"If-None-Match: {tag}",), 304),
            ):
                answer = client.ask("/small.txt", *fields)
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.fields["cache-control"], "private, no-cache")

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
        for client in self.clients():
            for path in (
                *(
                    "/none",
                    "/sub/none",
                    "/small.txt/",
                    "/small.txt/x",
                    "//small.txt",
                    "/./small.txt",
                ),
                *("/sub/../small.txt", "/%2e%2e/x", "/small.txt%00", "/small.txt%0a", "/%", "/%4"),
                *("/%zz", "/sub\\x", "/sub%5cx", "/sub//", "/" + "x" * 5000, "/%252e"),
            ):
                answer = client.ask(path)
                self.assertEqual((answer.status, answer.closes()), (404, False), path)

    def test_one_range(self) -> None:
        for client in self.clients():
            for name, content in (("small.txt", _SMALL), ("large.bin", _LARGE)):
                size = len(content)
                for asked, first, last in (
                    ("0-3", 0, 3),
                    ("4-", 4, size - 1),
                    ("-4", size - 4, size - 1),
                    (f"-{size * 2}", 0, size - 1),
                    (f"1-{size * 2}", 1, size - 1),
                    ("2-4,3-5", 2, 5),
                    ("4-5,2-3", 2, 5),
                ):
                    answer = client.ask(f"/{name}", f"Range: bytes={asked}")
                    self.assertEqual(answer.status, 206, asked)
                    self.assertEqual(answer.body, content[first : last + 1], asked)
                    expected = f"bytes {first}-{last}/{size}"
                    self.assertEqual(answer.fields["content-range"], expected)

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

    def test_ranges_behind_the_end(self) -> None:
        for client in self.clients():
            for name, size in (("small.txt", 10), ("empty", 0)):
                for asked in (f"{size}-", "-0", "99-100", "99-,200-"):
                    answer = client.ask(f"/{name}", f"Range: bytes={asked}")
                    self.assertEqual(answer.status, 416, asked)
                    self.assertEqual(answer.fields["content-range"], f"bytes */{size}")

    def test_ranges_that_do_not_count(self) -> None:
        many = ",".join(f"{at}-{at}" for at in range(0, 34, 2))
        for client in self.clients():
            for asked in (
                *("bytes=5-2", "bytes=", "bytes=a-b", "bytes=1-2;3-4", "lines=1-2", "bytes 1-2"),
                *(f"bytes={many}", "bytes=0-,0-,0-"),
            ):
                answer = client.ask("/large.bin", f"Range: {asked}")
                self.assertEqual((answer.status, len(answer.body)), (200, len(_LARGE)), asked)
            twice = client.ask("/small.txt", "Range: bytes=1-2", "Range: bytes=3-4")
            self.assertEqual(twice.status, 200)
            self.assertEqual(
                client.ask("/small.txt", "Range: bytes=1-2", method="HEAD").status, 200
            )

    def test_conditions(self) -> None:
        for client in self.clients():
            fields = client.ask("/small.txt").fields
            tag, date = fields["etag"], fields["last-modified"]
            for status, *conditions in (
                (304, f"If-None-Match: {tag}"),
                (304, f'If-None-Match: "x", W/{tag}'),
                (304, "If-None-Match: *"),
                (200, 'If-None-Match: "x"'),
                (304, f"If-Modified-Since: {date}"),
                (200, "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
                (200, f"If-Modified-Since: {date}", 'If-None-Match: "x"'),
                (412, 'If-Match: "x"'),
                (412, f"If-Match: W/{tag}"),
                (200, f"If-Match: {tag}"),
                (412, "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
                (200, f"If-Unmodified-Since: {date}"),
                (200, "If-Modified-Since: yesterday"),
            ):
                answer = client.ask("/small.txt", *conditions)
                self.assertEqual(answer.status, status, conditions)
                if status == 304:
                    self.assertEqual(answer.fields["etag"], tag)

    def test_if_range(self) -> None:
        for client in self.clients():
            fields = client.ask("/small.txt").fields
            for status, validator in (
                (206, fields["etag"]),
                (200, fields["last-modified"]),
                (200, '"x"'),
                (200, "W/" + fields["etag"]),
                (200, "Sun, 06 Nov 1994 08:49:37 GMT"),
            ):
                answer = client.ask("/small.txt", "Range: bytes=1-2", f"If-Range: {validator}")
                self.assertEqual(answer.status, status, validator)

    def test_times_that_give_no_last_modified(self) -> None:
        for client in self.clients():
            for name in ("old", "new"):
                self.assertNotIn("last-modified", client.ask(f"/{name}").fields)

    def test_both_ways_and_both_protocols_agree(self) -> None:
        first, second = self.clients()
        for name in ("small.txt", "large.bin"):
            fields = first.ask(f"/{name}").fields
            self.assertEqual(fields["etag"], second.ask(f"/{name}").fields["etag"])
        native = self.connect(self.servers["prefetch"])
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


class FilesOfLoopsTest(FilesTest):
    model = "event"


class ChangedFilesTest(SceneTest):
    @for_each(_MODES)
    def test_a_changed_file_has_another_tag_and_a_resume_starts_again(self, mode: str) -> None:
        authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(authserver)
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


class ChangedFilesOfLoopsTest(ChangedFilesTest):
    model = "event"
