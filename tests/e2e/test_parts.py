"""Uploads in parts as draft-ietf-httpbis-resumable-upload has them, below /-/parts/."""

import json
import os
import re
import time

from http_client import OVER_TLS, HttpClient, check_rows, request
from parts_scene import FOLDER, INTEROP, LAST, MORE, PARTIAL, PartsTest, sha256
from rights_scene import PASSWORD
from scene import create_account, with_loops
from waiting import eventually

ID = re.compile(r"/-/parts/[0-9a-f]{32}")
NO_ID = "/-/parts/" + 32 * "0"


@with_loops
class PartsTableTest(PartsTest):
    def setUp(self) -> None:
        super().setUp()
        self.server = self.start("--max-upload", "1000")
        self.client = self.http(self.server)

    def test_a_file_appears_with_its_last_part(self) -> None:
        for name, method in (("a", "POST"), ("b", "PUT")):
            answer = self.ask(self.client, method, f"/-/parts/{name}", b"one", MORE)
            self.assertEqual(answer.status, 201)
            path = answer.fields["location"]
            self.assertTrue(ID.fullmatch(path), path)
            limit = re.compile(r"max-age=\d+, max-size=1000")
            self.assertTrue(limit.fullmatch(answer.fields["upload-limit"]), answer)
            told = self.client.ask(path, method="HEAD").fields
            self.assertEqual((told["upload-offset"], told["upload-complete"]), ("3", "?0"))
            self.assertNotIn("upload-length", told)
            answer = self.append(self.client, path, 3, b"two", MORE, "Upload-Length: 9")
            self.assertEqual((answer.status, answer.fields["upload-offset"]), (204, "6"))
            self.assertEqual(self.client.ask(path, method="HEAD").fields["upload-length"], "9")
            self.assertEqual(self.client.ask(f"/{name}").status, 404)
            self.assertEqual(self.client.ask("/", "Accept: application/json").body.count(b"-"), 0)
            answer = self.append(self.client, path, 6, b"six", LAST)
            self.assertEqual((answer.status, answer.fields["upload-complete"]), (201, "?1"))
            found = self.client.ask(f"/{name}")
            self.assertEqual(
                (found.body, found.fields["etag"]), (b"onetwosix", answer.fields["etag"])
            )
            told = self.client.ask(path, method="HEAD").fields
            seen = [told[f"upload-{one}"] for one in ("offset", "length", "complete")]
            self.assertEqual(seen, ["9", "9", "?1"])
            self.client = self.http(self.server)
        self.assertEqual([name for name in self.kept() if not name.endswith(".state")], [])

    def test_a_put_of_the_file_itself(self) -> None:
        """With one request, with two, and with an interim answer where the client takes it."""
        for fields, interims in (
            ((LAST,), []),
            ((LAST, "Upload-Length: 3"), []),
            (("Upload-Complete: 1",), []),  # no boolean, so it does not count
            ((LAST, INTEROP), [104]),
            ((LAST, INTEROP.replace("8", "7")), []),
            ((LAST, INTEROP, "Expect: 100-continue"), [104, 100]),
        ):
            with self.subTest(fields):
                credentials = self.client._credentials
                self.client.send(
                    request("/f", *credentials, *fields, "Content-Length: 3", method="PUT")
                )
                for status in interims:
                    self.assertEqual(self.client.interim(), status)
                self.client.send(b"abc")
                self.assertIn(self.client.answer("PUT").status, (201, 204))
                self.assertEqual(self.read("f"), b"abc")
        answer = self.ask(self.client, "PUT", "/g", b"ab", MORE)
        self.assertEqual((answer.status, (self.scene.root / "g").exists()), (201, False))
        self.append(self.client, answer.fields["location"], 2, b"c", LAST)
        self.assertEqual(self.read("g"), b"abc")

    def test_the_file_has_the_time_that_was_asked_for(self) -> None:
        path = self.begin(self.client, "timed", b"ab", "X-OC-Mtime: 1600000000")
        answer = self.append(self.client, path, 2, b"c", LAST)
        self.assertEqual((answer.status, answer.fields["x-oc-mtime"]), (201, "accepted"))
        self.assertEqual(int((self.scene.root / "timed").stat().st_mtime), 1_600_000_000)

    def test_what_is_refused(self) -> None:
        a = self.begin(self.client, "a", b"abc", "Upload-Length: 5")
        done = self.begin(self.client, "done", b"abc")
        self.assertEqual(self.append(self.client, done, 3, b"", LAST).status, 201)
        at, end = "Upload-Offset: 3", "Upload-Offset: 5"
        nothing = "Content-Length: 0"
        patch = f"PATCH {a}"
        check_rows(
            self,
            lambda: self.http(self.server),
            (
                (400, "POST /-/parts/x", nothing),
                (400, "POST /-/parts/x", nothing, "Upload-Complete: true"),
                (400, "POST /-/parts/x", nothing, MORE, MORE),
                (400, "POST /-/parts/", nothing, MORE),
                (400, "POST /-/parts/x", LAST, "Upload-Length: 2", b"abc"),
                (400, "POST /-/parts/x", MORE, "Upload-Length: 2", b"abc"),
                (400, "POST /-/parts/x", MORE, "Content-Digest: sha-256=x", b"abc"),
                (400, "POST /-/parts/x", MORE, f"Content-Digest: sha-256=:{sha256(b'')}:", b"abc"),
                (413, "POST /-/parts/x", MORE, "Upload-Length: 1001", nothing),
                (413, "POST /-/parts/x", MORE, b"a" * 1001),
                (415, "POST /-/parts/x", MORE, "Content-Encoding: gzip", b"a"),
                (400, "POST /-/parts/x", MORE, "X-OC-Mtime: yesterday", b"a"),
                (409, "POST /-/parts/no/x", MORE, nothing),
                (404, "PUT /-/parts/a//x", MORE, nothing),
                (404, "PUT /-/parts/../x", MORE, nothing),
                (404, "POST /-/parts/-/x", MORE, nothing),
                (403, "POST /-/parts/-", MORE, nothing),
                (409, f"POST /-/parts/{FOLDER}/x", MORE, nothing),
                (412, "POST /-/parts/done", MORE, "If-None-Match: *", nothing),
                (405, f"GET {a}"),
                (404, f"HEAD {NO_ID}"),
                (404, f"DELETE {NO_ID}"),
                (404, "HEAD /-/parts/"),
                (404, f"HEAD {a.replace('parts', 'tus')}", "Tus-Resumable: 1.0.0"),
                (404, f"GET /{FOLDER}/{a[-32:]}"),
                (404, f"PATCH {NO_ID}", PARTIAL, MORE, at, nothing),
                (415, patch, MORE, at, b"x", {"accept-patch": "application/partial-upload"}),
                (415, patch, "Content-Type: text/plain", MORE, at, b"x"),
                (400, patch, PARTIAL, MORE, b"x"),
                (400, patch, PARTIAL, at, b"x"),
                (400, patch, PARTIAL, MORE, "Upload-Offset: -1", b"x"),
                (400, patch, PARTIAL, MORE, "Upload-Offset: 3.0", b"x"),
                (400, patch, PARTIAL, MORE, "Upload-Offset: 9999999999999999", b"x"),
                (409, patch, PARTIAL, MORE, "Upload-Offset: 2", b"x", {"upload-offset": "3"}),
                (409, patch, PARTIAL, MORE, "Upload-Offset: 999999999999999", b"x"),
                (409, patch, PARTIAL, LAST, end, nothing),
                (400, patch, PARTIAL, MORE, at, "Upload-Length: 6", b"x"),
                (400, patch, PARTIAL, LAST, at, b"x"),
                (400, patch, PARTIAL, LAST, at, nothing),
                (400, patch, PARTIAL, MORE, at, b"xyz"),
                (204, patch, PARTIAL, MORE, at, nothing, {"upload-offset": "3"}),
                (400, f"PATCH {done}", PARTIAL, LAST, at, nothing),
                (400, f"PATCH {done}", PARTIAL, MORE, at, b"x"),
                (501, "PATCH /a", PARTIAL, MORE, at, nothing),
                (501, "PATCH /-/accounts", nothing),
            ),
        )
        self.assertEqual(self.offset(self.client, a), 3)
        self.assertEqual(self.read("done"), b"abc")
        self.assertEqual(self.append(self.client, a, 3, b"de", LAST).status, 201)
        self.assertEqual(self.read("a"), b"abcde")

    def test_problems_have_types(self) -> None:
        path = self.begin(self.client, "a", b"abc", "Upload-Length: 5")
        kind = "https://iana.org/assignments/http-problem-types#"
        answer = self.append(self.client, path, 1, b"x", MORE)
        self.assertEqual(answer.fields["content-type"], "application/problem+json")
        self.assertEqual(answer.fields["upload-complete"], "?0")
        problem = json.loads(answer.body)
        self.assertEqual(problem.pop("type"), kind + "mismatching-upload-offset")
        self.assertEqual((problem["expected-offset"], problem["provided-offset"]), (3, 1))
        client = self.http(self.server)
        answer = self.append(client, path, 3, b"x", LAST)
        self.assertEqual(json.loads(answer.body)["type"], kind + "inconsistent-upload-length")
        self.assertEqual(answer.fields["upload-complete"], "?0")
        client = self.http(self.server)
        self.append(client, path, 3, b"de", LAST)
        answer = self.append(client, path, 5, b"", LAST)
        self.assertEqual(json.loads(answer.body)["type"], kind + "completed-upload")

    def test_a_last_part_without_a_length_must_complete_it_too(self) -> None:
        path = self.begin(self.client, "a", b"abc", "Upload-Length: 5")
        client = self.http(self.server)
        fields = (*client._credentials, PARTIAL, LAST, "Upload-Offset: 3")
        chunked = (*fields, "Transfer-Encoding: chunked")
        client.send(request(path, *chunked, method="PATCH", body=b"1\r\nx\r\n0\r\n\r\n"))
        self.assertEqual(client.answer("PATCH").status, 400)
        self.assertFalse((self.scene.root / "a").exists())

    def test_more_than_was_announced_ends_the_upload(self) -> None:
        path = self.begin(self.client, "a", b"abc", "Upload-Length: 5")
        chunks = (PARTIAL, MORE, "Upload-Offset: 3", "Transfer-Encoding: chunked")
        self.client.send(request(path, *self.client._credentials, *chunks, method="PATCH"))
        self.client.send(b"3\r\nxyz\r\n0\r\n\r\n")
        self.assertEqual(self.client.answer("PATCH").status, 400)
        self.assertEqual(self.http(self.server).ask(path, method="HEAD").status, 404)
        self.assertEqual(self.kept(), [])

    def test_names_in_content_disposition(self) -> None:
        (self.scene.root / "sub").mkdir()
        for value, name in (
            ('inline; filename="a b"', "a b"),
            ("attachment; filename=x; filename*=UTF-8''%C3%A4", "ä"),
            ('inline; filename="q\\"; y"', 'q"; y'),
        ):
            field = f"Content-Disposition: {value}"
            answer = self.ask(self.client, "POST", "/-/parts/sub/", b"x", LAST, field)
            self.assertEqual((answer.status, self.read(f"sub/{name}")), (201, b"x"))
        for value in ('inline; filename="../a"', 'inline; filename="a', "inline; filename*=x"):
            client = self.http(self.server)
            field = f"Content-Disposition: {value}"
            self.assertEqual(self.ask(client, "POST", "/-/parts/", b"", MORE, field).status, 400)

    def test_digests(self) -> None:
        right, wrong = (f"sha-256=:{sha256(one)}:" for one in (b"abcdef", b"abcdeF"))
        for digest, status in ((right, 201), (wrong, 400)):
            path = self.begin(self.http(self.server), "f", b"abc", f"Repr-Digest: {digest}")
            client = self.http(self.server)
            part = f"Content-Digest: sha-256=:{sha256(b'deF')}:"
            self.assertEqual(self.append(client, path, 3, b"def", MORE, part).status, 400)
            client = self.http(self.server)
            self.assertEqual(self.offset(client, path), 3)
            answer = self.append(client, path, 3, b"def", LAST)
            self.assertEqual((answer.status, answer.fields["upload-complete"]), (status, "?1"))
            self.assertEqual((self.scene.root / "f").exists(), status == 201)
            (self.scene.root / "f").unlink(missing_ok=True)

    def test_what_options_tell(self) -> None:
        for path in ("/", "/a", "*", "/-/parts/", "/-/parts/a"):
            fields = self.client.ask(path, method="OPTIONS").fields
            self.assertEqual(fields["accept-patch"], "application/partial-upload")
            self.assertEqual(fields["upload-limit"], "max-age=86400, max-size=1000")
        self.assertNotIn("accept-patch", self.client.ask("/-/accounts", method="OPTIONS").fields)

    def test_an_upload_that_is_cancelled_is_gone(self) -> None:
        path = self.begin(self.client, "a", b"abc")
        self.assertEqual(len(self.kept()), 2)
        self.assertEqual(self.client.ask(path, method="DELETE").status, 204)
        self.assertEqual(self.client.ask(path, method="HEAD").status, 404)
        self.assertEqual(self.append(self.client, path, 3, b"", LAST).status, 404)
        self.assertEqual(self.kept(), [])


@with_loops
class PartsBreaksTest(PartsTest):
    def wait_for_size(self, path: str, size: int) -> None:
        data = self.scene.root / FOLDER / path[-32:]
        eventually(lambda: data.stat().st_size == size, f"{size} bytes have come")

    def test_what_came_before_a_break_is_kept(self) -> None:
        server = self.start()
        path = self.begin(self.http(server), "a")
        content = bytes(range(256)) * 1000
        self.cut(server, path, 0, content[:100_000], 200_000)
        client = self.http(server)
        self.assertEqual(self.offset(client, path), 100_000)
        server.kill()
        server = self.start()
        client = self.http(server)
        self.assertEqual(self.offset(client, path), 100_000)
        self.assertEqual(self.append(client, path, 100_000, content[100_000:], LAST).status, 201)
        self.assertEqual(client.ask("/a").body, content)

    def test_bytes_with_a_digest_count_once_it_holds(self) -> None:
        """Also if the server is killed in front of their end."""
        server = self.start()
        path = self.begin(self.http(server), "a", b"abc")
        digest = f"Content-Digest: sha-256=:{sha256(b'defg')}:"
        fields = (PARTIAL, MORE, "Upload-Offset: 3", "Content-Length: 4", digest)
        client = self.http(server)
        client.send(request(path, *client._credentials, *fields, method="PATCH", body=b"de"))
        self.wait_for_size(path, 5)
        server.kill()
        server = self.start()
        self.assertEqual(self.offset(self.http(server), path), 3)

    def test_the_newer_of_two_requests_wins(self) -> None:
        server = self.start()
        path = self.begin(self.http(server), "a")
        for method in ("HEAD", "PATCH", "DELETE"):  # what the newer one asks for
            old, new = self.http(server), self.http(server)
            at = self.offset(new, path)
            fields = (PARTIAL, MORE, f"Upload-Offset: {at}", "Content-Length: 100000")
            old.send(request(path, *old._credentials, *fields, method="PATCH", body=b"old"))
            self.wait_for_size(path, at + 3)
            if method == "PATCH":
                answer = self.append(new, path, at + 3, b"new", MORE)
                self.assertEqual(
                    (answer.status, answer.fields["upload-offset"]), (204, str(at + 6))
                )
            else:
                self.assertEqual(new.ask(path, method=method).status, 204)
            self.assertTrue(OVER_TLS or old.is_ended())
        self.assertEqual(self.kept(), [])
        self.assertFalse((self.scene.root / "a").exists())

    def test_a_further_link_of_its_bytes_is_not_its_name(self) -> None:
        """The owner copies the folder by links, or a server was killed in front of the name."""
        server = self.start()
        path = self.begin(self.http(server), "a", b"abc")
        data = self.scene.root / FOLDER / path[-32:]
        os.link(data, self.scene.root / "copy")
        self.assertEqual(self.http(server).ask(path, method="HEAD").fields["upload-complete"], "?0")
        self.assertEqual(self.append(self.http(server), path, 3, b"d", LAST).status, 201)
        self.assertEqual(self.read("a"), b"abcd")

    def test_an_unfinished_upload_goes_after_its_time(self) -> None:
        server = self.start("--parts-keep", 1)
        path = self.begin(self.http(server), "a", b"abc")
        eventually(lambda: not self.kept(), "it is removed")
        self.assertEqual(self.http(server).ask(path, method="HEAD").status, 404)
        path = self.begin(self.http(server), "a", b"abc")
        server.kill()
        time.sleep(2.1)  # while no server runs
        server = self.start("--parts-keep", 1)
        self.assertEqual(
            (self.http(server).ask(path, method="HEAD").status, self.kept()), (404, [])
        )

    def test_a_user_has_a_bounded_number_of_them(self) -> None:
        server = self.start()
        create_account(self.authserver, "bob", PASSWORD)
        client = self.http(server)
        paths = [self.begin(client, f"f{i}") for i in range(64)]
        answer = self.ask(client, "POST", "/-/parts/x", b"", MORE)
        self.assertEqual((answer.status, "retry-after" in answer.fields), (429, True))
        other = self.scene.keep(HttpClient(server, "bob", PASSWORD))
        self.begin(other, "x")
        self.assertEqual(client.ask(paths[0], method="DELETE").status, 204)
        self.begin(client, "x")
