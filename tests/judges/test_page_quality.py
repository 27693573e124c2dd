"""Chromium and tidy: the page is sound HTML, can be used by everybody, and shows files in place."""

import struct
import zlib
from typing import Any

import shared_path  # noqa: F401
from browser import PROGRAM, Browser
from contrast import READABLE, contrasts
from judge_scene import AUTHORIZATION, needs
from page_scene import DIALOG, PageTest
from scene import for_each
from test_page_uploads import FILES

# What has to have a name that a screen reader can say.
_NAMED = {
    *("button", "link", "searchbox", "textbox", "checkbox", "progressindicator", "dialog"),
    *("columnheader", "heading", "group", "region"),
}
IN_DIALOG = {"dialog", "heading", "textbox", "button"}
IN_PAGE = _NAMED - {"dialog", "textbox", "progressindicator"} | {"status", "table"}
TEXTS = "h1, h2, th, td, a, button, label, p, .detail"
NO_MORE = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
SMALLEST = (
    "Math.min(...[...document.querySelectorAll('button, input')]"
    ".filter(one => one.type !== 'checkbox' && one.offsetParent)"
    ".map(one => Math.min(one.offsetWidth, one.offsetHeight)))"
)
WHERE = "document.activeElement.outerHTML"
_LEAST_TARGET = 24  # WCAG 2.2, 2.5.8
# An empty link is this page itself, which HTML allows. All browsers know the input of a folder.
_FINE = ('<a> attribute "href" lacks value', 'proprietary attribute "webkitdirectory"')
SCREENS = {"phone": (360, 740, True), "desk": (1000, 640, False)}


def png() -> bytes:
    """A picture of 3 x 2 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    head = struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\0\0\0" * 2)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def wav() -> bytes:
    """A second of silence."""
    rate = 8000
    kind = struct.pack("<HHIIHH", 1, 1, rate, rate, 1, 8)
    head = b"WAVEfmt " + struct.pack("<I", len(kind)) + kind
    data = b"data" + struct.pack("<I", rate) + b"\x80" * rate
    return b"RIFF" + struct.pack("<I", len(head + data)) + head + data


PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF\n"
)
# Each kind, and an expression that is true when the file is shown.
IN_PLACE = {
    "picture.png": (png(), "document.images[0].naturalWidth === 3"),
    "sound.wav": (wav(), "document.querySelector('video, audio').duration === 1"),
    "text.txt": (b"words", "document.body.innerText === 'words'"),
    "paper.pdf": (PDF, "document.contentType === 'application/pdf'"),
}
ACTIVE = {
    "page.html": b"<title>calm</title><script>document.title = 'ran'</script>",
    "picture.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><title>calm</title>'
    b"<script>document.querySelector('title').textContent = 'ran'</script></svg>",
}


def readable(browser: Browser) -> list[dict[str, Any]]:
    """What a screen reader finds."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [node for node in nodes if not node["ignored"]]


def unnamed(browser: Browser) -> list[dict[str, Any]]:
    """What of it has no name, and needs one."""
    named = [node for node in readable(browser) if node["role"]["value"] in _NAMED]
    return [node for node in named if not node.get("name", {}).get("value")]


@needs(PROGRAM)
class PageQualityTest(PageTest):
    server_flags = ("--uploads", "folder", "--max-upload", "1000")

    def tearDown(self) -> None:
        """A browser complains of each script that it does not run."""
        others = [one for one in self.browser.complaints() if "Blocked script" not in one]
        self.assertEqual(others, [])

    def fill(self) -> None:
        """A page with all that it can have: rows, hidden names, and an upload that has failed."""
        self.open("a", "sub/", ".hidden", "x" * 200)
        self.browser.choose(FILES, self.write("large", b"x" * 2000))
        self.until("document.querySelectorAll('.uploads li.bad').length", 1)

    def each_view(self) -> tuple[str, ...]:
        """Expressions that bring up what is not always seen."""
        return ("0", "document.querySelector('td.actions button').click()")

    def test_everything_that_can_be_used_has_a_name_for_screen_readers(self) -> None:
        self.fill()
        for view in self.each_view():
            self.value(view)
            seen = readable(self.browser)
            roles = {node["role"]["value"] for node in seen}
            self.assertLessEqual(IN_DIALOG if "dialog" in roles else IN_PAGE, roles)
            self.assertEqual(unnamed(self.browser), [])

    def test_the_page_has_a_language_a_title_and_one_heading(self) -> None:
        self.fill()
        self.assertEqual(self.value("document.documentElement.lang"), "en")
        self.assertEqual(self.value("document.title"), f"/{self.folder.name}/")
        self.assertEqual(self.value("document.querySelectorAll('h1').length"), 1)
        self.assertEqual(self.value("document.querySelectorAll('main').length"), 1)
        self.assertEqual(self.value("document.querySelectorAll('[tabindex]').length"), 0)

    @for_each(("light", "dark"))
    def test_each_text_can_be_read(self, scheme: str) -> None:
        self.fill()
        self.browser.prefer(scheme)
        for view in self.each_view():
            self.value(view)
            lightness, *seen = self.value(contrasts(TEXTS))
            self.assertEqual(lightness < 0.2, scheme == "dark")
            self.assertGreater(len(seen), 20)
            self.assertGreaterEqual(min(seen), READABLE)
            self.picture(f"{scheme}{'-dialog' if view != '0' else ''}")

    def test_the_focus_can_be_seen_wherever_the_tab_key_leads(self) -> None:
        self.fill()
        visited = 0
        self.browser.press("Tab")
        while self.value("document.activeElement !== document.body"):
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            self.assertEqual(self.value(outline), "solid", self.value(WHERE))
            visited += 1
            self.browser.press("Tab")
        self.assertGreater(visited, 15)

    @for_each(SCREENS)
    def test_it_fits_on_the_screen_and_can_be_hit_with_a_finger(self, kind: str) -> None:
        self.fill()
        self.browser.resize(*SCREENS[kind])
        for view in self.each_view():
            self.value(view)
            self.picture(f"{kind}{'-dialog' if view != '0' else ''}")
            self.assertEqual(self.value(NO_MORE), 0)
            self.assertGreaterEqual(self.value(SMALLEST), _LEAST_TARGET)

    @needs("tidy")
    def test_tidy_finds_nothing_in_what_is_sent_and_in_what_the_script_makes_of_it(self) -> None:
        self.fill()
        self.tidy(self.value("'<!doctype html>' + document.documentElement.outerHTML").encode())
        for path in ("", "sub/", "sub/deep/", self.folder.name + "/"):
            curl = ("curl", "-sS", "-H", AUTHORIZATION, f"{self.url}/{path}")
            self.tidy(self.run_judge(*curl).stdout.encode())
        for path, login in (("none", ("-H", AUTHORIZATION)), ("", ())):
            curl = ("curl", "-sS", "-H", "Accept: text/html", *login, f"{self.url}/{path}")
            self.tidy(self.run_judge(*curl).stdout.encode())

    @needs("tidy")
    def test_tidy_finds_what_is_wrong(self) -> None:
        with self.assertRaises(AssertionError):
            self.tidy(b"<!doctype html><title>x</title><p><b>x</p>")

    def tidy(self, page: bytes) -> None:
        (self.work / "page.html").write_bytes(page)
        options = ("--show-warnings", "yes", "--gnu-emacs", "yes", "-q", "-e", "-utf8")
        said = self.run_judge("sh", "-c", f"tidy {' '.join(options)} page.html || true")
        lines = said.stderr.splitlines()
        complaints = [line for line in lines if not line.endswith(_FINE)]
        self.assertEqual(complaints, [], page.decode())

    def test_files_are_shown_in_place(self) -> None:
        for name, (content, _) in IN_PLACE.items():
            (self.folder / name).write_bytes(content)
        for name, (_, is_shown) in IN_PLACE.items():
            with self.subTest(name):
                self.open()
                self.follow(name)
                self.until(is_shown)
                self.picture(name)

    def test_no_script_of_a_file_runs(self) -> None:
        for name, content in ACTIVE.items():
            (self.folder / name).write_bytes(content)
        for name in ACTIVE:
            with self.subTest(name):
                self.open()
                self.follow(name)
                self.assertEqual(self.value("document.title"), "calm")

    def follow(self, name: str) -> None:
        if name.endswith(".png"):  # which is shown on the page at first
            self.browser.click(name)
            self.until(DIALOG)
            name = "Open alone"
        self.browser.goes(lambda: self.browser.click(name))
