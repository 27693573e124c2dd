"""PUT, DELETE and MKCOL of --http-listen: what a client may rely on."""

import base64
import email.utils
import hashlib
import os
import random
import re
import subprocess
import threading
import time
import unittest

from client import ConnectionEndedError, grant
from http_client import FLAG, FRONT, HttpClient, request
from needs import missing
from scene import for_each, with_loops
from test_direct_io import why_not_traced
from upload_scene import HIDDEN, USER, UploadTest
from waiting import eventually


def sha256(data: bytes) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


@with_loops
class PutTest(UploadTest):
    @for_each(("prefetch", "disk"))
    def test_a_put_is_served_at_once_on_both_fronts(self, mode: str) -> None:
        server = self.start("--files", mode)
        native = self.scene.client(server)
        grant(native)
        client = self.http(server)
        for size, status in ((3, 201), (0, 204), (100_000, 204), (3_000_000, 204), (5, 204)):
            body = random.randbytes(size)
            answer = self.put(client, mode, body)
            self.assertEqual((answer.status, answer.closes()), (status, False))
            got = client.ask(f"/{mode}")
            self.assertEqual((got.status, got.body), (200, body))
            self.assertEqual(got.fields["etag"], answer.fields["etag"])
            self.assertEqual(native.ask(mode), body)
            self.assertEqual((self.scene.root / mode).read_bytes(), body)
        self.assertEqual([name for name in self.names() if HIDDEN in name], [])

    def test_bodies_in_chunks_and_after_a_continue(self) -> None:
        client = self.http(self.start())
        chunks = b"5;a=b\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nA: b\r\n\r\n"
        expect = ("Transfer-Encoding: chunked", "Expect: 100-continue")
        client.send(request("/a", *client._credentials, *expect, method="PUT"))
        self.assertEqual(client.interim(), 100)
        client.send(chunks)
        self.assertEqual(client.answer("PUT").status, 201)
        self.assertEqual(client.ask("/a").body, b"hello world")

    def test_a_refusal_spares_the_body(self) -> None:
        server = self.start()
        for target, fields, status in (
            ("/no/a", (), 409),
            ("/a", ("If-Match: *",), 412),
            ("/a", ("Content-Range: bytes 0-9/100",), 400),
            ("/a", ("Content-Encoding: gzip",), 415),
            ("/a", ("Content-Digest: sha-256=x",), 400),
            ("/a", (f"Content-Length: {1 << 60}",), 507),
        ):
            with self.subTest(status=status, fields=fields):
                client = self.http(server)
                if not any(field.startswith("Content-Length") for field in fields):
                    fields = (*fields, "Content-Length: 5")
                expect = (*client._credentials, *fields, "Expect: 100-continue")
                client.send(request(target, *expect, method="PUT"))
                answer = client.answer("PUT")
                self.assertEqual((answer.status, answer.closes()), (status, True))
                self.assertTrue(client.is_ended())
                self.assertEqual(self.names(), [])

    def test_http_1_0_needs_a_length(self) -> None:
        path = self.scene.write("a", b"old")
        for mode in ("folder", "sink"):
            client = self.http(self.start("--uploads", mode))
            for keep in ("close", "keep-alive"):
                fields = (*client._credentials, f"Connection: {keep}")
                data = request("/a", *fields, method="PUT", body=b"new")
                client.send(data.replace(b"HTTP/1.1", b"HTTP/1.0"))
                answer = client.answer("PUT")
                self.assertEqual((answer.status, answer.closes()), (411, True))
                client = self.http_again(client)
            length = request("/b", *client._credentials, "Content-Length: 0", method="PUT")
            client.send(length.replace(b"HTTP/1.1", b"HTTP/1.0"))
            self.assertIn(client.answer("PUT").status, (201, 204))
        self.assertEqual(path.read_bytes(), b"old")

    @unittest.skipIf(why_not_traced(), why_not_traced() or "")
    def test_a_large_body_goes_to_disk_while_it_comes(self) -> None:
        trace = self.scene.folder / "trace"
        strace = ["strace", "-D", "-f", "-qq", "-e", "trace=sync_file_range,fdatasync"]
        server = self.start(prefix=[*strace, "-o", str(trace)])
        body = bytes(20 << 20)
        self.assertEqual(self.put(self.http(server), "a", body).status, 201)
        calls = re.findall(r"(\w+)\(\d+(?:, (\d+), (\d+))?", trace.read_text())
        block = str(8 << 20)
        self.assertEqual(
            calls[:3],
            [
                ("sync_file_range", "0", block),
                ("sync_file_range", block, block),
                ("fdatasync", "", ""),
            ],
        )

    def test_what_is_in_the_way(self) -> None:
        (self.scene.root / "folder").mkdir()
        os.mkfifo(self.scene.root / "pipe")
        client = self.http(self.start())
        for name in ("folder", "folder/", "pipe", "a/", "no/a", f"{HIDDEN}1", ""):
            with self.subTest(name):
                self.assertEqual(self.put(client, name, b"").status, 409)
        for name in ("../a", "a//b", "a%00", "%5c"):
            with self.subTest(name):
                self.assertEqual(self.put(client, name, b"").status, 404)
        self.assertEqual(self.names(), ["folder", "pipe"])

    def test_conditions(self) -> None:
        client = self.http(self.start())
        self.assertEqual(self.put(client, "a", b"one", "If-None-Match: *").status, 201)
        tag = client.ask("/a").fields["etag"]
        for field, status in (
            ("If-None-Match: *", 412),
            ('If-Match: "x"', 412),
            (f"If-None-Match: {tag}", 412),
            ("If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT", 412),
        ):
            with self.subTest(field):
                client = self.http_again(client)
                self.assertEqual(self.put(client, "a", b"two", field).status, status)
        client = self.http_again(client)
        self.assertEqual(client.ask("/a").body, b"one")
        self.assertEqual(self.put(client, "a", b"two", f"If-Match: {tag}").status, 204)
        self.assertEqual(self.put(client, "a", b"", f"If-Match: {tag}").status, 412)
        self.assertEqual(client.ask("/a", "If-Match: *", method="DELETE").status, 204)

    def http_again(self, client: HttpClient) -> HttpClient:
        client.close()
        return self.http(self.scene._programs[-1])

    @for_each(("prefetch", "disk"))
    def test_a_time_that_the_client_names(self, mode: str) -> None:
        """Its second is kept, also by a MOVE. Two versions of one second and size differ all the
        same, and a program that replaces the file is seen."""
        client = self.http(self.start("--files", mode))
        seconds = (0, 1, 1_000_000_000, 1_000_000_000, 2_000_000_000, int(time.time()) - 1)
        tags = set()
        for number, second in enumerate(seconds):
            body = b"%d" % number
            put = self.put(client, mode, body, f"X-OC-Mtime: {second}")
            self.assertEqual(put.fields["x-oc-mtime"], "accepted")
            got = client.ask(f"/{mode}")
            self.assertEqual((got.body, got.fields["etag"]), (body, put.fields["etag"]))
            self.assertEqual(int((self.scene.root / mode).stat().st_mtime), second)
            said = email.utils.formatdate(second, usegmt=True)
            is_past = second < time.time()
            self.assertEqual(got.fields.get("last-modified"), said if is_past else None)
            tags.add(put.fields["etag"])
        self.assertEqual(len(tags), len(seconds))
        moved = client.ask(f"/{mode}", f"Destination: /new-{mode}", method="MOVE")
        self.assertEqual(moved.status, 201)
        path = self.scene.root / f"new-{mode}"
        self.assertEqual(int(path.stat().st_mtime), seconds[-1])
        plain = self.put(client, path.name, b"x")
        self.assertNotIn("x-oc-mtime", plain.fields)
        self.put(client, path.name, b"a", "X-OC-Mtime: 1000000000")
        other = self.scene.folder / "other"
        other.write_bytes(b"b")
        os.utime(other, (1_000_000_000, 1_000_000_000))
        other.rename(path)
        eventually(lambda: client.ask(f"/{path.name}").body == b"b", "the new file is served")
        self.assertNotIn(client.ask(f"/{path.name}").fields["etag"], tags)

    def test_a_time_that_cannot_be(self) -> None:
        self.scene.write("a", b"old")
        client = self.http(self.start())
        for values in (("",), ("-1",), ("1.5",), ("1e9",), ("now",),
                       ("99999999999",), ("1600000000", "1600000000")):  # fmt: skip
            with self.subTest(values):
                fields = [f"X-OC-Mtime: {value}" for value in values]
                client = self.http_again(client)
                self.assertEqual(self.put(client, "a", b"new", *fields).status, 400)
        self.assertEqual((self.scene.root / "a").read_bytes(), b"old")

    def test_digests(self) -> None:
        client = self.http(self.start())
        for field in ("Content-Digest", "Repr-Digest"):
            good = f"{field}: md5=:AA==:, {sha256(b'one')}"
            self.assertLess(self.put(client, "a", b"one", good).status, 205)
            bad = self.put(client, "a", b"two", f"{field}: {sha256(b'one')}")
            self.assertEqual((bad.status, bad.closes()), (400, True))
            client = self.http_again(client)
            self.assertEqual(client.ask("/a").body, b"one")

    def test_a_body_that_ends_early_changes_nothing(self) -> None:
        self.scene.write("a", b"old")
        server = self.start()
        for fields, body in (
            (("Content-Length: 10",), b"short"),
            (("Transfer-Encoding: chunked",), b"5\r\nhello\r\n"),
            (("Transfer-Encoding: chunked",), b"5\r\nhelloXX"),
        ):
            with self.subTest(body):
                client = self.http(server)
                for name in ("a", "b"):
                    sender = self.http(server)
                    head = request(f"/{name}", *client._credentials, *fields, method="PUT")
                    sender.send(head + body)
                    sender.half_close()
                    with self.assertRaises((ConnectionEndedError, AssertionError)):
                        self.assertEqual(sender.answer("PUT").status, 0)
                self.assertEqual(client.ask("/a").body, b"old")
                self.assertEqual(client.ask("/b").status, 404)
        self.assertEqual(self.names(), ["a"])

    def test_a_link_is_replaced(self) -> None:
        outside = self.scene.folder / "outside"
        outside.write_bytes(b"safe")
        (self.scene.root / "link").symlink_to(outside)
        client = self.http(self.start())
        self.assertEqual(self.put(client, "link", b"new").status, 204)
        self.assertEqual(client.ask("/link").body, b"new")
        self.assertEqual(outside.read_bytes(), b"safe")

    def test_the_largest_body(self) -> None:
        server = self.start("--max-upload", "1K")
        client = self.http(server)
        self.assertEqual(self.put(client, "a", bytes(1024)).status, 201)
        chunks = b"400\r\n" + bytes(1024) + b"\r\n1\r\nx\r\n0\r\n\r\n"
        for fields, body in (
            (("Content-Length: 1025",), bytes(1025)),
            (("Transfer-Encoding: chunked",), chunks),
        ):
            with self.subTest(fields):
                client = self.http(server)
                client.send(request("/b", *client._credentials, *fields, method="PUT") + body)
                answer = client.answer("PUT")
                self.assertEqual((answer.status, answer.closes()), (413, True))
        self.assertEqual(self.names(), ["a"])

    def test_two_puts_to_one_name(self) -> None:
        server = self.start()
        created = []

        def send(letter: bytes) -> None:
            client = self.http(server)
            for _ in range(20):
                created.append(self.put(client, "a", letter * 50_000).status == 201)
                body = client.ask("/a").body
                self.assertEqual(body, body[:1] * 50_000)

        threads = [threading.Thread(target=send, args=(letter,)) for letter in (b"x", b"y")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(created), sum(created)), (40, 1))
        self.assertEqual(self.names(), ["a"])


@with_loops
class OtherMethodsTest(UploadTest):
    def test_delete(self) -> None:
        self.scene.write("a", b"x")
        self.scene.write("b/c", b"x")
        server = self.start()
        native = self.scene.client(server)
        grant(native)
        client = self.http(server)
        for name, status in (
            ("no", 404),
            ("a/", 404),
            ("a", 204),
            ("a", 404),
            ("b", 409),
            ("b/c", 204),
            ("b", 204),
            ("", 403),
        ):
            with self.subTest(name):
                self.assertEqual(client.ask(f"/{name}", method="DELETE").status, status)
        self.assertEqual(native.ask("a"), "not-found")
        self.assertEqual(self.names(), [])

    def test_mkcol(self) -> None:
        client = self.http(self.start())
        listed = client.ask("/", method="OPTIONS").fields["allow"]
        self.assertIn(", MKCOL", listed)
        for name, status in (("a", 201), ("a", 405), ("a/b/", 201), ("no/b", 409), ("", 405)):
            with self.subTest(name):
                answer = client.ask(f"/{name}", method="MKCOL")
                self.assertEqual(answer.status, status)
                allowed = listed.replace(", MKCOL", "") if status == 405 else None
                self.assertEqual(answer.fields.get("allow"), allowed)
        self.assertEqual(self.put(client, "a/b/c", b"x").status, 201)
        self.assertEqual(client.ask("/d", method="MKCOL", body=b"x").status, 415)
        self.assertEqual(self.names(), ["a", "a/b", "a/b/c"])

    def test_our_own_name_cannot_be_made(self) -> None:
        server = self.start()
        self.assertEqual(self.put(self.http(server), "a", b"x").status, 201)
        for method, fields, body in (
            ("MKCOL", (), b""),
            ("PUT", (), b"x"),
            ("LOCK", (), b""),
            ("COPY", ("Destination: /-",), b""),
            ("MOVE", ("Destination: /-",), b""),
        ):
            with self.subTest(method):
                path = "/a" if fields else "/-"
                answer = self.http(server).ask(path, *fields, method=method, body=body)
                self.assertEqual(answer.status, 403)
        self.assertEqual(self.names(), ["a"])
        self.assertEqual(self.http(server).ask("/b/-", method="MKCOL").status, 409)

    def test_no_native_line_changes_a_file(self) -> None:
        self.scene.write("a", b"old")
        native = self.scene.client(self.start())
        grant(native)
        for verb in ("put", "PUT", "write", "delete", "DELETE", "rm", "mkdir", "MKCOL"):
            for line in (f"{verb}:a", f"{verb}:a:new", f"{verb} a", f"{verb} /a", f"{verb}: b"):
                with self.subTest(line):
                    self.assertEqual(native.ask(line), "not-found")
        for verb in ("move", "MOVE", "copy", "COPY", "rename", "link"):
            self.assertEqual(native.ask(f"{verb}:a:b"), "not-found")
        self.assertEqual((native.ask("a"), self.names()), (b"old", ["a"]))

    def test_sink(self) -> None:
        server = self.scene.fileserver(self.authserver, *FLAG, "--uploads", "sink")
        client = self.http(server)
        self.assertEqual(self.put(client, "no/a", bytes(200_000), "If-Match: *").status, 204)
        self.assertEqual(self.put(client, "a", b"").status, 204)
        self.assertEqual(self.put(client, "%zz", b"x").status, 204)
        for method in ("DELETE", "MKCOL"):
            answer = client.ask("/a", method=method)
            self.assertEqual(answer.status, 405)
            self.assertEqual(answer.fields["allow"], "GET, HEAD, OPTIONS, PUT, PROPFIND")
        self.assertEqual(self.names(), [])
        self.assertEqual(HttpClient(server).ask("/a", method="PUT").status, 401)

    def test_off(self) -> None:
        self.scene.write("a", b"old")
        client = self.http(self.scene.fileserver(self.authserver, *FLAG))
        for method in ("PUT", "DELETE", "MKCOL"):
            answer = client.ask("/a", method=method)
            self.assertEqual((answer.status, answer.closes()), (405, False))
            self.assertEqual(answer.fields["allow"], "GET, HEAD, OPTIONS, PROPFIND")
        self.assertEqual(client.ask("/a").body, b"old")

    @unittest.skipIf(missing("curl"), missing("curl"))
    def test_curl(self) -> None:
        server = self.start()
        url = f"{FRONT}://{server.further_address(FRONT)}/"
        source = self.scene.folder / "source"
        source.write_bytes(random.randbytes(300_000))
        curl = ["curl", "-sSk", "-u", ":".join(USER), "-w", "%{http_code}", "-o", "/dev/null"]
        for upload, stdin in ((str(source), None), ("-", source.read_bytes())):
            done = subprocess.run(
                [*curl, "-T", upload, url + "a"], input=stdin, capture_output=True, check=True
            )
            self.assertIn(done.stdout, (b"201", b"204"))
            self.assertEqual((self.scene.root / "a").read_bytes(), source.read_bytes())
