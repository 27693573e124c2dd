"""Chromium: the lab's report of the kept results, on a desk, on a phone, in the dark, on paper."""

import base64
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import shared_path  # noqa: F401
from browser import PROGRAM, Browser
from judge_scene import PYTHON_TOOLS, environment, needs
from scene import for_each

from lab.report import page
from lab.results.records import Folder

KEPT = Path(__file__).resolve().parents[2] / "docs" / "results" / "002"
SCREENS = {"phone": (400, 800, True), "small-phone": (360, 740, True), "desk": (1280, 900, False)}
NO_MORE = "document.scrollingElement.scrollWidth - document.documentElement.clientWidth"
# What is cut off at the right, without a box to scroll in.
CUT = """[...document.querySelectorAll("svg, p, li, h1, h2, h3, figcaption")]
  .filter(node => node.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .filter(node => {
    let box = node.parentElement
    while (box && !["auto", "scroll"].includes(getComputedStyle(box).overflowX))
      box = box.parentElement
    return !box || box.getBoundingClientRect().right > document.documentElement.clientWidth + 1
  })
  .map(node => node.outerHTML.slice(0, 80))"""
# How large the smallest letters of the figures are, in pixels of the screen.
SMALLEST = """Math.min(...[...document.querySelectorAll("svg text")].map(text =>
  parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a))"""
LIGHTNESS = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] / 255"
OVERVIEW_MM = "document.querySelector('.overview').getBoundingClientRect().height * 25.4 / 96"
PAPER_MM = (186, 277)  # A4 without its margins
MOST_PAGES = 15  # one of them has the response times over N
LEAST_LETTER = 9.0


@needs(PROGRAM)
class ReportPageTest(unittest.TestCase):
    browser: Browser
    address: str

    @classmethod
    def setUpClass(cls) -> None:
        folder = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, folder)
        results = Path(shutil.copytree(KEPT, folder / "results"))
        page.write(Folder(results))
        cls.address = (results / "report.html").as_uri()
        cls.browser = Browser(folder, environment(folder))
        cls.addClassCleanup(cls.browser.close)

    def open(self, width: int, height: int, is_phone: bool = False, scheme: str = "light") -> None:
        self.browser.open()
        self.browser.prefer(scheme)
        self.browser.resize(width, height, is_phone)
        self.browser.go(self.address)

    def picture(self, name: str) -> None:
        """Leaves a picture of the first screen, to look at."""
        PYTHON_TOOLS.mkdir(parents=True, exist_ok=True)
        (PYTHON_TOOLS / f"report-{name}.png").write_bytes(self.browser.screenshot())

    @for_each(SCREENS)
    def test_nothing_is_wider_than_the_screen_and_letters_are_readable(self, kind: str) -> None:
        self.open(*SCREENS[kind])
        self.picture(kind)
        self.assertEqual(self.browser.evaluate(NO_MORE), 0)
        self.assertEqual(self.browser.evaluate(CUT), [])
        self.assertGreaterEqual(self.browser.evaluate(SMALLEST), LEAST_LETTER)

    def test_the_page_is_dark_for_who_prefers_that(self) -> None:
        for scheme, is_dark in (("light", False), ("dark", True)):
            self.open(*SCREENS["desk"], scheme=scheme)
            self.picture(scheme)
            self.assertEqual(self.browser.evaluate(LIGHTNESS) < 0.2, is_dark, scheme)

    def test_the_overview_is_one_printed_page_and_the_rest_is_short(self) -> None:
        self.open(*SCREENS["desk"])
        pdf = base64.b64decode(self.browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
        self.assertLessEqual(len(re.findall(rb"/Type\s*/Page\b", pdf)), MOST_PAGES)
        width, height = (round(side * 96 / 25.4) for side in PAPER_MM)
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.browser.resize(width, height)
        self.assertEqual(self.browser.evaluate(NO_MORE), 0)
        self.assertLessEqual(self.browser.evaluate(OVERVIEW_MM), PAPER_MM[1])
