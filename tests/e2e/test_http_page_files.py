"""--http-listen: the style sheet and the script of the pages, and what a page tells the script."""

import re

from http_client import FLAG, HttpClient
from scene import SharedSceneTest, create_account

_MOST_BYTES = 30_000
_BROWSER = "Accept: text/html"
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


class PageFilesTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("sub/deep/file", b"x")
        cls.authserver = cls.scene.authserver("--password-scheme", "plain")
        create_account(cls.authserver)
        cls.server = cls.scene.fileserver(cls.authserver, *FLAG)

    def client(self, server=None) -> HttpClient:
        client = HttpClient(server or self.server, "alice", "wonderland")
        self.addCleanup(client.close)
        return client

    def stranger(self) -> HttpClient:
        client = HttpClient(self.server)
        self.addCleanup(client.close)
        return client

    def page(self, server=None) -> str:
        return self.client(server).ask("/sub/").body.decode()

    def addresses(self) -> dict[str, str]:
        """The address of each kind, as the page has it."""
        return {
            kind: address for address, kind in re.findall(r'"(/-/page\.(\w+)\?[^"]*)"', self.page())
        }

    def test_both_need_no_credentials_and_may_be_kept_as_long_as_the_page_names_them(self) -> None:
        self.assertEqual(self.addresses().keys(), _TYPES.keys())
        for kind, address in self.addresses().items():
            with self.subTest(kind):
                answer = self.stranger().ask(address)
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.fields["content-type"], _TYPES[kind])
                self.assertEqual(answer.fields["x-content-type-options"], "nosniff")
                kept = "public, max-age=31536000, immutable"
                self.assertEqual(answer.fields["cache-control"], kept)

    def test_a_page_of_another_version_gets_what_is_not_kept(self) -> None:
        for address in self.addresses().values():
            path = address.split("?")[0]
            for other in (path, path + "?v=0", address + "0"):
                with self.subTest(other):
                    answer = self.stranger().ask(other)
                    self.assertEqual(answer.status, 200)
                    self.assertEqual(answer.fields["cache-control"], "no-cache")

    def test_the_tag_of_what_is_there_is_answered_without_it(self) -> None:
        tags = set()
        for address in self.addresses().values():
            client = self.stranger()
            answer = client.ask(address)
            tag = answer.fields["etag"]
            tags.add(tag)
            same = client.ask(address, f"If-None-Match: {tag}")
            self.assertEqual((same.status, same.body), (304, b""))
            self.assertEqual(same.fields["etag"], tag)
            self.assertEqual(client.ask(address, 'If-None-Match: "x"').body, answer.body)
            self.assertEqual(client.ask(address, 'If-Match: "x"').status, 412)
            head = client.ask(address, method="HEAD")
            self.assertEqual(head.fields["content-length"], str(len(answer.body)))
        self.assertEqual(len(tags), 2)

    def test_other_methods_are_not_allowed(self) -> None:
        for address in self.addresses().values():
            answer = self.stranger().ask(address, method="POST")
            self.assertEqual((answer.status, answer.fields["allow"]), (405, "GET, HEAD, OPTIONS"))

    def test_page_style_and_script_together_are_small(self) -> None:
        texts = [self.stranger().ask(address).body for address in self.addresses().values()]
        self.assertLess(sum(map(len, texts)) + len(self.page()), _MOST_BYTES)

    def test_the_page_of_an_error_has_the_style_and_no_script(self) -> None:
        page = self.stranger().ask("/sub/", _BROWSER).body.decode()
        self.assertIn(self.addresses()["css"], page)
        self.assertNotIn("<script", page)

    def test_the_page_says_whose_it_is(self) -> None:
        self.assertIn("Signed in as <bdi>alice</bdi>", self.page())

    def test_only_a_folder_that_may_be_written_has_the_tools_to_write(self) -> None:
        for mode, is_writable in (("off", False), ("sink", False), ("folder", True)):
            server = self.scene.fileserver(self.authserver, *FLAG, "--uploads", mode)
            self.assertEqual("<table data-writable>" in self.page(server), is_writable, mode)

    def test_the_heading_leads_to_each_folder_above(self) -> None:
        page = self.client().ask("/sub/deep/").body.decode()
        self.assertIn('<a href="../../">/</a><a href="../"><bdi>sub</bdi>/</a>', page)
        self.assertIn("<bdi>deep</bdi>/</h1>", page)
