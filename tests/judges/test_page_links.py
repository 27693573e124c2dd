"""Chromium: a link for guests is made on the page, and opened by a guest without an account."""

import shared_path  # noqa: F401
from browser import PROGRAM
from http_client import HttpClient
from judge_scene import needs
from page_scene import DIALOG, STATUS, PageTest

ADDRESS = "document.querySelector('dialog input[readonly]')?.value ?? ''"
LINKS = "[...document.querySelectorAll('dialog li')].map(one => one.textContent)"
DROPPED = "form[data-drop] input[type=file]"


@needs(PROGRAM)
class PageLinksTest(PageTest):
    server_flags = ("--uploads", "folder")

    def fill(self, values: dict[str, str]) -> None:
        """The fields of the dialogue, by the first word of their labels."""
        for word, value in values.items():
            self.value(
                "[...document.querySelectorAll('dialog label.field')]"
                f".find(one => one.textContent.startsWith('{word}')).querySelector('input')"
                f".value = '{value}'"
            )

    def made(self) -> str:
        """Returns the path of the address that is shown."""
        self.press("Make link")
        self.until(f"({ADDRESS}).startsWith(location.origin + '/-/l/')")
        address: str = self.value(ADDRESS)
        self.press("Close")
        self.until(DIALOG, False)
        return address.removeprefix(self.url)

    def status(self, path: str) -> int:
        client = HttpClient(self.server)
        try:
            return client.ask(path).status
        finally:
            client.close()

    def test_a_guest_reads_a_folder_until_its_link_is_ended(self) -> None:
        self.open("a.txt", "sub/")
        self.press("Links")
        self.until(DIALOG)
        self.press("Link to this folder…")
        self.fill({"Days": "1", "Uses": "3"})
        path = self.made()
        self.browser.go(self.url + path)
        self.until("document.title", f"/ - {self.folder.name}")
        names = "[...document.querySelectorAll('tbody bdi')].map(one => one.textContent)"
        self.assertEqual(self.value(names), ["sub", "a.txt"])
        self.assertFalse(self.value("document.body.textContent.includes('Signed in')"))
        self.browser.go(f"{self.url}/{self.folder.name}/")
        self.press("Links")
        mine = f"{LINKS}.filter(one => one.startsWith('/{self.folder.name}/'))"
        self.until(f"{mine}.length", 1)
        self.assertIn("3 uses left", self.value(mine)[0])
        end = f'[aria-label="End the link to /{self.folder.name}/"]'
        self.value(f"document.querySelector('{end}').click()")
        self.until(mine, [])
        self.assertEqual(self.status(path), 404)

    def test_a_file_has_a_link_from_its_row(self) -> None:
        self.open("a b%.txt")
        self.value("document.querySelector('td.actions button').click()")
        self.press("Link…")
        path = self.made()
        self.assertEqual(self.status(path), 200)

    def test_guests_send_files_by_the_page_of_a_link(self) -> None:
        self.open("taken")
        (self.folder / "taken").write_bytes(b"old")
        self.press("Links")
        self.until(DIALOG)
        self.press("Link to this folder…")
        self.value("document.querySelector('dialog input[type=checkbox]').click()")
        self.browser.go(self.url + self.made())
        self.until("document.title", f"Send files to {self.folder.name}")
        self.browser.call("Fetch.disable")
        sent = (self.write("taken", b"new"), self.write("b c%#", b"other"))
        self.browser.choose(DROPPED, *sent)
        self.press("Send")
        self.until(STATUS, "2 files are sent.")
        there = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.assertEqual(there, {"taken": b"old", "taken (2)": b"new", "b c%#": b"other"})
