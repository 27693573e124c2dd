"""Attacks on links that no other test makes: tests/docs/attacks.txt."""

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor

from attacks_scene import NOTHING, OURS, PAGE, AttacksScene
from http_client import check_rows, request
from links_scene import PASSWORD, password
from parts_scene import MORE, TUS, metadata
from scene import with_loops


@with_loops
class LinkAttacksTest(AttacksScene):
    def test_the_address_of_a_link_is_not_told_on(self) -> None:
        for name in ("page.html", "picture.svg", "data.bin"):
            self.scene.write(f"docs/{name}", b"<a href='http://evil.example/'>x</a>")
        link, locked = self.made("docs"), self.made("docs", password="p")
        for target in (
            *(link + one for one in ("", "page.html", "picture.svg", "data.bin", "a.txt", "none")),
            *(link + one for one in ("sub", "sub/", "?zip")),
            *(locked, f"{locked}a.txt"),
        ):
            with self.subTest(target):
                fields = self.ask(target, PAGE).fields
                self.assertEqual(fields["referrer-policy"], "no-referrer")
                self.assertEqual(fields["x-robots-tag"], "noindex")
                self.assertRegex(fields.get("cache-control", "private"), "private|no-store")

    def test_no_spelling_of_a_hidden_name_opens_it(self) -> None:
        link = self.made("docs", user="bob")
        for path in (
            "hidden/c.txt",
            "hidden%2fc.txt",
            "hidden%2Fc.txt",
            "%68idden/c.txt",
            "%2568idden/c.txt",
            "hidden//c.txt",
            "./hidden/c.txt",
            "sub/../hidden/c.txt",
            "sub/%2e%2e/hidden/c.txt",
            "sub%2f..%2fhidden%2fc.txt",
            "sub\\..\\hidden\\c.txt",
            "hidden/c.txt%00.jpg",
            "hidden/c.txt/",
            "hidden;/c.txt",
            "hidden./c.txt",
            "hidden%20/c.txt",
            "?zip&name=hidden%2fc.txt",
            "?zip&name=sub%2f..%2fhidden",
            "?zip&name=..",
            "?zip&name=.",
            "?zip&name=../other.txt",
            "?zip&name=..%2fother.txt",
            "?zip&name=%2fetc%2fpasswd",
        ):
            with self.subTest(path):
                for target, client in ((link, self.http()), ("/docs/", self.user("bob"))):
                    if target == "/docs/" and path.startswith("?zip"):
                        path = "/-/zip/docs/?" + path.removeprefix("?zip&")
                        target = ""
                    answer = client.ask(target + path)
                    self.assertIn(answer.status, (200, 404) if "name=" in path else (404,))
                    if answer.status == 200:
                        zipped = zipfile.ZipFile(io.BytesIO(answer.body))
                        self.assertEqual(zipped.namelist(), [])

    def test_no_path_of_the_server_is_below_a_link(self) -> None:
        mine = password(PASSWORD, "amy")
        tus = (TUS, "Upload-Length: 1", metadata("x"), NOTHING)
        for link in (self.made("docs"), self.made("/"), self.made("inbox", "drop")):
            for further in ((), (mine,), (self.cookie("amy"), OURS)):
                check_rows(
                    self,
                    self.http,
                    (
                        (404, f"GET {link}-/search/?q=a", *further),
                        (404, f"GET {link}-/sha256/a.txt", *further),
                        (404, f"GET {link}-/admin/list", *further),
                        (404, f"GET {link}-/links", *further),
                        (404, f"GET {link}-/trash/", *further),
                        (404, f"GET {link}.turnstile-trash/", *further),
                        (404, f"GET {link}.turnstile-upload-parts/", *further),
                        (405, f"POST {link}-/parts/x", MORE, NOTHING, *further),
                        (405, f"POST {link}-/tus/", *tus, *further),
                        (405, f"DELETE {link}-/session", *further),
                    ),
                )
        self.assertEqual([path.name for path in (self.scene.root / "inbox").iterdir()], [])

    def test_a_cookie_of_the_maker_opens_no_more_of_a_link(self) -> None:
        read, drop = self.made("docs", user="bob"), self.made("inbox", "drop")
        for fields in ((self.cookie("amy"), OURS), (password(PASSWORD, "amy"),)):
            self.assertEqual(self.status(f"{read}hidden/c.txt", *fields), 404)
            self.assertEqual(self.status(f"{read}a.txt", *fields, method="DELETE"), 405)
            self.assertEqual(self.status(f"{drop}a", *fields), 404)
            answer = self.ask(f"{drop}?x", PAGE, *fields)
            self.assertNotIn(b"amy", answer.body)
            self.assertNotIn("set-cookie", answer.fields)

    def test_a_guest_fills_no_disk_and_takes_no_name_of_ours(self) -> None:
        link = self.made("inbox", "drop")
        ours = [".turnstile-trash", ".turnstile-upload-parts", ".turnstile-upload-x"]
        stored = [self.status(link + name, method="PUT", body=b"x") for name in ours].count(201)
        entries = json.loads(self.user("amy").ask("/inbox/", "Accept: application/json").body)
        names = {path.name for path in (self.scene.root / "inbox").iterdir()}
        self.assertEqual((len(entries), {one["name"] for one in entries}), (stored, names))
        self.assertFalse(names & set(ours))
        for length in ("1001", str((1 << 63) - 1)):
            fields = (f"Content-Length: {length}", "Expect: 100-continue")
            self.assertEqual(self.status(f"{link}a", *fields, method="PUT"), 413)
        chunked = self.http()
        chunked.send(request(f"{link}a", "Transfer-Encoding: chunked", method="PUT"))
        chunked.send(b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n")
        self.assertEqual(chunked.answer("PUT").status, 413)
        self.assertFalse((self.scene.root / "inbox/a").exists())

    def test_guesses_of_the_password_of_a_link_at_once_are_counted(self) -> None:
        link = self.made("docs", password="p")
        with ThreadPoolExecutor(12) as threads:
            asked = [password(f"guess {at}") for at in range(30)]
            told = list(threads.map(lambda field: self.status(link, field), asked))
        self.assertEqual(set(told), {401, 429})
        self.assertLessEqual(told.count(401), 14)
        self.assertEqual(self.status(link, password("p")), 429)
