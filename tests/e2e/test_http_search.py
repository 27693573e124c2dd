"""--http-listen: /-/search/FOLDER/?q=TEXT finds names below a folder."""

import json
import os
import signal
import socket
import struct
import subprocess
import time
import urllib.parse
from pathlib import Path

import telemetry
from http_client import FLAG, HttpClient, request
from programs import Program
from scene import SceneTest, with_loops
from waiting import LONG_S, eventually

_HUNG_DISK = Path(__file__).with_name("hung_disk.c")
_GONE_S = 1.1  # who has finished sending for a second is gone
_MOST_S = 10.1  # more than a search lasts


class SearchScene(SceneTest):
    def serve(self, *flags: object, **options) -> Program:
        authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        server = self.scene.fileserver(authserver, *FLAG, *flags, **options)
        self.client = self.scene.keep(HttpClient(server, "alice", "wonderland"))
        return server

    def find(self, text: str, folder: str = "") -> tuple[list[str], bool]:
        answer = self.client.ask(f"/-/search/{folder}?q={urllib.parse.quote(text, safe='')}")
        self.assertEqual(answer.status, 200)
        told = json.loads(answer.body)
        return [one["path"] for one in told["found"]], told["complete"]


class SearchTest(SearchScene):
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


@with_loops
class BoundsOfSearchTest(SearchScene):
    def test_no_folder_of_the_server_is_gone_into(self) -> None:
        ours = (".turnstile-trash", ".turnstile-upload-parts", ".turnstile-upload-x", "-")
        for folder in ours:
            self.scene.write(f"{folder}/name", b"")
        for folder in ours[:-1]:
            self.scene.write(f"sub/{folder}/name", b"")
        self.scene.write("sub/-/name", b"")
        self.scene.write(".own/name", b"")
        self.serve()
        self.assertEqual(self.find("name"), ([".own/name", "sub/-/name"], True))
        self.assertEqual(self.find("turnstile"), ([], True))
        for folder in ours:
            self.assertEqual(self.client.ask(f"/-/search/{folder}/?q=n").status, 404)

    def test_folders_that_wait_take_a_bounded_memory(self) -> None:
        """Each has a path of 3,800 bytes, so 1,200 of them have more than 4 MiB."""
        levels = [f"{level}{'x' * 250}" for level in "abcdefghijklmno"]
        deep = os.open(self.scene.root, os.O_PATH)
        for level in levels:
            os.mkdir(level, dir_fd=deep)
            above, deep = deep, os.open(level, os.O_PATH, dir_fd=deep)
            os.close(above)
        self.addCleanup(os.close, deep)
        for number in range(1200):
            os.mkdir(f"{number:04}", dir_fd=deep)
        for ends in ("0000", "1199"):
            os.mkdir(f"{ends}/found", dir_fd=deep)
        self.serve()
        first = "/".join((*levels, "0000", "found"))
        self.assertEqual(self.find("found"), ([first], False))
        below = f"{levels[0]}/{levels[1]}/"  # on a busy machine its time may end first
        eventually(lambda: self.find("found", below)[1], "there is memory for all of these")

    def hold(self, *flags: object) -> Program:
        """Starts a search that waits in the folder held1, of two that a disk holds."""
        for name in ("first", "held1/second", "held2/third"):
            self.scene.write(name, b"")
        library = self.scene.folder / "hung_disk.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, _HUNG_DISK, "-ldl"], check=True)
        self.mark = self.scene.folder / "hung"
        held = str(self.scene.root / "held")
        hung = {"LD_PRELOAD": str(library), "HUNG_DISK": held, "HUNG_WHILE": str(self.mark)}
        server = self.serve(*flags, *telemetry.FLAG, env=hung)
        self.set_held("open")
        self.addCleanup(self.release)
        self.client.send(request("/-/search/?q=r", *self.client._credentials))
        eventually(lambda: "call=open" in server.log(), "the search waits")
        return server

    def set_held(self, kind: str, is_held: bool = True) -> None:
        mark = self.mark.with_name(f"{self.mark.name}.{kind}")
        if is_held:
            mark.touch()
        else:
            mark.unlink()

    def release(self) -> None:
        for mark in self.mark.parent.glob(f"{self.mark.name}.*"):
            mark.unlink()

    def let_go(self) -> None:
        """A search that goes on to held2 waits there for good."""
        (self.scene.root / "held1/second").unlink()
        self.set_held("look")
        self.set_held("open", False)

    def test_it_ends_in_its_time_with_what_it_has_found(self) -> None:
        self.hold()
        time.sleep(_MOST_S)
        self.let_go()
        told = json.loads(self.client.answer().body)
        found = [one["path"] for one in told["found"]]
        self.assertEqual((found, told["complete"]), (["first"], False))

    def test_it_ends_when_nobody_waits_for_it(self) -> None:
        for resets in (False, True):
            with self.subTest(resets=resets):
                server = self.hold("--drain-seconds", 10 * LONG_S)
                if resets:
                    linger = struct.pack("ii", 1, 0)
                    self.client._client.socket.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, linger
                    )
                self.client.close()
                time.sleep(_GONE_S)
                self.let_go()
                eventually(
                    lambda: telemetry.scrape(server).value("turnstile_connections_open") == 0,
                    "the search ends",
                )
                self.set_held("look", False)

    def test_it_ends_when_the_server_stops(self) -> None:
        server = self.hold("--drain-seconds", 10 * LONG_S)
        idle = self.scene.keep(HttpClient(server, "alice", "wonderland"))
        self.assertEqual(idle.ask("/first").status, 200)
        server.signal(signal.SIGTERM)
        self.assertTrue(idle.is_ended())
        self.let_go()
        self.assertEqual(self.client.answer().status, 503)
        self.assertEqual(server.stop(), 0)
