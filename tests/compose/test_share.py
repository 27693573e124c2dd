"""docker/share.yml: a folder of the host, with the page and WebDAV, for accounts that it makes."""

import http.client
import json
import os
import re
import tempfile
import unittest
from pathlib import Path

from engine import PROJECT, System, run
from http_client import basic

from rig.host import free_port

FILE = str(PROJECT / "docker" / "share.yml")
# Nobody else has this number. Only root can give a folder to it.
OWNER = 23456 if os.geteuid() == 0 else os.geteuid()
_CLEARED = "\x1b[2K"  # Compose clears a line before it writes it.
_ACCOUNT = re.compile(r"user +(\S+)\n +password +(\S+)")


def shared(**settings: str) -> System:
    return System(COMPOSE_FILE=FILE, SHARE_PORT=str(free_port()), **settings)


class Share(unittest.TestCase):
    """All tests share one running system, whose users may change the folder."""

    folder: Path
    system: System
    port: int
    amy: str  # what she sends as credentials

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="turnstile-share-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        (cls.folder / "hello.txt").write_text("hello\n", encoding="utf-8")
        for path in (cls.folder / "hello.txt", cls.folder):
            path.chmod(0o700)
            os.chown(path, OWNER, -1)
        cls.system = shared(SHARE=folder.name, UPLOADS="folder")
        cls.addClassCleanup(cls.system.remove)
        cls.system.up()
        log = cls.system.log("account").replace(_CLEARED, "")
        found = _ACCOUNT.search(log)
        assert found, log
        address = re.search(r"http://127\.0\.0\.1:(\d+)/", log)
        assert address, log
        cls.port = int(address[1])
        assert found[1] == "amy", log
        cls.amy = basic("amy", found[2])

    def ask(
        self, method: str, path: str, who: str = "", body: bytes = b"", host: str = ""
    ) -> tuple[int, bytes]:
        """Returns the status and the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        fields = {"Depth": "1"} | ({"Authorization": who} if who else {})
        fields |= {"Host": host} if host else {}
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def account(self, user: str) -> str:
        """The credentials of the user, with the password that `account` makes."""
        told = self.system.compose("run", "--rm", "-T", "account", user)
        found = _ACCOUNT.search(told)
        assert found and found[1] == user, told
        return basic(user, found[2])

    def test_the_first_account_gets_the_page_and_the_files(self) -> None:
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy), (200, b"hello\n"))
        status, page = self.ask("GET", "/", self.amy)
        self.assertEqual(status, 200)
        self.assertIn(b"hello.txt", page)
        status, listing = self.ask("PROPFIND", "/", self.amy)
        self.assertEqual(status, 207)
        self.assertIn(b"/hello.txt", listing)

    def test_nobody_else_gets_in_or_makes_an_account(self) -> None:
        self.assertEqual(self.ask("GET", "/hello.txt")[0], 401)
        self.assertEqual(self.ask("GET", "/hello.txt", basic("amy", "wrong"))[0], 401)
        wanted = json.dumps({"user": "eve", "password": "secret"}).encode()
        self.assertEqual(self.ask("POST", "/-/accounts", body=wanted)[0], 403)

    def test_a_page_that_gives_its_name_this_address_learns_nothing(self) -> None:
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy, host="page.example")[0], 421)
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy, host="localhost")[0], 200)

    def test_only_the_page_is_published_and_on_the_loopback_only(self) -> None:
        container = self.system.compose("ps", "--quiet", "network").strip()
        self.assertEqual(
            run("docker", "port", container).split(), ["8080/tcp", "->", f"127.0.0.1:{self.port}"]
        )

    def test_what_is_uploaded_belongs_to_the_owner_of_the_folder(self) -> None:
        self.assertEqual(self.ask("PUT", "/new.txt", self.amy, b"new\n")[0], 201)
        self.assertEqual((self.folder / "new.txt").read_bytes(), b"new\n")
        self.assertEqual((self.folder / "new.txt").stat().st_uid, OWNER)

    def test_account_makes_others_and_gives_a_new_password(self) -> None:
        first = self.account("ben")
        self.assertEqual(self.ask("GET", "/hello.txt", first)[0], 200)
        second = self.account("ben")
        self.assertEqual(self.ask("GET", "/hello.txt", second)[0], 200)
        self.assertEqual(self.ask("GET", "/hello.txt", first)[0], 401)

    def test_another_start_keeps_the_accounts(self) -> None:
        self.system.down()
        self.system.up()
        self.assertEqual(self.ask("GET", "/hello.txt", self.amy)[0], 200)
        self.assertNotIn("password  ", self.system.log("account"))

    def test_the_servers_have_no_privilege(self) -> None:
        shown = self.system.inside("fileserver", "cat /proc/1/status")
        self.assertRegex(shown, rf"Uid:\s+{OWNER}\s+{OWNER}\s+{OWNER}\s")
        for field in ("CapPrm", "CapEff", "CapBnd"):
            self.assertRegex(shown, rf"{field}:\s+0+\n")
        self.assertEqual(self.system.inside("authserver", "id -u"), "10001\n")


class Settings(unittest.TestCase):
    def test_users_only_read_unless_the_owner_lets_them_write(self) -> None:
        system = shared(SHARE="/my/folder")
        self.addCleanup(system.own_secrets.cleanup)
        shown = json.loads(system.compose("config", "--format", "json"))
        fileserver = shown["services"]["fileserver"]
        self.assertEqual(fileserver["environment"]["FILESERVER_UPLOADS"], "off")
        self.assertEqual(fileserver["volumes"][0]["source"], "/my/folder")

    def test_a_folder_that_is_not_there_is_named_and_not_made(self) -> None:
        missing = Path(tempfile.gettempdir(), f"turnstile-no-folder-{os.getpid()}")
        system = shared(SHARE=str(missing))
        self.addCleanup(system.remove)
        with self.assertRaisesRegex(AssertionError, f"does not exist: {missing}"):
            system.up()
        self.assertFalse(missing.exists())
