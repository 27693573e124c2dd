"""--http-listen: the page of an error, the style sheet and the script, and what a page tells it."""

import functools
import itertools
import re
from collections.abc import Callable

from http_client import FLAG, HttpClient, check_rows
from programs import Program
from scene import SharedSceneTest

_BROWSER = "Accept: text/html,application/xhtml+xml,*/*;q=0.8"
_HTML = "text/html; charset=utf-8"
_TEXT = {"content-type": "text/plain; charset=utf-8"}
_ALICE = ("alice", "wonderland")
_MOST_BYTES = 45_000
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_FILES = ("page.css", "common.js", "page.js")  # of the page of a folder


class PagesTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("sub/deep/file", b"x")
        cls.authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.server = cls.scene.fileserver(cls.authserver, *FLAG)
        cls.lonely = cls.scene.fileserver("127.0.0.1:1", *FLAG)

    def client(self, server: Program, *account: str) -> HttpClient:
        client = HttpClient(server, *account)
        self.addCleanup(client.close)
        return client

    def alice(self) -> HttpClient:
        return self.client(self.server, *_ALICE)

    def stranger(self) -> HttpClient:
        return self.client(self.server)

    def cases(self) -> tuple[tuple[int, Callable[[], HttpClient], str], ...]:
        """Each status that has a page: who asks, and where the page leads."""
        return (
            (404, self.alice, 'href="/"'),
            (401, functools.partial(self.client, self.server, "alice", "wrong"), 'href=""'),
            (503, functools.partial(self.client, self.lonely, *_ALICE), 'href=""'),
        )

    def test_a_browser_gets_a_page_with_a_way_back(self) -> None:
        for status, connect, link in self.cases():
            with self.subTest(status):
                client = connect()
                answer = client.ask("/none", _BROWSER)
                self.assertEqual(answer.status, status)
                self.assertEqual(answer.fields["content-type"], _HTML)
                self.assertEqual(answer.fields["vary"], "Accept")
                policy = answer.fields["content-security-policy"]
                for part in ("default-src 'none'", "frame-ancestors 'none'"):
                    self.assertIn(part, policy)
                self.assertEqual(answer.fields["x-content-type-options"], "nosniff")
                self.assertIn(link, answer.body.decode())
                self.assertNotIn(b"<script", answer.body)
                # The connection goes on, so the length was right.
                self.assertEqual(client.ask("/none").status, status)

    def test_every_other_client_gets_the_words_of_the_status(self) -> None:
        for status, connect, _ in self.cases():
            accepted = ("*/*", "application/json", "application/json, text/html")
            rows = [(status, "GET /none", f"Accept: {kinds}", _TEXT) for kinds in accepted]
            rows.append((status, "GET /none", "X: no Accept", _TEXT))
            for answer in check_rows(self, connect, rows):
                self.assertEqual(len(answer.body.splitlines()), 1)

    def test_head_has_the_fields_of_the_page_and_no_body(self) -> None:
        client = self.alice()
        page, head = (client.ask("/none", _BROWSER, method=one) for one in ("GET", "HEAD"))
        self.assertEqual(head.body, b"")
        for name in ("content-type", "content-length", "vary"):
            self.assertEqual(head.fields[name], page.fields[name])

    def test_the_page_repeats_nothing_of_the_path(self) -> None:
        targets = ("/none", "/%3Cscript%3E", "/<script>", "/%22onload=%22", "/%3c/")
        rows = ((404, f"GET {target}", _BROWSER) for target in targets)
        answers = check_rows(self, self.alice, rows)
        self.assertEqual(len({answer.body for answer in answers}), 1)

    def test_what_is_no_reading_has_no_page(self) -> None:
        check_rows(self, self.alice, [(405, "PUT /none", _BROWSER, b"x", _TEXT)])

    def page(self, server: Program | None = None) -> str:
        return self.client(server or self.server, *_ALICE).ask("/sub/").body.decode()

    def addresses(self) -> dict[str, str]:
        """The address of each file that pages are made of, as they have it."""
        pages = self.page() + self.alice().ask("/-/account").body.decode()
        return {name: address for address, name in re.findall(r'"(/-/(\w+\.\w+)\?[^"]*)"', pages)}

    def test_style_and_script_need_no_credentials_and_are_kept_as_the_page_names_them(self) -> None:
        self.assertEqual(self.addresses().keys(), {*_FILES, "account.js"})
        for name, address in self.addresses().items():
            whole = {
                "content-type": _TYPES[name.rpartition(".")[2]],
                "x-content-type-options": "nosniff",
                "cache-control": "public, max-age=31536000, immutable",
            }
            changed = {"cache-control": "no-cache"}
            path = address.split("?")[0]
            rows = (
                (200, f"GET {address}", whole),
                (200, f"GET {path}", changed),
                (200, f"GET {path}?v=0", changed),
                (200, f"GET {address}0", changed),
                (405, f"POST {address}", {"allow": "GET, HEAD, OPTIONS"}),
            )
            check_rows(self, self.stranger, rows)

    def test_the_script_that_comes_later_is_none_of_a_page(self) -> None:
        shown = {"content-type": _TYPES["js"], "cache-control": "no-cache"}
        check_rows(self, self.stranger, [(200, "GET /-/show.js", shown)])
        self.assertNotIn("show.js", self.addresses())

    def test_the_tag_of_what_is_there_is_answered_without_it(self) -> None:
        tags = set()
        for address in self.addresses().values():
            answer = self.stranger().ask(address)
            tag = answer.fields["etag"]
            tags.add(tag)
            rows = (
                (304, f"GET {address}", f"If-None-Match: {tag}", {"etag": tag}),
                (200, f"GET {address}", 'If-None-Match: "x"'),
                (412, f"GET {address}", 'If-Match: "x"'),
                (200, f"HEAD {address}", {"content-length": str(len(answer.body))}),
            )
            same, other, *_ = check_rows(self, self.stranger, rows)
            self.assertEqual((same.body, other.body), (b"", answer.body))
        self.assertEqual(len(tags), 4)

    def test_style_and_scripts_of_a_page_are_small(self) -> None:
        sizes = {
            name: len(self.stranger().ask(address).body)
            for name, address in self.addresses().items()
        }
        for other in ("account.js", "page.js"):
            self.assertLess(sum(sizes.values()) - sizes[other], _MOST_BYTES)

    def test_a_browser_that_is_not_signed_in_gets_a_form_and_no_challenge(self) -> None:
        cookies = ("X: no cookie", "Cookie: turnstile=x", f"Cookie: turnstile={'A' * 43}")
        accepted = (_BROWSER, "Accept: application/json, text/html")
        for path in ("/", "/sub/", "/none", "/-/zip/", "/-/whoami"):
            for fields in itertools.product(cookies, accepted):
                with self.subTest(path, fields=fields):
                    answer = self.stranger().ask(path, *fields)
                    self.assertEqual(answer.status, 401)
                    self.assertNotIn("www-authenticate", answer.fields)
                    self.assertEqual(answer.fields["cache-control"], "no-store")
                    self.assertEqual(answer.fields["vary"], "Accept")
                    for part in ("script-src 'self'", "form-action 'none'"):
                        self.assertIn(part, answer.fields["content-security-policy"])
                    self.assertIn(b'<form class="log-in">', answer.body)
        for others in ((), ("Accept: */*",), (_BROWSER, "Authorization: Basic x")):
            with self.subTest(others):
                answer = self.stranger().ask("/", *others)
                self.assertEqual((answer.status, "www-authenticate" in answer.fields), (401, True))
        answer = self.stranger().ask("/f", _BROWSER, method="PROPFIND")
        self.assertEqual((answer.status, "www-authenticate" in answer.fields), (401, False))

    def test_the_page_of_an_error_has_the_style_and_no_script(self) -> None:
        page = self.alice().ask("/none", _BROWSER).body.decode()
        self.assertIn(self.addresses()["page.css"], page)
        self.assertNotIn("<script", page)

    def test_the_page_says_whose_it_is(self) -> None:
        self.assertIn('Signed in as <a href="/-/account"><bdi>alice</bdi></a>', self.page())

    def test_title_and_heading_have_the_name_of_the_share(self) -> None:
        server = self.scene.fileserver(self.authserver, *FLAG, "--share-name", "Müller & <Söhne>")
        page = self.page(server)
        self.assertIn("<title>/sub/ - Müller &amp; &lt;Söhne&gt;</title>", page)
        self.assertIn("<h1><bdi>Müller &amp; &lt;Söhne&gt;</bdi> <a", page)

    def test_only_a_folder_that_may_be_written_has_the_tools_to_write(self) -> None:
        for mode, is_writable in (("off", False), ("sink", False), ("folder", True)):
            server = self.scene.fileserver(self.authserver, *FLAG, "--uploads", mode)
            self.assertEqual("<table data-writable>" in self.page(server), is_writable, mode)

    def test_the_heading_leads_to_each_folder_above(self) -> None:
        page = self.alice().ask("/sub/deep/").body.decode()
        self.assertIn('<a href="../../">/</a><a href="../"><bdi>sub</bdi>/</a>', page)
        self.assertIn("<bdi>deep</bdi>/</h1>", page)
