"""Links for guests: who has one reads what it names, and nothing else, for as long as it lasts."""

import io
import json
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from http_client import Answer
from links_scene import ADDRESS, NOBODYS, PASSWORD, RIGHTS, LinksScene, password
from scene import with_loops

PAGE = "Accept: text/html"
JSON = "Accept: application/json"


@with_loops
class LinksTest(LinksScene):
    def names(self, target: str) -> list[str]:
        return sorted(entry["name"] for entry in json.loads(self.ask(target, JSON).body))

    def test_a_folder_is_read_with_all_that_is_below_it_and_nothing_beside_it(self) -> None:
        link = self.made("/docs")
        self.assertEqual(self.names(link), ["a.txt", "hidden", "sub"])
        self.assertEqual(self.names(f"{link}sub/"), ["b.txt"])
        self.assertEqual(self.ask(f"{link}a.txt").body, b"docs/a.txt")
        part = self.ask(f"{link}a.txt", "Range: bytes=0-3")
        self.assertEqual((part.status, part.body), (206, b"docs"))
        self.assertEqual(self.ask(f"{link}sub").fields["location"], "sub/")
        self.assertEqual(self.ask(link.rstrip("/")).fields["location"], link.split("/")[-2] + "/")
        zipped = zipfile.ZipFile(io.BytesIO(self.ask(f"{link}sub/?zip").body))
        self.assertEqual(zipped.namelist(), ["b.txt"])
        chosen = zipfile.ZipFile(io.BytesIO(self.ask(f"{link}?zip&name=a.txt").body))
        self.assertEqual(chosen.namelist(), ["a.txt"])
        for path in ("other.txt", "nope", "a.txt/", "docs/a.txt", "-/zip/", "-/trash/", "sub/-/x"):
            with self.subTest(path):
                self.assertEqual(self.status(link + path), 404)
        for path in ("../other.txt", "%2e%2e/other.txt", "%2e%2e%2fother.txt", "/a.txt", "%00"):
            for fields in ((), (password(PASSWORD, "amy"),)):
                with self.subTest(path, fields=fields):
                    self.assertEqual(self.status(link + path, *fields), 404)

    def test_the_whole_share_has_no_paths_of_the_server(self) -> None:
        link = self.made("/")
        self.scene.write("-/file", b"of no path")
        self.assertEqual(self.ask(f"{link}other.txt").body, b"other.txt")
        self.assertEqual(self.ask(f"{link}docs/a.txt").body, b"docs/a.txt")
        for path in ("-/", "-/whoami", "-/zip/", "-/trash/", "-/l/", "-/file", "-/?zip"):
            with self.subTest(path):
                self.assertEqual(self.status(link + path), 404)

    def test_a_file_is_at_the_address_itself_and_keeps_its_name(self) -> None:
        link = self.made("docs/a.txt")
        for target in (link, f"{link}a.txt"):
            self.assertEqual(self.ask(target).body, b"docs/a.txt")
        shown = self.ask(link, method="HEAD").fields["content-disposition"]
        self.assertEqual(shown, "inline; filename*=UTF-8''a.txt")
        for path in ("b.txt", "a.txt/", "sub/b.txt", "?zip/", "a.txt/x"):
            with self.subTest(path):
                self.assertIn(self.status(link + path), (200, 404) if path[0] == "?" else (404,))
        (self.scene.root / "docs/a.txt").unlink()
        (self.scene.root / "docs/a.txt").mkdir()
        self.scene.write("docs/a.txt/new", b"x")
        for target in (link, link[:-1], f"{link}a.txt", f"{link}new", f"{link}a.txt/new"):
            answer = self.ask(target)
            self.assertEqual((answer.status, answer.fields.get("content-disposition")), (404, None))

    def test_a_guest_only_reads(self) -> None:
        link = self.made("docs")
        for method in ("PUT", "DELETE", "MKCOL", "PROPFIND", "MOVE", "COPY", "LOCK", "POST"):
            for path in ("", "a.txt", "new"):
                with self.subTest(method, path=path):
                    fields = (f"Destination: http://localhost{link}moved",)
                    body = b"x" if method in ("PUT", "POST") else b""
                    asked = self.ask(link + path, *fields, method=method, body=body)
                    self.assertEqual(asked.status, 405)
        self.assertEqual(self.names(link), ["a.txt", "hidden", "sub"])

    def test_a_page_says_nothing_of_who_made_it(self) -> None:
        link = self.made("docs")
        page = self.ask(link, PAGE)
        self.assertEqual(page.fields["referrer-policy"], "no-referrer")
        self.assertEqual(page.fields["x-robots-tag"], "noindex")
        text = page.body.decode()
        for word in ("amy", "Signed in", "data-writable", "data-trash", "/-/zip/"):
            self.assertNotIn(word, text)
        self.assertIn("<title>/ - docs</title>", text)
        below = self.ask(f"{link}sub/", PAGE).body.decode()
        self.assertIn('<a href="../">/</a><bdi>sub</bdi>/', below)

    def test_a_password_is_asked_for_and_any_user_will_do(self) -> None:
        link = self.made("docs", password="pässword")
        for fields in ((), (password(""),), (password("wrong"),), (password(PASSWORD, "amy"),)):
            with self.subTest(fields):
                answer = self.ask(f"{link}a.txt", PAGE, *fields)
                self.assertEqual(answer.status, 401)
                self.assertTrue(answer.fields["www-authenticate"].startswith('Basic realm="link"'))
        for user in ("", "guest", "amy", "not a user"):
            with self.subTest(user):
                answer = self.ask(f"{link}a.txt", password("pässword", user))
                self.assertEqual(answer.body, b"docs/a.txt")
        (listed,) = self.listed()
        self.assertTrue(listed["password"])
        self.assertNotIn("pässword", json.dumps(listed, ensure_ascii=False))

    def test_uses_are_files_that_were_sent_and_nothing_else_counts(self) -> None:
        link = self.made("docs", uses=3, password="p")
        fields = (password("p"),)
        for _ in range(3):
            self.assertEqual(self.status(f"{link}a.txt", *fields, method="HEAD"), 200)
            self.assertEqual(self.status(link, *fields), 200)
            self.assertEqual(self.status(f"{link}nope", *fields), 404)
            self.assertEqual(self.status(f"{link}a.txt"), 401)
            self.assertEqual(self.status(f"{link}nope/?zip", *fields), 404)
            self.assertEqual(self.status(f"{link}a.txt", *fields, "If-Match: x"), 412)
            self.assertEqual(self.status(f"{link}a.txt", *fields, "Range: bytes=99-"), 416)
        for left in (2, 1):
            self.assertEqual(self.status(f"{link}a.txt", *fields), 200)
            self.assertEqual(self.listed()[0]["uses"], left)
        self.assertEqual(self.status(f"{link}sub/?zip", *fields), 200)
        self.assert_is_gone(link, *fields)
        self.assertEqual(self.listed(), [])

    def test_nothing_tells_what_is_in_a_file_without_a_use(self) -> None:
        wants = "Want-Repr-Digest: sha-256=9"
        for uses, tells in ((1, False), (None, True)):
            link = self.made("docs/a.txt", uses=uses)
            answer = self.ask(link, wants, method="HEAD")
            self.assertEqual((answer.status, "repr-digest" in answer.fields), (200, tells))
            self.assertIn("repr-digest", self.ask(link, wants).fields)

    def test_an_if_header_tells_nothing_of_other_paths(self) -> None:
        link = self.made("docs")
        for path in ("/docs/a.txt", "/docs/nope", "/other.txt"):
            for condition in ("[*]", "(Not <a:b>)"):
                field = f"If: <{path}> ({condition})"
                self.assertEqual(self.status(f"{link}a.txt", field), 412)

    def test_of_many_guests_at_once_as_many_get_the_file_as_there_are_uses(self) -> None:
        link = self.made("docs/a.txt", uses=5)
        with ThreadPoolExecutor(20) as threads:
            got = list(threads.map(self.status, [link] * 20))
        self.assertEqual(Counter(got), {200: 5, 404: 15}, self.server.log())

    def assert_is_gone(self, link: str, *fields: str) -> None:
        """As if it never had been: in its words, and whatever is asked."""
        for path, method in (("", "GET"), ("a.txt", "GET"), ("", "HEAD"), ("x", "PUT")):
            told = [
                self.ask(address + path, *fields, method=method)
                for address in (link, f"/-/l/{NOBODYS}/")
            ]
            for answer in told:
                answer.fields.pop("date")
            self.assertEqual(told[0], told[1])
            self.assertEqual(told[0].status, 404)

    def test_it_ends_with_its_time_or_when_it_is_revoked(self) -> None:
        short = self.made("docs", end=int(time.time()) + 2)
        until = self.listed()[0]["end"]
        self.assertEqual(self.status(short), 200)
        time.sleep(max(0, until - time.time()) + 0.1)
        self.assert_is_gone(short)
        link = self.made("docs")
        (listed,) = self.listed()
        self.assertEqual(self.revoked(listed, "bob"), 404)
        self.assertEqual(self.status(link), 200)
        self.assertEqual(self.revoked(listed), 204)
        self.assert_is_gone(link)
        self.assertEqual(self.revoked(listed), 404)

    def test_it_ends_with_the_account_and_its_password_and_waits_while_that_is_disabled(
        self,
    ) -> None:
        links = {user: self.made("docs/a.txt", user=user) for user in ("amy", "bob")}
        self.account("--disable-account", "amy")
        self.assert_is_gone(links["amy"])
        self.account("--enable-account", "amy")
        self.assertEqual(self.status(links["amy"]), 200)
        self.account("--set-password", "amy", stdin="another\n")
        self.account("--remove-account", "bob")
        for link in links.values():
            self.assert_is_gone(link)

    def test_an_administrator_sees_and_ends_it(self) -> None:
        self.account("--make-admin", "amy")
        link = self.made("docs", user="bob")
        told = self.http("amy", PASSWORD).ask("/-/admin/sessions/bob")
        (listed,) = json.loads(told.body)
        self.assertEqual((listed["kind"], listed["path"]), ("link", "docs/"))
        body = json.dumps({"user": "bob", "id": listed["id"]}).encode()
        ended = self.http("amy", PASSWORD).ask("/-/admin/end", method="POST", body=body)
        self.assertEqual(ended.status, 204)
        self.assert_is_gone(link)

    def test_a_guest_may_never_more_than_the_maker_may_now(self) -> None:
        link = self.made("docs", user="bob")
        self.assertEqual(self.names(link), ["a.txt", "sub"])
        for path in ("hidden/", "hidden/c.txt", "hidden"):
            self.assertEqual(self.status(link + path), 404)
        names = zipfile.ZipFile(io.BytesIO(self.ask(f"{link}?zip").body)).namelist()
        self.assertEqual(sorted(names), ["a.txt", "sub/", "sub/b.txt"])
        self.change_rights(f"{RIGHTS}bob /docs/sub none\n")
        self.assertEqual(self.names(link), ["a.txt"])
        self.assertEqual(self.status(f"{link}sub/b.txt"), 404)
        self.change_rights("* / read write\nbob /docs none\n")
        self.assertEqual(self.status(link), 404)
        self.change_rights(RIGHTS)
        self.assertEqual(self.names(link), ["a.txt", "sub"])

    def test_nobody_makes_a_link_to_what_he_may_not_see_or_write(self) -> None:
        for user, path, may, status in (
            ("cid", "docs", "read", 404),
            ("cid", "docs/a.txt", "read", 404),
            ("bob", "docs/hidden", "read", 404),
            ("bob", "docs/hidden/c.txt", "read", 404),
            ("bob", "docs", "drop", 403),
            ("cid", "docs", "drop", 404),
            ("amy", "nope", "read", 404),
            ("amy", "nope", "drop", 404),
            ("amy", "-", "read", 404),
            ("amy", "-/trash", "read", 404),
            ("amy", "docs/a.txt", "drop", 422),
        ):
            with self.subTest(user, path=path, may=may):
                self.assertEqual(self.asked_for({"path": path, "may": may}, user).status, status)
        self.assertEqual([self.listed(user) for user in ("amy", "bob", "cid")], [[], [], []])

    def test_what_is_no_link(self) -> None:
        now = int(time.time())
        good = {"path": "docs", "may": "read"}
        for content in (
            {"path": "docs"},
            {"may": "read"},
            {**good, "may": "write"},
            {**good, "more": 1},
            {**good, "path": "../docs"},
            {**good, "path": "//docs"},
            {**good, "path": "//"},
            {**good, "path": ""},
            {**good, "path": "docs//sub"},
            {**good, "path": "d" * 231},
            {**good, "path": 1},
            {**good, "end": now - 1},
            {**good, "end": now + 11 * 366 * 86_400},
            {**good, "end": "2030-01-01"},
            {**good, "uses": 0},
            {**good, "uses": -1},
            {**good, "uses": 1.5},
            {**good, "uses": 1_000_001},
            {**good, "uses": True},
            {**good, "password": ""},
            {**good, "password": "x" * 129},
            {**good, "password": "a\nb"},
            b'{"path": "docs", "may": "read", "uses": 1, "uses": 1}',
            b'{"path": "docs", "may": "read", "uses": 1e3}',
            b'{"path": "docs", "may": "read", "uses": 01}',
            b'{"path": "docs", "may": "read", "end": 4000000000.}',
            b'{"path": "docs", "may": "read", "end": 4e9}',
            b'{"path": "docs", "may": "read"} x',
            b"no JSON",
        ):
            with self.subTest(content):
                self.assertEqual(self.asked_for(content).status, 422)
        self.assertEqual(self.listed(), [])
        link = self.made("docs", end=None, uses=None, password=None)
        self.assertEqual(self.status(link), 200)
        (listed,) = self.listed()
        self.assertEqual((listed["end"], listed["uses"], listed["password"]), (None, None, False))
        for part, end in ((0.25, now + 3601), (0.0, now + 3600)):  # as clocks of programs tell it
            self.made("docs", end=now + 3600 + part)
            self.assertIn(end, [one["end"] for one in self.listed()])

    def test_a_program_and_a_page_of_another_site_make_none(self) -> None:
        made = self.http("amy", PASSWORD).ask("/-/apps", method="POST", body=b'{"name": "x"}')
        app = self.http("amy", json.loads(made.body)["password"])
        body = b'{"path": "docs", "may": "read"}'
        self.assertEqual(app.ask("/-/links").status, 403)
        self.assertEqual(app.ask("/-/links", method="POST", body=body).status, 403)
        self.assertEqual(app.ask(f"/-/links/{'A' * 22}", method="DELETE").status, 403)
        amy = self.http("amy", PASSWORD)
        for field in ("Sec-Fetch-Site: cross-site", "Origin: http://evil.example"):
            answer = amy.ask("/-/links", field, method="POST", body=body)
            self.assertEqual(answer.status, 403)
            if answer.closes():
                amy = self.http("amy", PASSWORD)
        self.assertEqual(self.status("/-/links", method="POST", body=body), 401)
        self.assertEqual(self.listed(), [])

    def test_the_token_of_a_link_is_no_session_and_no_password(self) -> None:
        token = self.token_of(self.made("docs"))
        for fields in (
            (f"Cookie: turnstile={token}",),
            (password(token, "amy"),),
        ):
            for target in ("/", "/-/whoami", "/-/links", "/docs/a.txt"):
                self.assertEqual(self.status(target, *fields), 401)
        native = self.scene.client(self.authserver)
        self.assertEqual(native.ask(f"close:{token}"), "OK")
        self.assertEqual(self.status(f"/-/l/{token}/"), 200)

    @staticmethod
    def token_of(link: str) -> str:
        found = ADDRESS.fullmatch(link)
        assert found, link
        return found[1]

    def test_guesses_are_counted_for_each_link(self) -> None:
        link, other = self.made("docs", password="p"), self.made("docs", password="p")
        self.assertEqual(self.status(other, password("p")), 200)
        told = [self.status(link, password(f"wrong {number}")) for number in range(11)]
        self.assertEqual(told, [401] * 10 + [429])
        self.assertEqual(self.status(link, password("p")), 429)
        self.assertEqual(self.status(other, password("p")), 200)
        self.assertEqual(self.status("/", password(PASSWORD, "amy")), 200)

    def test_a_link_that_has_ended_is_opened_again_and_again(self) -> None:
        """A browser that reloads it is no guesser."""
        told = [self.status(f"/-/l/{NOBODYS}/") for _ in range(20)]
        self.assertEqual(told, [404] * 20)
        self.assertNotIn("auth-failed", self.server.log())

    def test_without_the_authserver_nobody_gets_in(self) -> None:
        link = self.made("docs/a.txt", uses=1)
        self.authserver.stop()
        answer: Answer = self.ask(link)
        self.assertEqual((answer.status, answer.fields["retry-after"]), (503, "1"))
