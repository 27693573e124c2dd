"""Attacks on files, trash and uploads that no other test makes: tests/docs/attacks.txt."""

import io
import zipfile
from typing import Any

from attacks_scene import NOTHING, AttacksScene
from http_client import check_rows
from links_scene import PASSWORD, password
from parts_scene import LAST, MORE, STREAM, TUS, metadata
from scene import with_loops


@with_loops
class FileAttacksTest(AttacksScene):
    def trashed(self, path: str) -> str:
        self.assertEqual(self.user("amy").ask(path, method="DELETE").status, 204)
        identity: str = self.told("/-/trash/")[0]["id"]
        return identity

    def test_nothing_is_put_back_out_of_the_served_folder(self) -> None:
        root = self.scene.root
        outside = self.scene.folder / "outside"
        outside.mkdir()
        for leads in ("../../outside", outside):
            self.scene.write("inbox/box/d.txt", b"x")
            identity = self.trashed("/inbox/box/d.txt")
            (root / "inbox/box").rmdir()
            (root / "inbox/box").symlink_to(leads)
            with self.subTest(leads):
                answer = self.post(f"/-/trash/{identity}", {}, by="amy")
                self.assertEqual(answer.status, 409)
                self.assertEqual(list(outside.iterdir()), [])
            (root / "inbox/box").unlink()

    def test_lengths_that_are_lies(self) -> None:
        amy = password(PASSWORD, "amy")
        for status, *fields in (
            (413, f"Content-Length: {(1 << 63) - 1}"),
            (400, f"Content-Length: {1 << 64}"),
            (400, "Content-Length: -1"),
            (400, "Content-Length: +1"),
            (400, "Content-Length: 0x10"),
            (400, "Content-Length: 1, 1"),
            (400, "Content-Length: 1", "Content-Length: 2"),
            (400, "Content-Length: 1", "Transfer-Encoding: chunked"),
            (413, NOTHING, MORE, "Upload-Length: 999999999999999"),
            (413, NOTHING, MORE, "X: 1", "Upload-Length: 1001"),
        ):
            with self.subTest(fields):
                self.assertEqual(self.status("/inbox/a", amy, *fields, method="PUT"), status)
        for offset in (str(1 << 63), str(1 << 64), "-1", "1e1", "0x0", "1, 1"):
            path = self.begun_tus("amy", "inbox/a")
            at = f"Upload-Offset: {offset}"
            asked = self.user("amy").ask(path, TUS, STREAM, at, method="PATCH", body=b"x")
            self.assertIn(asked.status, (400, 409), offset)
            self.assertEqual(self.user("amy").ask(path, TUS, method="DELETE").status, 204)
        self.assertEqual(list((self.scene.root / "inbox").iterdir()), [])

    def begun_tus(self, user: str, name: str) -> str:
        fields = (TUS, "Upload-Length: 5", metadata(name), NOTHING)
        answer = self.user(user).ask("/-/tus/", *fields, method="POST")
        self.assertEqual(answer.status, 201)
        return answer.fields["location"]

    def test_an_upload_of_somebody_else_is_met_by_nobody(self) -> None:
        path = self.begun_tus("bob", "a")
        never = "/-/tus/" + "a" * 32
        for user in ("amy", "cid", ""):
            for method, fields in (
                ("HEAD", ()),
                ("DELETE", ()),
                ("PATCH", (STREAM, "Upload-Offset: 0", NOTHING)),
                ("POST", (STREAM, "Upload-Offset: 0", NOTHING, "X-HTTP-Method-Override: PATCH")),
                ("POST", (NOTHING, "X-HTTP-Method-Override: DELETE")),
            ):
                with self.subTest(user, method=method):
                    answers = []
                    for target in (path, never):
                        client = self.user(user) if user else self.http()
                        answers.append(client.ask(target, TUS, *fields, method=method))
                        answers[-1].fields.pop("date")
                    self.assertEqual(answers[0], answers[1])
                    self.assertEqual(answers[0].status, 404 if user else 401)
        self.assertEqual(self.user("bob").ask(path, TUS, method="HEAD").status, 200)

    def test_no_door_leads_to_what_may_not_be_read(self) -> None:
        """bob may not read /docs/hidden, nor write to /docs."""
        taken = b'{"path": "docs/hidden", "may": "drop"}'
        tus = (TUS, "Upload-Length: 1", NOTHING)
        to = "Destination: http://localhost/{}".format
        check_rows(
            self,
            lambda: self.user("bob"),
            (
                *((404, f"{method} /docs/hidden/c.txt") for method in ("GET", "HEAD", "DELETE")),
                (404, "PROPFIND /docs/hidden/", "Depth: 0"),
                (404, "PUT /docs/hidden/new", b"x"),
                (404, "MKCOL /docs/hidden/new"),
                (404, "LOCK /docs/hidden/c.txt"),
                (404, "COPY /docs/hidden/c.txt", to("mine")),
                (404, "MOVE /docs/hidden/", to("mine")),
                (404, "GET /-/sha256/docs/hidden/c.txt"),
                (404, "GET /-/zip/docs/hidden/"),
                (404, "GET /-/search/docs/hidden/?q=c"),
                (404, "POST /-/parts/docs/hidden/new", MORE, NOTHING),
                (404, "POST /-/tus/", *tus, metadata("docs/hidden/new")),
                (404, "POST /-/tus/docs/hidden/", *tus, metadata("new")),
                (404, "POST /-/links", taken),
                (403, "PUT /docs/new", b"x"),
                (403, "COPY /other.txt", to("docs/new")),
                (403, "MOVE /other.txt", to("docs/new")),
                (403, "POST /-/parts/docs/new", MORE, NOTHING),
                (403, "POST /-/tus/", *tus, metadata("docs/new")),
                (403, "DELETE /docs/"),
                (403, "MOVE /docs/", to("mine")),
            ),
        )
        self.assertEqual((self.scene.root / "docs/hidden/c.txt").read_bytes(), b"docs/hidden/c.txt")

    def test_no_name_of_ours_is_taken_by_any_door(self) -> None:
        to = "Destination: http://localhost/{}".format
        tus = (TUS, "Upload-Length: 1", NOTHING)
        for name in (".turnstile-trash", ".turnstile-upload-parts", ".turnstile-upload-x"):
            check_rows(
                self,
                lambda: self.user("amy"),
                (
                    (409, f"PUT /{name}", b"x"),
                    (409, f"PUT /docs/{name}", b"x"),
                    (409, "COPY /other.txt", to(name)),
                    (409, "MOVE /docs/", to(f"{name}/")),
                    (409, f"POST /-/parts/{name}", MORE, NOTHING),
                    (409, "POST /-/tus/", *tus, metadata(name)),
                    (404, f"DELETE /{name}/"),
                    (404, f"GET /-/zip/{name}/"),
                    (404, f"GET /-/search/{name}/?q=a"),
                ),
            )
            made = self.user("amy").ask(f"/{name}", method="MKCOL").status
            self.assertIn(made, (405, 409))
            self.assertEqual(self.asked_for({"path": name, "may": "drop"}).status, 404)

    def test_no_markup_runs_as_a_page_of_ours(self) -> None:
        markup = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>" * 9
        names = ("a.html", "a.HTM", "a.xhtml", "a.svg", "a.SvG", "a.xml")
        for name in names:
            self.scene.write(f"docs/{name}", markup)
        self.scene.write("docs/a.txt", markup)
        self.scene.write("docs/none", markup)
        link = self.made("docs")
        ways = ((), ("Range: bytes=0-9",), ("Range: bytes=0-1,20-29",), ("If-Match: *",))
        for name in (*names, "a.txt", "none"):
            for target in (f"/docs/{name}", link + name):
                for fields in ways:
                    with self.subTest(target, fields=fields):
                        by = () if target.startswith(link) else (password(PASSWORD, "amy"),)
                        answer = self.ask(target, *by, *fields)
                        self.assertIn(answer.status, (200, 206))
                        self.assertEqual(answer.fields["x-content-type-options"], "nosniff")
                        policy = answer.fields.get("content-security-policy", "")
                        if name in names:
                            self.assertRegex(policy, r"(\A|; *)sandbox(\Z|;)")
                            self.assertNotIn("allow-", policy)
                        else:
                            kind = answer.fields["content-type"]
                            self.assertRegex(kind, r"text/plain|octet-stream|multipart/byteranges")

    def test_a_zip_has_no_name_that_climbs(self) -> None:
        for name in ("..\\..\\evil.txt", "C:\\evil.txt", "a\nb", "\\x"):
            self.scene.write(f"docs/{name}", b"x")
        for target in ("/-/zip/docs/", "/-/zip/", self.made("docs") + "?zip"):
            by = password(PASSWORD, "amy")
            fields = () if target.startswith("/-/l/") else (by,)
            names = zipfile.ZipFile(io.BytesIO(self.ask(target, *fields).body)).namelist()
            self.assertTrue(names)
            for name in names:
                self.assertNotRegex(name, r"\\|\A/|(\A|/)\.\.(/|\Z)|[\x00-\x1f]|\A[A-Za-z]:")

    def test_bodies_that_grow(self) -> None:
        deep = b"[" * 4000
        laughs = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "&c;&c;">]><propfind xmlns="DAV:">'
        outside = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
        nested = b"<a>" * 20_000
        zipped = "Content-Encoding: gzip"
        paths = ("session", "links", "apps")
        rows: list[tuple[Any, ...]] = [(422, f"POST /-/{one}", deep) for one in paths]
        rows += [
            (400, f"{method} /docs/", "Depth: 0", body)
            for method in ("PROPFIND", "LOCK", "PROPPATCH")
            for body in (laughs, outside, nested)
        ]
        check_rows(
            self,
            lambda: self.user("amy"),
            (
                *rows,
                (415, "PUT /inbox/a", zipped, b"\x1f\x8b"),
                (415, "POST /-/parts/inbox/a", LAST, zipped, b"\x1f\x8b"),
                (415, "PROPFIND /docs/", "Depth: 0", zipped, b"\x1f\x8b"),
                (422, "POST /-/session", zipped, b"\x1f\x8b"),
            ),
        )
        self.assertEqual(self.told("/-/whoami")["user"], "amy")
