"""Uploads in parts as tus 1.0.0 has them, below /-/tus/."""

import base64
import re

from http_client import HttpClient, check_rows, request
from parts_scene import STREAM, TUS, PartsTest, metadata, sha256
from scene import with_loops

OFFSET = "Upload-Offset: {}".format
LENGTH = "Upload-Length: {}".format


@with_loops
class TusTest(PartsTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = self.start("--max-upload", "1000")
        self.client = self.http(self.server)

    def test_a_file_appears_with_its_last_byte(self) -> None:
        (self.scene.root / "sub").mkdir()
        for name in ("sub/ä b", "sub/ä b"):
            path = self.begin_tus(self.client, name, 6)
            self.assertRegex(path, re.compile(r"/-/tus/[0-9a-f]{32}\Z"))
            told = self.client.ask(path, TUS, method="HEAD")
            self.assertEqual(told.status, 200)
            seen = [told.fields[one] for one in ("upload-offset", "upload-length", "tus-resumable")]
            self.assertEqual(seen, ["0", "6", "1.0.0"])
            self.assertIn(told.fields["upload-metadata"], metadata(name))
            self.assertRegex(told.fields["upload-expires"], r"\A\w{3}, .* GMT\Z")
            for at in (0, 3):
                answer = self.ask(
                    self.client, "PATCH", path, b"abcdef"[at : at + 3], TUS, STREAM, OFFSET(at)
                )
                self.assertEqual(
                    (answer.status, answer.fields["upload-offset"]), (204, str(at + 3))
                )
                self.assertEqual(answer.fields["tus-resumable"], "1.0.0")
            self.assertEqual(self.client.ask("/sub/%C3%A4%20b").body, b"abcdef")
            self.assertEqual(self.offset(self.client, path, TUS), 6)
            answer = self.ask(self.client, "PATCH", path, b"", TUS, STREAM, OFFSET(6))
            self.assertEqual(answer.status, 204)

    def test_creation_with_upload(self) -> None:
        for name, content, size in (("a", b"abc", 3), ("b", b"ab", 3), ("empty", b"", 0)):
            fields = (TUS, LENGTH(size), metadata(name), STREAM)
            answer = self.ask(self.client, "POST", "/-/tus/", content, *fields)
            self.assertEqual(answer.status, 201)
            self.assertEqual(answer.fields["upload-offset"], str(len(content)))
            self.assertEqual((self.scene.root / name).exists(), len(content) == size)
        (self.scene.root / "sub").mkdir()
        answer = self.ask(
            self.client, "POST", "/-/tus/sub/", b"abc", *fields[:1], LENGTH(3), *fields[2:]
        )
        self.assertEqual((answer.status, self.read("sub/empty")), (201, b"abc"))

    def test_checksums(self) -> None:
        path = self.begin_tus(self.client, "a", 3)
        for checksum, status, offset in (
            (f"sha256 {sha256(b'abC')}", 460, 0),
            ("md5 AAAA", 400, 0),
            ("sha256 AAAA", 400, 0),
            (f"sha256 {sha256(b'abc')}", 204, 3),
        ):
            client = self.http(self.server)
            fields = (TUS, STREAM, OFFSET(0), f"Upload-Checksum: {checksum}")
            self.assertEqual(self.ask(client, "PATCH", path, b"abc", *fields).status, status)
            self.assertEqual(self.offset(self.http(self.server), path, TUS), offset)
        self.assertEqual(self.read("a"), b"abc")

    def test_what_is_refused(self) -> None:
        path = self.begin_tus(self.client, "a", 5)
        self.ask(self.client, "PATCH", path, b"abc", TUS, STREAM, OFFSET(0))
        nothing, name = "Content-Length: 0", metadata("x")
        post, patch = "POST /-/tus/", f"PATCH {path}"
        version = {"tus-version": "1.0.0", "tus-resumable": "1.0.0"}
        check_rows(
            self,
            lambda: self.http(self.server),
            (
                (412, post, LENGTH(1), name, nothing, version),
                (412, post, "Tus-Resumable: 0.2.2", LENGTH(1), name, nothing, version),
                (412, f"HEAD {path}", {"tus-version": "1.0.0"}),
                (400, post, TUS, name, nothing),
                (400, post, TUS, LENGTH(-1), name, nothing),
                (400, post, TUS, "Upload-Defer-Length: 1", name, nothing),
                (400, post, TUS, LENGTH(1), nothing),
                (400, post, TUS, LENGTH(1), "Upload-Metadata: filename !", nothing),
                (400, post, TUS, LENGTH(1), "Upload-Metadata: filename", nothing),
                (404, post, TUS, LENGTH(1), metadata("../x"), nothing),
                (404, post, TUS, LENGTH(1), metadata("a\r\nb"), nothing),
                (404, post, TUS, LENGTH(1), metadata("-/x"), nothing),
                (404, post, TUS, LENGTH(1), metadata("/x"), nothing),
                (403, post, TUS, LENGTH(1), metadata("-"), nothing),
                (409, post, TUS, LENGTH(1), metadata("no/x"), nothing),
                (413, post, TUS, LENGTH(1001), name, nothing),
                (413, post, TUS, LENGTH(1), name, STREAM, b"ab"),
                (415, post, TUS, LENGTH(2), name, b"ab"),
                (404, "POST /-/tus/x", TUS, LENGTH(1), name, nothing),
                (404, f"HEAD {path[:-1]}", TUS),
                (404, f"HEAD {path.replace('tus', 'parts')}"),
                (415, patch, TUS, OFFSET(3), b"x"),
                (400, patch, TUS, STREAM, b"x"),
                (400, patch, TUS, STREAM, OFFSET(-3), b"x"),
                (409, patch, TUS, STREAM, OFFSET(2), b"x", {"upload-offset": "3"}),
                (409, patch, TUS, STREAM, OFFSET(999999999999999), b"x"),
                (413, patch, TUS, STREAM, OFFSET(3), b"xyz"),
            ),
        )
        self.assertEqual(self.offset(self.client, path, TUS), 3)

    def test_whoever_is_refused_before_is_told_the_version_too(self) -> None:
        path = self.begin_tus(self.client, "a", 5)
        stranger = self.scene.keep(HttpClient(self.server))
        for client, method, status in ((stranger, "HEAD", 401), (self.client, "GET", 405)):
            answer = client.ask(path, TUS, method=method)
            self.assertEqual((answer.status, answer.fields["tus-resumable"]), (status, "1.0.0"))

    def test_termination_and_methods_that_are_named_in_a_field(self) -> None:
        path = self.begin_tus(self.client, "a", 3)
        override = "X-HTTP-Method-Override: {}".format
        answer = self.ask(
            self.client, "POST", path, b"ab", TUS, STREAM, OFFSET(0), override("PATCH")
        )
        self.assertEqual(answer.status, 204)
        self.assertEqual(self.client.ask(path, TUS, method="DELETE").status, 204)
        self.assertEqual(self.client.ask(path, TUS, method="HEAD").status, 404)
        path = self.begin_tus(self.client, "a", 3)
        self.assertEqual(
            self.ask(self.client, "POST", path, b"", TUS, override("DELETE")).status, 204
        )
        self.assertEqual(self.kept(), [])

    def test_what_options_tell(self) -> None:
        fields = self.http(self.server).ask("/-/tus/", method="OPTIONS").fields
        told = {name: value for name, value in fields.items() if name.startswith("tus-")}
        self.assertEqual(
            told,
            {
                "tus-resumable": "1.0.0",
                "tus-version": "1.0.0",
                "tus-extension": "creation,creation-with-upload,termination,checksum,expiration",
                "tus-checksum-algorithm": "sha256",
                "tus-max-size": "1000",
            },
        )

    def test_an_upload_goes_on_after_a_break(self) -> None:
        path = self.begin_tus(self.client, "a", 6)
        client = self.http(self.server)
        fields = (TUS, STREAM, OFFSET(0), "Content-Length: 6")
        client.send(request(path, *client._credentials, *fields, method="PATCH", body=b"abc"))
        client.half_close()
        self.assertTrue(client.is_ended())
        self.assertEqual(self.offset(self.client, path, TUS), 3)
        self.server.kill()
        client = self.http(self.start())
        answer = self.ask(client, "PATCH", path, b"def", TUS, STREAM, OFFSET(3))
        self.assertEqual((answer.status, self.read("a")), (204, b"abcdef"))

    def test_long_metadata_is_told_again(self) -> None:
        further = base64.b64encode(b"x" * 3000).decode()
        field = f"{metadata('a')},note {further}"
        answer = self.ask(self.client, "POST", "/-/tus/", b"", TUS, LENGTH(1), field)
        told = self.client.ask(answer.fields["location"], TUS, method="HEAD").fields
        self.assertEqual("Upload-Metadata: " + told["upload-metadata"], field)
