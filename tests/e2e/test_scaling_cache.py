"""docs/scaling.md: nginx keeps files at the edge, and asks the fileserver about each request."""

import http.client
import json
import os
import shutil
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import telemetry
from http_client import basic
from prefetch_scene import SOON_S
from test_auth_tls import SERVER, server_flags, shared
from tls_scene import LARGE, NAMES, ProxyTest
from waiting import eventually

SIZE = len(LARGE)


class CacheTest(ProxyTest):
    needs = ("openssl", "nginx")
    configurations = Path(__file__).parents[2] / "docs" / "scaling"
    site = "nginx-cache.conf"
    upstream = ("10.0.0.1:8443", "https")
    fileserver_flags = (
        *telemetry.FLAG,
        *("--https-listen", "127.0.0.1:0", *server_flags(shared())[:-2]),
    )

    def setUp(self) -> None:
        super().setUp()
        # The processes of nginx that serve clients are not root.
        self.scene.folder.chmod(0o711)
        self.folder.chmod(0o711)
        cache = self.folder / "cache"
        shutil.copy(shared() / "ca.pem", self.folder)
        name = {"proxy_ssl_name                10.0.0.1;": f"proxy_ssl_name {SERVER};"}
        self.start_nginx(**{"/var/cache/nginx/turnstile": str(cache)} | name)
        self.cache = cache

    def sends(self) -> int:
        """How often the fileserver has begun to send a file."""
        return int(
            sum(telemetry.scrape(self.fileserver).samples["turnstile_file_sends_total"].values())
        )

    def test_the_fileserver_sends_the_bytes_once(self) -> None:
        with ThreadPoolExecutor(8) as pool:
            for answer in pool.map(lambda _: self.ask("large"), range(24)):
                self.assertEqual(answer, (200, LARGE))
        self.assertEqual(self.ask("large", Range="bytes=5-9"), (206, LARGE[5:10]))
        self.assertEqual(self.ask("large?query"), (200, LARGE))
        self.assertEqual(self.sends(), 1)

    def test_the_beginning_of_a_file_that_is_not_there_yet(self) -> None:
        self.assertEqual(self.ask("large", Range="bytes=5-9"), (206, LARGE[5:10]))
        eventually(lambda: self.is_kept(), "nginx has the whole file")
        self.assertEqual(self.ask("large"), (200, LARGE))
        self.assertEqual(self.sends(), 1)

    def is_kept(self) -> bool:
        return any(path.stat().st_size > SIZE for path in self.cache.rglob("*") if path.is_file())

    def test_nobody_gets_kept_bytes_without_a_yes(self) -> None:
        self.assertEqual(self.ask("large"), (200, LARGE))
        self.assert_refused(self.ask("large", "wrong"), 401)
        self.assert_refused(self.ask("large", "wrong", Range="bytes=0-9"), 401)
        self.assert_refused(self.ask("large", ""), 401)
        line = 'auth-failed address=127.0.0.1 user="alice" front=http'
        eventually(lambda: line in self.fileserver.log(), line)
        self.authserver.kill()
        self.assert_refused(self.ask("large"), 503)
        self.fileserver.kill()
        self.assert_refused(self.ask("large"), 502)

    def assert_refused(self, answer: tuple[int, bytes], status: int) -> None:
        self.assertEqual(answer[0], status)
        self.assertLess(len(answer[1]), 1000)
        self.assertNotIn(LARGE[:10], answer[1])

    def test_an_upload_through_it_is_seen_by_the_next_request(self) -> None:
        for number in range(10):
            body = bytes([number]) * (1000 + number % 2)
            self.assertEqual(self.ask("one", method="PUT", body=body)[0], 204)
            self.assertEqual([self.ask("one") for _ in range(2)], [(200, body)] * 2)
        self.assertEqual(self.sends(), 10)
        self.assertEqual(self.ask("one", method="DELETE")[0], 204)
        self.assertEqual(self.ask("one")[0], 404)

    def test_a_file_that_somebody_changes_in_the_folder_is_seen(self) -> None:
        self.assertEqual(self.ask("one"), (200, b"one"))
        self.scene.write("one", b"two")
        eventually(lambda: self.ask("one") == (200, b"two"), "the change", within_s=SOON_S)
        (self.scene.root / "one").unlink()
        eventually(lambda: self.ask("one")[0] == 404, "that it is gone", within_s=SOON_S)

    def test_no_version_is_kept_as_another(self) -> None:
        """Two versions with a tag each take turns, while somebody asks for the first time."""
        first, second = b"a" * 1000, b"b" * 2000
        for number in range(60):
            name, path = f"turns{number}", self.scene.root / f"turns{number}"
            self.put_in_place(path, first)
            status = self.ask_while(name, number, lambda: self.put_in_place(path, second))
            self.assertNotEqual(status, 412)
            self.put_in_place(path, first)
            eventually(lambda: self.ask(name) == (200, first), "the first", within_s=SOON_S)

    def test_a_file_that_was_not_there_is_not_kept(self) -> None:
        """Else it would still be served when it is gone again."""
        for number in range(60):
            name, path = f"made{number}", self.scene.root / f"made{number}"
            self.ask_while(name, number, lambda: self.put_in_place(path, b"made"))
            path.unlink()
            eventually(lambda: self.ask(name)[0] == 404, "it is gone", within_s=SOON_S)

    def ask_while(self, name: str, number: int, change: Callable[[], None]) -> int:
        """Asks for the file and changes it, at another moment of the request for each number.

        Returns the status, or 0 if the answer was cut.
        """
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(self.ask, name)
            time.sleep(number % 10 / 2000)
            change()
            try:
                return asked.result()[0]
            except http.client.IncompleteRead:
                return 0

    def put_in_place(self, path: Path, content: bytes) -> None:
        new = self.scene.folder / "new"
        new.write_bytes(content)
        os.utime(new, (1_700_000_000, 1_700_000_000 + len(content)))
        new.replace(path)

    def test_all_else_is_as_the_fileserver_answers(self) -> None:
        for name in NAMES:
            for _ in range(2):
                self.assertEqual(self.ask(urllib.request.quote(name)), (200, name.encode()))
        for _ in range(2):
            self.assertEqual(self.ask("none")[0], 404)
            self.assertEqual(self.ask("large", If_Match='"none"')[0], 412)
            self.assertEqual(self.ask("large", method="HEAD"), (200, b""))
        listing = json.loads(self.ask("", Accept="application/json")[1])
        self.assertEqual({entry["name"] for entry in listing}, {"a b+c%.txt", "ä", "one", "large"})
        self.assertEqual(self.ask("%C3%A4", Accept="application/json")[0], 200)  # led to the folder
        self.assertEqual(self.ask("-/sha256/one")[1][64:], b"  one\n")
        self.assertIn("sha-256=", self.digest("one"))
        self.assertEqual(self.ask("-/version"), (204, b""))
        account = json.dumps({"user": "ben", "password": "secret"}).encode()
        self.assertEqual(self.ask("-/accounts", method="POST", body=account)[0], 201)
        self.assertEqual(self.ask("new", method="PUT", body=LARGE)[0], 201)
        self.assertEqual(self.ask("new"), (200, LARGE))
        self.assertEqual((self.scene.root / "new").read_bytes(), LARGE)
        self.assertNotIn("auth request unexpected status: 404", (self.folder / "log").read_text())

    def digest(self, name: str) -> str:
        asked = urllib.request.Request(
            f"https://localhost:{self.port}/{name}",
            headers={
                "Authorization": basic("alice", "wonderland"),
                "Want-Repr-Digest": "sha-256=1",
            },
        )
        with self.opener.open(asked, timeout=60) as answer:
            return answer.headers["Repr-Digest"] or ""


del ProxyTest  # Without this, unittest would run the base class too.
