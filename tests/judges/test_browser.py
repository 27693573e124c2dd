"""Chromium without scripts: somebody logs in, walks through listings and saves a file."""

import io
import tempfile
import urllib.parse
import zipfile
from pathlib import Path

import shared_path  # noqa: F401
from browser import PROGRAM, Browser
from contrast import READABLE, contrasts
from judge_scene import (
    FILES,
    LARGE,
    PASSWORD,
    PYTHON_TOOLS,
    USER,
    JudgeTest,
    environment,
    needs,
)
from scene import for_each

LOGIN = (USER, PASSWORD)
ODD = "a b+c%&'#?.txt"
# What HTML has to escape, what a link could take for a scheme, and what has no place to break.
NAMES = (
    "<b>&amp;\"'.txt",
    "javascript:alert(1)",
    "mailto:x",
    "x" * 240,
    "Some words in a name.pdf",
)
SCREENS = {"phone": (360, 740, True), "desktop": (1280, 800, False)}
NO_MORE = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
CUT = (
    "[...document.querySelectorAll('td')].filter(cell => cell.scrollWidth > cell.clientWidth)"
    ".map(cell => cell.textContent)"
)
LINKS = "[...document.querySelectorAll('td a')]"
TEXTS = f"{LINKS}.map(link => link.textContent)"
PATHS = f"{LINKS}.map(link => link.pathname)"


@needs(PROGRAM)
class BrowserTest(JudgeTest):
    browser: Browser

    @classmethod
    def prepare(cls) -> None:
        super().prepare()
        for name in NAMES:
            cls.scene.write(f"names/{name}", name.encode())
        folder = Path(tempfile.mkdtemp(dir=cls.scene.folder))
        cls.browser = Browser(folder, environment(folder))
        cls.addClassCleanup(cls.browser.close)

    def open(self, path: str) -> None:
        self.browser.open(LOGIN)
        self.browser.go(f"{self.url}/{path}")

    def follow(self, text: str) -> None:
        self.browser.goes(lambda: self.browser.click(text))

    def shown(self) -> str:
        return str(self.browser.evaluate("document.body.innerText"))

    def title(self) -> str:
        return str(self.browser.evaluate("document.title"))

    def picture(self, name: str) -> None:
        """Leaves a picture of the page, to look at."""
        PYTHON_TOOLS.mkdir(parents=True, exist_ok=True)
        (PYTHON_TOOLS / f"listing-{name}.png").write_bytes(self.browser.screenshot())

    def test_the_page_asks_again_after_a_wrong_password_and_then_no_more(self) -> None:
        self.browser.open((USER, "wrong"), LOGIN)
        self.browser.go(self.url)
        self.follow("sub/")
        self.assertEqual(self.title(), "/sub/")
        self.assertEqual(self.browser.times_asked, 2)

    def test_who_is_not_signed_in_gets_a_form_and_no_dialogue(self) -> None:
        self.browser.open()
        self.browser.go(f"{self.url}/small.txt")
        self.assertEqual(self.shown().split("\n")[0], "Sign in")
        self.assertEqual(self.browser.times_asked, 0)

    def test_a_walk_down_to_a_file_and_up_again(self) -> None:
        self.open("")
        for text in ("sub/", "deep/", ODD):
            self.follow(text)
        self.assertEqual(self.shown(), FILES[f"sub/deep/{ODD}"].decode())
        self.browser.go(f"{self.url}/sub/deep/")
        self.follow("../")
        self.follow("../")
        self.assertEqual(self.title(), "/")
        self.assertEqual(self.browser.evaluate(TEXTS), ["large.bin", "names/", "small.txt", "sub/"])

    def test_each_name_is_shown_as_it_is_and_leads_to_its_file(self) -> None:
        self.open("names/")
        self.assertEqual(self.browser.evaluate(TEXTS), ["../", *sorted(NAMES)])
        paths = [urllib.parse.unquote(path) for path in self.browser.evaluate(PATHS)]
        self.assertEqual(paths, ["/", *(f"/names/{name}" for name in sorted(NAMES))])
        self.follow(NAMES[0])
        self.assertEqual(self.shown(), NAMES[0])

    def test_a_file_is_saved_as_it_is(self) -> None:
        self.open("")
        saved = self.browser.save(lambda: self.browser.click("large.bin"))
        self.assertEqual(saved, LARGE)

    def test_a_folder_is_saved_as_a_zip(self) -> None:
        self.open("sub/")
        saved = self.browser.save(lambda: self.browser.click("Download as zip"))
        with zipfile.ZipFile(io.BytesIO(saved)) as zipped:
            self.assertIsNone(zipped.testzip())
            files = {one: zipped.read(one) for one in zipped.namelist() if not one.endswith("/")}
        wanted = {name[4:]: content for name, content in FILES.items() if name[:4] == "sub/"}
        self.assertEqual(files, wanted)

    @for_each(SCREENS)
    def test_nothing_is_wider_than_the_screen(self, kind: str) -> None:
        self.browser.open(LOGIN)
        self.browser.resize(*SCREENS[kind])
        self.browser.go(f"{self.url}/names/")
        self.picture(kind)
        self.assertEqual(self.browser.evaluate(NO_MORE), 0)
        self.assertEqual(self.browser.evaluate(CUT), [])

    def test_the_tab_key_goes_through_the_names_in_order_and_enter_opens_one(self) -> None:
        self.open("sub/")
        visited = []
        for _ in ("/", USER, "zip", *self.browser.evaluate(TEXTS)):
            self.browser.press("Tab")
            visited.append(self.browser.evaluate("document.activeElement.textContent"))
        self.assertEqual(
            visited, ["/", USER, "Download as zip", "../", "deep/", "empty", "page.html"]
        )
        self.browser.goes(lambda: self.browser.press("Enter"))
        self.assertEqual(self.title(), "A page")

    @for_each(("light", "dark"))
    def test_each_text_is_readable(self, scheme: str) -> None:
        self.browser.open(LOGIN)
        self.browser.prefer(scheme)
        self.browser.go(self.url)
        self.picture(scheme)
        lightness, *seen = self.browser.evaluate(contrasts("h1, th, td, a"))
        self.assertEqual(lightness < 0.2, scheme == "dark")
        self.assertEqual(len(seen), 2 + 3 + 1 + 4 * 4)
        self.assertGreaterEqual(min(seen), READABLE)
