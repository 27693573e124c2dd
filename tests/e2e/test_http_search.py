"""--http-listen: /-/search/FOLDER/?q=TEXT finds names below a folder."""

import json
import os
import urllib.parse

from http_client import FLAG, HttpClient
from programs import Program
from scene import SceneTest, create_account


class SearchTest(SceneTest):
    def serve(self, *flags: str) -> Program:
        authserver = self.scene.authserver("--password-scheme", "plain")
        create_account(authserver)
        server = self.scene.fileserver(authserver, *FLAG, *flags)
        self.client = self.scene.keep(HttpClient(server, "alice", "wonderland"))
        return server

    def find(self, text: str, folder: str = "") -> tuple[list[str], bool]:
        answer = self.client.ask(f"/-/search/{folder}?q={urllib.parse.quote(text, safe='')}")
        self.assertEqual(answer.status, 200)
        told = json.loads(answer.body)
        return [one["path"] for one in told["found"]], told["complete"]

    def test_names_below_a_folder_are_found_whatever_their_case(self) -> None:
        tree = (
            "a/Report &.txt",
            "a/b/c/REPORT",
            "report",
            "a/\u00dcbung",
            "a/b/x",
            "a/\u03a3\u0394",
        )
        for name in tree:
            self.scene.write(name, b"12345")
        self.scene.write(b"a/report\xff", b"")
        os.symlink("..", self.scene.root / "a/b/report-loop")
        below = ["a/Report &.txt", "a/report\ufffd", "a/b/report-loop", "a/b/c/REPORT"]
        inside = [name.removeprefix("a/") for name in below]
        for model, files in (("thread", "prefetch"), ("event", "disk")):
            with self.subTest(model):
                self.serve("--model", model, "--files", files)
                self.assertEqual(self.find("RePort"), (["report", *below], True))
                self.assertEqual(self.find("report", "a/"), (inside, True))
                self.assertEqual(self.find("\u00fcBUNG"), (["a/\u00dcbung"], True))
                self.assertEqual(self.find("\u03c3\u03b4"), (["a/\u03a3\u0394"], True))
                self.assertEqual(self.find("t &."), (["a/Report &.txt"], True))
                self.assertEqual(self.find("a/b"), ([], True))
        asked = "/-/search/?q=rEPORT%20%26"
        answer = self.client.ask(asked)
        self.assertEqual(self.client.ask(asked, method="HEAD").body, b"")
        first = json.loads(answer.body)["found"][0]
        self.assertEqual((first["type"], first["size"]), ("file", 5))

    def test_what_is_no_search_is_refused(self) -> None:
        self.scene.write("sub/file", b"")
        server = self.serve()
        for query in ("", "?q", "?q=", "?q=a&q=b", "?x=a", f"?q={'a' * 1025}"):
            self.assertEqual(self.client.ask(f"/-/search/{query}").status, 422, query)
        for folder in ("none/", "sub", "sub/file/", "-/", "sub/file"):
            self.assertEqual(self.client.ask(f"/-/search/{folder}?q=a").status, 404, folder)
        self.assertEqual(self.client.ask("/-/search/?q=a", method="POST").status, 405)
        self.assertEqual(HttpClient(server).ask("/-/search/?q=a").status, 401)
        self.serve("--listings", "off")
        self.assertEqual(self.client.ask("/-/search/?q=a").status, 404)

    def test_a_search_finds_what_its_user_may_see_and_nothing_else(self) -> None:
        for name in ("open/file", "open/pay/file", "closed/file", "open/bob/file-of-bob"):
            self.scene.write(name, b"")
        rights = self.scene.folder / "rights"
        rights.write_text("* /open read\n* /open/pay none\nbob /open/bob read\n* /open/bob none\n")
        self.serve("--rights", str(rights))
        self.assertEqual(self.find("file"), (["open/file"], True))
        self.assertEqual(self.find("pay"), ([], True))
        self.assertEqual(self.client.ask("/-/search/closed/?q=f").status, 404)
        self.assertEqual(self.client.ask("/-/search/open/pay/?q=f").status, 404)

    def test_a_search_ends_and_says_so(self) -> None:
        for folder in range(6):
            for number in range(100):
                self.scene.write(f"{folder}/name{number}", b"")
        self.serve()
        found, is_complete = self.find("name")
        self.assertEqual((len(found), len(set(found)), is_complete), (500, 500, False))
        self.assertEqual(self.find("name99")[1], True)
        for number in range(100_000):  # with the others, more than are looked at
            os.link(self.scene.root / f"0/name{number % 2}", self.scene.root / f"5/x{number:05}")
        self.assertEqual(self.find("nothing"), ([], False))
        self.assertEqual(self.find("nothing", "4/"), ([], True))
