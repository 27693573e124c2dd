"""Chromium: names that were made to do harm, many files, and uploads that end in the middle."""

import os
import tempfile
from pathlib import Path

import shared_path  # noqa: F401
from browser import PROGRAM, Browser
from http_client import HttpClient
from judge_scene import environment, needs
from page_scene import DIALOG, FAILED, LOGIN, SEEN, STATUS, PageTest
from test_page_uploads import FILES
from waiting import LONG_S, eventually

_A_MB = 1 << 20
_MANY = 2_000
_HOSTILE = (
    "-",
    "\"'`><img src=x onerror=alert(1)>",
    "<bdi><table><script>alert(1)<",
    "javascript:alert(1)",
    "&lt;b&amp;",
    "%2e%2e%2fetc%00%0a%",
    "..%5c",
    "...",
    " blanks ",
    "\u202egpj.exe",
    "\u2069\u202e\u200f\u05d0",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f3f4",
    "e\u0301",
    "\u2028\u0085\u00a0",
    "?query#hash;a=b&c",
    "x" * 255,
    "\u20ac" * 85,
    "CON",
    "constructor",
    "__proto__",
)
_IMPOSSIBLE = ("new\nline", "back\\slash", "tab\t", "\x1b[31m", "del\x7f")
_NOT_TAKEN = "The server does not take this name."
_LINKS = "[...document.querySelectorAll('tbody tr:not(.up) a')].map(one => one.href)"
_TOP = "document.querySelector('.summary p').textContent"


@needs(PROGRAM)
class HostileNamesTest(PageTest):
    def test_hostile_names_are_stored_shown_opened_and_changed_as_they_are(self) -> None:
        self.open()
        contents = {name: f"of {at}".encode() for at, name in enumerate(_HOSTILE)}
        self.browser.choose(FILES, *(self.write(name, contents[name]) for name in _HOSTILE))
        self.until(STATUS, f"{len(_HOSTILE)} uploaded.")
        stored = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.assertEqual(set(stored.items()) ^ set(contents.items()), set())
        self.value("document.querySelector('.tools input[type=checkbox]').click()")
        self.assertEqual(sorted(self.value(SEEN)), sorted(_HOSTILE))
        here = self.value("location.href")
        for link in self.value(_LINKS):
            self.assertTrue(link.startswith(here), link)
        self.assertEqual(self.value("document.querySelectorAll('main img, main script').length"), 0)
        for at, name in enumerate(_HOSTILE):
            with self.subTest(name):
                self.rename(name, f"renamed-{at}")
                self.rename(f"renamed-{at}", name)
                self.assertEqual((self.folder / name).read_bytes(), contents[name])

    def rename(self, old: str, new: str) -> None:
        at = self.value(SEEN).index(old)
        self.value(f"document.querySelectorAll('td.actions button')[{at}].click()")
        self.until("document.querySelector('dialog input').value", old)
        self.value("document.activeElement.select()")  # also what looks like an ending
        self.browser.type(new)
        self.browser.press("Enter")
        self.until(STATUS, f"Renamed to {new}.")

    def test_a_name_in_a_message_does_not_reorder_it(self) -> None:
        self.open("old")
        self.rename("old", "\u202egpj.exe")
        self.assertEqual(
            self.value("document.querySelector('.status bdi').textContent"), "\u202egpj.exe"
        )

    def test_names_that_cannot_be_are_refused_one_by_one(self) -> None:
        self.open()
        self.browser.choose(FILES, *(self.write(name) for name in (*_IMPOSSIBLE, "good")))
        self.until(STATUS, f"1 uploaded, {len(_IMPOSSIBLE)} failed.")
        self.assertEqual(self.value(FAILED), [_NOT_TAKEN] * len(_IMPOSSIBLE))
        self.assertEqual(os.listdir(self.folder), ["good"])

    def test_folders_that_are_too_deep_for_an_address(self) -> None:
        self.open()
        top = "\u20ac" * 85
        self.write("/".join([top] * 12 + ["file"]))
        self.browser.drop(self.work / top)
        # Two folders and the file. What is above them is stored.
        self.until(FAILED, ["The names of the folder and of this together are too long."] * 3)

    def test_a_name_of_the_pages_own_addresses_is_refused_at_the_top(self) -> None:
        self.open()
        self.browser.go(f"{self.url}/")
        self.write("-/page.js", b"alert(1)")
        self.browser.drop(self.work / "-")
        self.until(f"{FAILED}.length", 2)  # the folder, and the file in it
        self.assertFalse((self.scene.root / "-").exists())
        script = HttpClient(self.server, *LOGIN)
        self.addCleanup(script.close)
        self.assertNotIn(b"alert", script.ask("/-/page.js").body)

    def test_two_browsers_rename_at_once_and_the_second_is_told(self) -> None:
        self.open("old")
        home = Path(tempfile.mkdtemp(dir=self.scene.folder))
        other = Browser(home, environment(home))
        self.addCleanup(other.close)
        other.open(LOGIN, scripts=True)
        other.go(self.value("location.href"))
        self.rename("old", "first")
        self.browser, mine = other, self.browser
        try:
            self.value("document.querySelector('td.actions button').click()")
            self.until(DIALOG)
            self.browser.type("second")
            self.browser.press("Enter")
            self.until(STATUS, "old: It is not there any more.")
            self.assertEqual(self.value(SEEN), ["first"])
        finally:
            self.browser = mine
        self.assertEqual(os.listdir(self.folder), ["first"])


@needs(PROGRAM)
class ManyUploadsTest(PageTest):
    def drop_many(self) -> None:
        self.open()
        for number in range(_MANY):
            self.write(f"many/{number // 500}/{number:04}", str(number).encode())
        self.browser.drop(self.work / "many")

    def open_files(self) -> int:
        """How many files of the folder the server has open, those without a name too."""
        opened = Path(f"/proc/{self.server.pid}/fd").iterdir()
        return sum(str(self.folder) + "/" in os.readlink(one) for one in opened)

    def stored(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.is_file()]

    def test_a_folder_of_two_thousand_files(self) -> None:
        self.drop_many()
        all_stored = f"{STATUS} === '{_MANY + 5} uploaded.'"
        eventually(lambda: self.value(all_stored), "all are stored", 10 * LONG_S)
        self.assertEqual(len(self.stored()), _MANY)
        for path in self.stored():
            self.assertEqual(path.read_bytes(), str(int(path.name)).encode())

    def test_two_thousand_are_cancelled_in_the_middle(self) -> None:
        self.drop_many()
        self.until(f"/^[1-9][0-9]+ of/.test({_TOP})")
        self.press("Cancel all")
        self.until("document.querySelector('.uploads').hidden")
        self.until(f"/^[0-9]+ uploaded[.]$/.test({STATUS})")
        self.assertLess(len(self.stored()), _MANY)
        for path in self.stored():
            self.assertEqual(path.read_bytes(), str(int(path.name)).encode())

    def test_of_a_tab_that_is_closed_in_the_middle_nothing_is_left(self) -> None:
        self.open("other")
        self.browser.set_network(bytes_a_s=_A_MB // 4)
        slow = self.write("slow")
        os.truncate(slow, 30 * _A_MB)
        before = self.open_files()
        self.browser.choose(FILES, slow)
        self.until("document.querySelector('progress').value > 0.05")
        self.assertEqual(os.listdir(self.folder), ["other"])
        self.assertGreater(self.open_files(), before)
        self.browser.close_page()
        eventually(lambda: self.open_files() == before, "the server has let go of it")
        self.assertEqual(os.listdir(self.folder), ["other"])
        self.open()
        self.assertEqual(self.value(SEEN), ["other"])
