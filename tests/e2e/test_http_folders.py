"""--http-listen: listings of folders."""

import json
import os
import re

from http_client import FLAG, HttpClient
from scene import SharedSceneTest, with_loops

_JSON = "Accept: application/json"
_SCRIPTS = ["/-/common.js", "/-/page.js"]


@with_loops
class FoldersTest(SharedSceneTest):
    @classmethod
    def prepare(cls) -> None:
        for name in (
            "b",
            "a/deep",
            "A",
            ".hidden",
            "-/x",
            "sub/-/x",
            "caf\u00e9",
            'q"<&>',
            "back\\s",
        ):
            cls.scene.write(name, b"content")
        cls.scene.write(b"raw\xff", b"")
        cls.scene.write("line\nbreak", b"")
        os.symlink("b", cls.scene.root / "inside")
        os.symlink("a", cls.scene.root / "folder-link")
        os.symlink("../accounts.db", cls.scene.root / "outside")
        os.mkfifo(cls.scene.root / "fifo")
        os.utime(cls.scene.root / "b", (1_000_000_000.5, 1_000_000_000.5))
        authserver = cls.scene.authserver_of_alice("--password-scheme", "plain")
        cls.server = cls.scene.fileserver(authserver, *FLAG)
        cls.without = cls.scene.fileserver(authserver, *FLAG, "--listings", "off")

    def client(self, server=None) -> HttpClient:
        client = HttpClient(server or self.server, "alice", "wonderland")
        self.addCleanup(client.close)
        return client

    def test_json_has_what_a_get_would_give_sorted_by_bytes(self) -> None:
        client = self.client()
        answer = client.ask("/", _JSON)
        self.assertEqual(answer.fields["content-type"], "application/json; charset=utf-8")
        entries = json.loads(answer.body)
        expected = [
            ".hidden",
            "A",
            "a",
            "b",
            "caf\u00e9",
            "folder-link",
            "inside",
            'q"<&>',
            "raw\ufffd",
            "sub",
        ]
        self.assertEqual([entry["name"] for entry in entries], expected)
        by_name = {entry.pop("name"): entry for entry in entries}
        self.assertEqual(by_name["b"], {"type": "file", "size": 7, "mtime": 1_000_000_000})
        self.assertEqual(by_name["inside"], by_name["b"])
        self.assertEqual({"type", "mtime"}, set(by_name["a"]))
        self.assertEqual(by_name["a"]["type"], "directory")

    def test_each_entry_can_be_fetched(self) -> None:
        client = self.client()
        for folder in ("/", "/a/", "/sub/", "/folder-link/"):
            for entry in json.loads(client.ask(folder, _JSON).body):
                if "\ufffd" not in entry["name"]:
                    slash = "/" if entry["type"] == "directory" else ""
                    self.assertEqual(
                        client.ask(folder + _quoted(entry["name"]) + slash).status, 200
                    )

    def test_the_page_links_to_everything_and_runs_our_script_only(self) -> None:
        answer = self.client().ask("/")
        page = answer.body.decode("utf-8", "replace")
        self.assertEqual(answer.fields["content-type"], "text/html; charset=utf-8")
        policy = answer.fields["content-security-policy"]
        for part in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"):
            self.assertIn(part, policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(answer.fields["vary"], "Accept")
        self.assertIn('href="q%22%3C%26%3E"', page)
        self.assertIn('href="a/"', page)
        self.assertIn("q&quot;&lt;&amp;&gt;", page)
        self.assertEqual(re.findall('<script[^>]* src="([^?"]*)', page), _SCRIPTS)
        self.assertEqual(page.count("<script"), len(_SCRIPTS))

    def test_accept_decides_between_page_and_json(self) -> None:
        for accept, kind in (
            ("application/json", "application/json"),
            ("text/plain, application/json;q=0.5, text/html", "application/json"),
            ("text/html, application/json", "text/html"),
            ("*/*", "text/html"),
        ):
            answer = self.client().ask("/", f"Accept: {accept}")
            self.assertEqual(answer.fields["content-type"].split(";")[0], kind)

    def test_conditions_and_ranges_do_not_count(self) -> None:
        answer = self.client().ask("/", "Range: bytes=0-1", "If-None-Match: *", 'If-Match: "x"')
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.body.endswith(b"</html>\n"))

    def test_a_folder_without_its_slash_is_elsewhere(self) -> None:
        for path, place in (("/a", "a/"), ("/sub/-", "-/"), ("/folder-link?x", "folder-link/")):
            answer = self.client().ask(path)
            self.assertEqual((answer.status, answer.fields["location"]), (301, place))

    def test_a_folder_with_the_longest_name_is_found(self) -> None:
        name = "\u2603" * 85
        self.scene.write(f"sub/{name}/x", b"content")
        path = "/sub/" + _quoted(name)
        self.assertEqual(self.client().ask(path).fields["location"], _quoted(name).upper() + "/")
        self.assertEqual(self.client().ask(path + "/").status, 200)

    def test_what_is_no_folder_is_not_found(self) -> None:
        for path in (
            "/none/",
            "/b/",
            "/outside/",
            "/fifo",
            "/outside",
            "//",
            "/a//",
            "/-",
            "/a/../",
        ):
            self.assertEqual(self.client().ask(path).status, 404, path)

    def test_without_listings_folders_are_not_found(self) -> None:
        client = self.client(self.without)
        for path in ("/", "/a", "/a/"):
            self.assertEqual(client.ask(path).status, 404)
        self.assertEqual(client.ask("/b").status, 200)


def _quoted(name: str) -> str:
    return "".join(f"%{byte:02x}" for byte in name.encode())
