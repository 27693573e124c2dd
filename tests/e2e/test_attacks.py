"""Attacks on sessions, links, trash and uploads that no other test makes.

tests/docs/attacks.txt has the whole list, and what holds each.
"""

import io
import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urljoin

from http_client import Answer, HttpClient, check_rows, request
from links_scene import PASSWORD, LinksScene, password
from parts_scene import LAST, MORE, STREAM, TUS, metadata
from programs import Program
from scene import with_loops

OURS = "Sec-Fetch-Site: same-origin"
EVIL = "Origin: http://evil.example"
PAGE = "Accept: text/html"
NOTHING = "Content-Length: 0"


class AttacksScene(LinksScene):
    """amy may all and is an administrator."""

    def setUp(self) -> None:
        super().setUp()
        self.account("--make-admin", "amy")

    def serve(self, *flags: object, auth: Program | None = None) -> Program:
        return super().serve("--trash", 7, "--max-upload", 1000, *flags, auth=auth)

    def user(self, name: str) -> HttpClient:
        return self.http(name, PASSWORD)

    def post(self, path: str, content: object, *fields: str, by: str = "") -> Answer:
        client = self.user(by) if by else self.http()
        return client.ask(path, *fields, method="POST", body=json.dumps(content).encode())

    def cookie(self, user: str, *fields: str) -> str:
        answer = self.post("/-/session", {"user": user, "password": PASSWORD}, *fields)
        self.assertEqual(answer.status, 204)
        return "Cookie: " + answer.fields["set-cookie"].partition(";")[0]

    def told(self, path: str, by: str = "amy") -> Any:
        answer = self.user(by).ask(path)
        self.assertEqual(answer.status, 200)
        return json.loads(answer.body)

    def invited(self, verb: str, user: str) -> str:
        """The token of a new link by which the user chooses a password."""
        answer = self.post(f"/-/admin/{verb}", {"user": user}, by="amy")
        self.assertEqual(answer.status, 201)
        token: str = json.loads(answer.body)["link"].partition("#")[2]
        return token

    def choose(self, token: str, new: str = PASSWORD) -> int:
        return self.post("/-/invitation", {"token": token, "new": new}).status


@with_loops
class SessionAttacksTest(AttacksScene):
    def test_what_ends_with_an_account_or_a_new_password(self) -> None:
        def made() -> tuple[str, str]:
            return self.cookie("bob"), self.made("docs", user="bob")

        def all_of(cookie: str, link: str) -> tuple[int, int]:
            return self.status("/", cookie), self.status(link)

        mine = made()
        self.assertEqual(self.post("/-/admin/disable", {"user": "bob"}, by="amy").status, 204)
        self.assertEqual(all_of(*mine), (401, 404))
        self.assertEqual(self.post("/-/admin/enable", {"user": "bob"}, by="amy").status, 204)
        mine = made()
        token = self.invited("reset", "bob")
        self.assertEqual(all_of(*mine), (200, 200))
        self.assertEqual(self.choose(token), 204)
        self.assertEqual(all_of(*mine), (401, 404))
        mine = made()
        new = {"old": PASSWORD, "new": "another"}
        self.assertEqual(self.post("/-/password", new, mine[0], OURS).status, 204)
        self.assertEqual(all_of(*mine), (401, 404))

    def test_who_takes_the_name_of_somebody_removed_gets_nothing_else(self) -> None:
        cookie, link = self.cookie("bob"), self.made("docs", user="bob")
        app = json.loads(self.post("/-/apps", {"name": "x"}, by="bob").body)["password"]
        invitation = self.invited("reset", "bob")
        self.assertEqual(self.post("/-/admin/remove", {"user": "bob"}, by="amy").status, 204)
        self.assertEqual(self.choose(self.invited("add", "bob")), 204)
        self.assertEqual(self.status("/", cookie), 401)
        self.assertEqual(self.status("/", password(app, "bob")), 401)
        self.assertEqual(self.status(link), 404)
        self.assertEqual(self.choose(invitation, "theirs"), 401)
        self.assertEqual([self.told(f"/-/{one}", "bob") for one in ("apps", "links")], [[], []])

    def test_no_token_passes_as_one_of_another_kind(self) -> None:
        session = self.cookie("bob").partition("=")[2]
        app = json.loads(self.post("/-/apps", {"name": "x"}, by="bob").body)["password"]
        link = self.made("docs", user="bob").split("/")[-2]
        invitation = self.invited("reset", "bob")
        doors = (
            (session, lambda one: self.status("/", f"Cookie: turnstile={one}"), 401),
            (app, lambda one: self.status("/", password(one, "bob")), 401),
            (link, lambda one: self.status(f"/-/l/{one}/"), 404),
            (invitation, self.choose, 401),
        )
        for opened_by, door, refusal in doors[:3]:
            for token, *_ in doors:
                with self.subTest(door=opened_by, token=token):
                    self.assertEqual(door(token), 200 if token == opened_by else refusal)
        for token in (session, app, link):
            self.assertEqual(self.choose(token), 401)
        self.assertEqual(self.choose(invitation), 204)

    def test_an_invitation_counts_once_and_a_newer_one_ends_it(self) -> None:
        old = self.invited("reset", "bob")
        new = self.invited("reset", "bob")
        self.assertEqual(self.choose(old, "theirs"), 401)
        chosen = [f"choice {number}" for number in range(8)]
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda one: self.choose(new, one), chosen))
        self.assertEqual((answers.count(204), answers.count(401)), (1, 7))
        first = chosen[answers.index(204)]
        self.assertEqual(self.status("/", password(first, "bob")), 200)
        pending = self.invited("reset", "bob")
        self.assertEqual(self.post("/-/admin/disable", {"user": "bob"}, by="amy").status, 204)
        self.choose(pending)
        self.assertEqual(self.user("bob").ask("/").status, 401)

    def test_no_line_break_in_a_value_is_a_line_for_the_authserver(self) -> None:
        line = "\nnew:eve:wonderland\n"
        for path, content, by in (
            ("/-/session", {"user": f"bob{line}", "password": "x"}, ""),
            ("/-/session", {"user": "bob", "password": f"x{line}"}, ""),
            ("/-/session", {"user": "bob:x", "password": PASSWORD}, ""),
            ("/-/accounts", {"user": "dan", "password": f"x{line}"}, ""),
            ("/-/accounts", {"user": f"dan{line}", "password": "x"}, ""),
            ("/-/invitation", {"token": f"{'A' * 43}{line}", "new": "x"}, ""),
            ("/-/invitation", {"token": "A" * 43, "new": f"x{line}"}, ""),
            ("/-/password", {"old": PASSWORD, "new": f"x{line}"}, "bob"),
            ("/-/password", {"old": f"x{line}", "new": "x"}, "bob"),
            ("/-/apps", {"name": f"x{line}"}, "bob"),
            ("/-/links", {"path": f"docs{line}", "may": "read"}, "amy"),
            ("/-/links", {"path": "docs", "may": f"read{line}"}, "amy"),
            ("/-/links", {"path": "docs", "may": "read", "password": f"x{line}"}, "amy"),
            ("/-/admin/add", {"user": f"dan{line}"}, "amy"),
            ("/-/admin/end", {"user": "bob", "id": f"x{line}"}, "amy"),
        ):
            with self.subTest(path, content=content):
                self.assertIn(self.post(path, content, by=by).status, (401, 404, 422))
        quoted = line.replace("\n", "%0A").replace(":", "%3A")
        for path in ("admin/list/bob", "admin/sessions/bob", "admin/rights/bob"):
            self.assertEqual(self.user("amy").ask(f"/-/{path}{quoted}").status, 404)
        for path in ("links", "apps"):
            asked = self.user("amy").ask(f"/-/{path}/{'A' * 22}{quoted}", method="DELETE")
            self.assertEqual(asked.status, 404)
        self.assertEqual(self.status(f"/-/l/{'A' * 43}{quoted}/"), 404)
        self.assertEqual(self.status("/", password(f"x{line}", "bob")), 401)
        self.assertEqual(self.status("/", password("x", f"bob{line}")), 401)
        users = [one["user"] for one in self.told("/-/admin/list")]
        self.assertEqual(users, ["amy", "bob", "cid"])

    def test_nobody_makes_himself_an_administrator(self) -> None:
        for further in ({"admin": True}, {"admin": 1}, {"role": "admin"}):
            content = {"user": "eve", "password": PASSWORD, **further}
            self.assertEqual(self.post("/-/accounts", content).status, 422)
            self.assertEqual(self.post("/-/session", content).status, 422)
        cookie = self.cookie("amy")
        self.assertEqual(self.status("/-/admin/list", cookie), 200)
        self.account("--unmake-admin", "amy")
        self.assertEqual(self.status("/-/admin/list", cookie), 404)
        add = self.post("/-/admin/add", {"user": "eve"}, cookie, OURS)
        self.assertEqual(add.status, 404)

    def test_no_page_of_ours_is_shown_in_a_frame_or_runs_a_script_of_its_own(self) -> None:
        drop, read = self.made("inbox", "drop"), self.made("docs")
        pages = [(drop, ""), (read, ""), (read[:-3] + "/", ""), ("/", ""), ("/-/invitation", "")]
        pages += [(path, "amy") for path in ("/", "/-/account", "/-/admin/people", "/none")]
        for path, by in pages:
            with self.subTest(path, by=by):
                client = self.user(by) if by else self.http()
                answer = client.ask(path, PAGE)
                self.assertIn(b"<!doctype html>", answer.body)
                policy = answer.fields["content-security-policy"]
                parts = dict(one.strip().partition(" ")[::2] for one in policy.split(";"))
                self.assertEqual(parts["default-src"], "'none'")
                self.assertEqual(parts["frame-ancestors"], "'none'")
                self.assertIn(parts.get("script-src", "'none'"), ("'self'", "'none'"))
                self.assertNotIn("unsafe", policy)
                self.assertNotRegex(answer.body, rb"<script(?! defer src=\"/-/)|\son[a-z]+=")

    def test_no_other_origin_is_let_in(self) -> None:
        asks = (EVIL, "Access-Control-Request-Method: DELETE", "Cookie: turnstile=x")
        for method in ("GET", "OPTIONS", "HEAD", "PROPFIND", "DELETE", "POST"):
            for path in (
                "/docs/a.txt",
                "/",
                "/-/session",
                "/-/admin/list",
                "/-/tus/",
                "/-/parts/x",
            ):
                with self.subTest(method, path=path):
                    fields = self.user("amy").ask(path, *asks, method=method).fields
                    told = [name for name in fields if name.startswith("access-control")]
                    self.assertEqual(told, [])
                    self.assertEqual(fields["cross-origin-resource-policy"], "same-origin")

    def test_a_method_does_not_hide_behind_another_one(self) -> None:
        amy = password(PASSWORD, "amy")
        secret = "Cookie: turnstile=secret"
        answer = self.ask("/docs/a.txt", amy, secret, method="TRACE")
        self.assertEqual((answer.status, b"secret" in answer.body), (405, False))
        for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
            for target in ("/docs/a.txt", "/docs/", "/-/session", "/-/trash/"):
                for fields in ((amy,), (self.cookie("amy"), OURS)):
                    asked = (target, *fields, f"{name}: DELETE", NOTHING)
                    self.assertIn(self.status(*asked, method="POST"), (404, 405, 422), asked)
                    self.assertIn(self.status(*asked, method="GET"), (200, 405), asked)
        for target in ("/docs/a.txt?_method=DELETE", "/docs/a.txt?method=DELETE"):
            self.assertEqual(self.status(target, amy, NOTHING, method="POST"), 405)
        self.assertEqual((self.scene.root / "docs/a.txt").read_bytes(), b"docs/a.txt")

    def test_guesses_by_all_doors_at_once_are_counted_together(self) -> None:
        cookie = self.cookie("bob")

        def by_basic(guess: str) -> int:
            return self.status("/", password(guess, "bob"))

        def by_log_in(guess: str) -> int:
            return self.post("/-/session", {"user": "bob", "password": guess}).status

        def by_old_password(guess: str) -> int:
            return self.post("/-/password", {"old": guess, "new": "x"}, cookie, OURS).status

        doors = (by_basic, by_log_in, by_old_password)
        with ThreadPoolExecutor(12) as threads:
            told = list(threads.map(lambda at: doors[at % 3](f"guess {at}"), range(36)))
        self.assertEqual(set(told), {401, 429})
        # One is forgiven every six seconds, which the guesses may take under load.
        self.assertLessEqual(told.count(401), 14)
        self.assertEqual(by_log_in(PASSWORD), 429)
        self.assertEqual(self.status("/", cookie), 200)

    def test_a_name_that_is_none_is_answered_as_a_wrong_password(self) -> None:
        self.assertEqual(self.post("/-/admin/disable", {"user": "cid"}, by="amy").status, 204)
        answers = []
        for user in ("bob", "nobody", "cid"):
            for path, content, fields in (
                ("/-/session", {"user": user, "password": "wrong"}, ()),
                ("/-/session", {"user": user, "password": "wrong"}, (PAGE,)),
            ):
                answer = self.post(path, content, *fields)
                answer.fields.pop("date")
                answers.append(answer)
        for answer in answers[2:]:
            self.assertEqual(answer, answers[answers.index(answer) % 2])
        self.assertEqual({one.status for one in answers}, {401})

    def test_no_redirect_leads_elsewhere(self) -> None:
        amy = self.user("amy")
        names = ("javascript:alert(1)", "http:", "evil.example", "a b\u00e4", "?x", "#y")
        for name in names:
            (self.scene.root / name).mkdir()
        link = self.made("/")
        for name in names:
            quoted = name.replace(" ", "%20").replace("?", "%3F").replace("#", "%23")
            for target, client in ((f"/{quoted}", amy), (f"{link}{quoted}", self.http())):
                with self.subTest(target):
                    answer = client.ask(target)
                    self.assertEqual(answer.status, 301)
                    leads = urljoin(f"http://localhost{target}", answer.fields["location"])
                    self.assertTrue(leads.startswith("http://localhost/"), leads)
        for target in (
            "//evil.example",
            "//evil.example/%2e%2e",
            "/%2fevil.example",
            "/%5cevil",
            "/docs%0d%0aSet-Cookie:x=y",
            "/docs/..//evil.example",
        ):
            with self.subTest(target):
                answer = self.user("amy").ask(target)
                self.assertEqual((answer.status, answer.fields.get("location")), (404, None))

    def test_a_token_in_an_address_or_a_body_is_no_credential(self) -> None:
        cookie = self.cookie("amy").partition(" ")[2]
        token = cookie.partition("=")[2]
        for target in (
            f"/?{cookie}",
            f"/;{cookie}",
            f"/?token={token}",
            f"http://amy:{token}@localhost/",
        ):
            self.assertIn(self.status(target), (400, 401, 404, 421), target)
        for fields in ((f"X-Auth-Token: {token}",), (f"Authorization: Bearer {token}",)):
            self.assertEqual(self.status("/", *fields), 401)


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
