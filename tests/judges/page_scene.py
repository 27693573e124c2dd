"""A scene for the page of a folder, with its script: a browser that is logged in."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import shared_path  # noqa: F401
from browser import Browser
from judge_scene import PASSWORD, PYTHON_TOOLS, USER, JudgeTest, environment
from waiting import eventually

LOGIN = (USER, PASSWORD)
SEEN = (
    "[...document.querySelectorAll('tbody tr:not(.up)')].filter(row => !row.hidden)"
    ".map(row => row.querySelector('bdi').textContent)"
)
DIALOG = "!!document.querySelector('dialog[open]')"
STATUS = "document.querySelector('.status').textContent"
FAILED = "[...document.querySelectorAll('.uploads li.bad .detail')].map(one => one.textContent)"


class PageTest(JudgeTest):
    """Each test has a served folder of its own, `self.folder`, and the page of it, of which the
    browser may not complain."""

    browser: Browser

    @classmethod
    def prepare(cls) -> None:
        super().prepare()
        folder = Path(tempfile.mkdtemp(dir=cls.scene.folder))
        cls.browser = Browser(folder, environment(folder))
        cls.addClassCleanup(cls.browser.close)

    def setUp(self) -> None:
        super().setUp()
        self.folder = Path(tempfile.mkdtemp(dir=self.scene.root))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def tearDown(self) -> None:
        self.assertEqual(self.browser.complaints(), [])

    def write(self, name: str, content: bytes = b"x") -> Path:
        """A file on the disk of whoever sits before the browser."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def open(self, *names: str) -> None:
        """Opens the page of a folder with these names, each an empty file or a folder."""
        for name in names:
            path = self.folder / name
            if name.endswith("/"):
                path.mkdir(exist_ok=True)
            else:
                path.touch()
        self.browser.open(LOGIN, scripts=True)
        self.browser.go(f"{self.url}/{self.folder.name}/")
        # Bodies of uploads need not pass by this test.
        self.browser.call("Fetch.disable")

    def value(self, expression: str) -> Any:
        return self.browser.evaluate(expression)

    def until(self, expression: str, wanted: object = True) -> None:
        """Other pages may come meanwhile. One that goes answers nothing."""

        def is_so() -> bool:
            try:
                return bool(self.value(expression) == wanted)
            except AssertionError as failure:
                if "-32000" not in str(failure):
                    raise
                return False

        try:
            eventually(is_so, f"{expression} is {wanted!r}")
        except AssertionError as failure:
            raise AssertionError(f"{failure}, but {self.value(expression)!r}") from None

    def press(self, text: str) -> None:
        """Presses the button with this text."""
        self.browser.click(text, "button")

    def picture(self, name: str) -> None:
        """Leaves a picture of the page, to look at."""
        PYTHON_TOOLS.mkdir(parents=True, exist_ok=True)
        (PYTHON_TOOLS / f"page-{name}.png").write_bytes(self.browser.screenshot())
