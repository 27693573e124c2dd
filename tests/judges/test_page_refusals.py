"""Chromium: what the page says when the server refuses, and that one can go on afterwards."""

import itertools
import signal
import subprocess
import unittest
from collections.abc import Callable

import shared_path
from browser import PROGRAM
from dav_client import lock, token_of, unlock
from http_client import HttpClient
from judge_scene import PASSWORD, USER, needs
from mount_namespace import NAMESPACES, why_no_mounts
from page_scene import DIALOG, FAILED, LOGIN, SEEN, STATUS, PageTest
from scene import create_account
from test_page_uploads import FILES, NO_ANSWER
from waiting import LONG_S, eventually

_ACCOUNTS = shared_path.TESTS.parent / "scripts" / "accounts"
_OTHER = ("bob", "builder")
_LARGE = b"x" * 8_000_000  # more than is on its way when the server answers
_BUSY = "The server cannot check passwords now, or is too busy. Try again in a moment."
_CHANGED = "You are not signed in any more. Reload the page to sign in."
_FORBIDDEN = "Your account may not change this."
_LOCKED = "Somebody has locked this. Try again later."
_FULL = "The disk of the server is full."
_BEGIN = "document.querySelector('[aria-label=\"Rename or delete old\"]').click()"


class ChangesTest(PageTest):
    """All that a page can change, one after another."""

    def upload(self) -> None:
        self.browser.choose(FILES, self.write("new", _LARGE))

    def make_folder(self) -> None:
        self.press("New folder")
        self.browser.type("box")

    def rename(self) -> None:
        self.value(_BEGIN)
        self.browser.type("renamed")

    def delete(self) -> None:
        self.value(_BEGIN)
        self.press("Delete\u2026")
        self.until("document.querySelector('dialog h2').textContent", "Delete old")
        self.value("document.querySelector('dialog button').focus()")

    def ask_for(self, change: Callable[[], None], refuse: Callable[[], object]) -> None:
        """The server begins to refuse just before it is asked."""
        self.value(f"{STATUS} = ''")
        if change == self.upload:
            refuse()
            change()
            return
        change()
        refuse()
        self.browser.press("Enter")
        self.until(DIALOG, False)

    def assert_refused(self, words: str, refuse: Callable[[], object] = lambda: None) -> None:
        """Each change is answered with the words, and none is made."""
        self.assert_upload_is_refused(words, refuse)
        for change, name in ((self.make_folder, "box"), (self.rename, "old"), (self.delete, "old")):
            self.ask_for(change, refuse)
            self.until(STATUS, f"{name}: {words}")
            self.assertTrue(self.value(f"{SEEN}.includes('old')"))

    def assert_upload_is_refused(
        self, words: str, refuse: Callable[[], object] = lambda: None
    ) -> None:
        self.ask_for(self.upload, refuse)
        self.until(FAILED, [words])
        self.until(STATUS, "0 uploaded, 1 failed.")

    def assert_all_goes_on(self) -> None:
        """On the same page, without loading it again."""
        self.press("Retry")
        self.until(STATUS, "1 uploaded.")
        self.make_folder()
        self.browser.press("Enter")
        self.until(STATUS, "The folder box is made.")
        self.rename()
        self.browser.press("Enter")
        self.until(STATUS, "Renamed to renamed.")
        self.assertEqual(self.value(SEEN), ["box", "new", "renamed"])
        self.assertEqual((self.folder / "renamed").read_bytes(), b"kept")
        self.assertEqual((self.folder / "new").read_bytes(), _LARGE)


@needs(PROGRAM)
class PageRefusalsTest(ChangesTest):
    @classmethod
    def prepare(cls) -> None:
        cls.rights = cls.scene.folder / "rights"
        cls.rights.write_text("* / read write\n")
        flags = ("--rights", str(cls.rights), "--wrong-passwords", "2")
        cls.server_flags = ("--uploads", "folder", *flags)
        super().prepare()
        create_account(cls.authserver, *_OTHER)

    def setUp(self) -> None:
        super().setUp()
        self.open("old")
        (self.folder / "old").write_bytes(b"kept")

    def http(self, user: str, password: str) -> HttpClient:
        client = HttpClient(self.server, user, password)
        self.addCleanup(client.close)
        return client

    def status(self, *login: str) -> int:
        return self.http(*login).ask("/").status

    def set_password(self, password: str) -> None:
        command = [str(_ACCOUNTS), "password", USER, "--sqlite-path", str(self.scene.accounts)]
        plain = ("--password-scheme", "plain")
        subprocess.run(
            [*command, *plain], input=f"{password}\n", text=True, check=True, capture_output=True
        )

    def set_rights(self, line: str) -> None:
        times = self.server.log().count("rights")
        self.rights.write_text(f"{line}\n")
        self.server.signal(signal.SIGHUP)
        eventually(lambda: self.server.log().count("rights") > times, "the rights are read")

    def test_401_a_password_that_was_changed(self) -> None:
        """No dialogue of the browser asks for it. The page to sign in does."""
        self.set_password("other")
        self.addCleanup(self.set_password, PASSWORD)
        self.browser.times_asked = 0
        self.assert_refused(_CHANGED)
        self.assertEqual(self.browser.times_asked, 0)
        self.browser.logins = [(USER, "other")]
        self.browser.go(self.value("location.href"))
        self.assertEqual(self.value(SEEN), ["old"])

    def test_403_rights_that_were_taken_away(self) -> None:
        self.set_rights("* / read")
        self.assert_refused(_FORBIDDEN)
        self.set_rights("* / read write")
        self.assert_all_goes_on()

    def test_423_a_folder_that_somebody_else_has_locked(self) -> None:
        bob = self.http(*_OTHER)
        folder = f"/{self.folder.name}/"
        answer = lock(bob, folder, "Depth: infinity")
        self.assertEqual(answer.status, 200)
        self.assert_refused(_LOCKED)
        self.assertEqual(unlock(bob, folder, token_of(answer)).status, 204)
        self.assert_all_goes_on()

    def test_wrong_passwords_from_the_address_refuse_nobody_who_is_signed_in(self) -> None:
        guesses = itertools.count()

        def guess() -> None:
            """Until the address has no guess left, from now on for six seconds."""
            eventually(
                lambda: (
                    self.status(USER, f"wrong{next(guesses)}") == 401 and self.status(*LOGIN) == 429
                ),
                "the last guess was made just now",
            )

        guess()
        self.upload()
        self.until(STATUS, "1 uploaded.")
        self.assertEqual(self.status(*LOGIN), 429)

    def test_503_an_authserver_that_is_gone(self) -> None:
        address = self.authserver.address
        self.authserver.kill()
        self.assert_refused(_BUSY)
        self.authserver.start_again([*self.authserver.command, "--listen", str(address)])
        self.authserver.wait_ready(LONG_S)
        self.assert_all_goes_on()

    def test_a_server_that_is_gone(self) -> None:
        self.server.kill()
        self.assert_refused(NO_ANSWER)
        self.server.start_again([*self.server.command, "--http-listen", self.address])
        self.server.wait_ready(LONG_S)
        self.assert_all_goes_on()


@needs(PROGRAM)
@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class PageOfFullDiskTest(ChangesTest):
    """507. The folder is a file system with room for a few files, which only the server sees."""

    @classmethod
    def prepare(cls) -> None:
        folder = cls.scene.root / "full"
        folder.mkdir()
        mount = f'mount -t tmpfs -o size=1m,nr_inodes=9 none "{folder}" && exec "$0" "$@"'
        cls.server_prefix = (*NAMESPACES, "sh", "-c", mount)
        super().prepare()

    def test_507_a_full_disk(self) -> None:
        self.folder = self.scene.root / "full"
        client = HttpClient(self.server, *LOGIN)
        self.addCleanup(client.close)
        statuses = []
        for name in ("old", *range(9)):
            answer = client.ask(f"/full/{name}", "Content-Length: 0", method="PUT")
            statuses.append(answer.status)
        self.assertEqual(set(statuses), {201, 507})
        self.open()
        self.assert_upload_is_refused(_FULL)
        self.ask_for(self.make_folder, lambda: None)
        self.until(STATUS, f"box: {_FULL}")
        self.ask_for(self.delete, lambda: None)
        self.until(STATUS, "old is deleted.")
        self.ask_for(self.make_folder, lambda: None)
        self.until(STATUS, "The folder box is made.")
