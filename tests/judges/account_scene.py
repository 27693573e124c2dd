"""A scene for the pages of accounts: an administrator, and people with a browser each."""

import tempfile
import uuid
from pathlib import Path

import shared_path  # noqa: F401
from browser import Browser
from judge_scene import PASSWORD, USER, environment
from page_scene import PageTest
from programs import run
from scene import create_account

ROWS = "[...document.querySelectorAll('main li bdi')].map(one => one.textContent)"
TITLE = "document.title"
SECRET = "document.querySelector('dialog input[readonly]')?.value ?? ''"


class AccountTest(PageTest):
    """USER is an administrator. Each test has somebody of its own, `self.somebody`."""

    @classmethod
    def prepare(cls) -> None:
        super().prepare()
        done = run("authserver", "--make-admin", USER, "--sqlite-path", cls.scene.accounts)
        assert done.returncode == 0, done.stderr

    def setUp(self) -> None:
        super().setUp()
        self.somebody = f"ben-{uuid.uuid4().hex[:8]}"
        create_account(self.authserver, self.somebody, PASSWORD)

    def enter(self, path: str, user: str = "", password: str = PASSWORD) -> None:
        """In a private window, as somebody who signs in at the page."""
        self.browser.open(scripts=True)
        self.browser.go(self.url + path)
        self.browser.call("Fetch.disable")
        self.sign_in(user or self.somebody, password)

    def sign_in(self, user: str, password: str = PASSWORD) -> None:
        self.until(TITLE, "Sign in")
        self.fill("User name", user)
        self.fill("Password", password)
        self.browser.goes(lambda: self.press("Sign in"))

    def fill(self, label: str, text: str) -> None:
        """Types into the last field with this label. A page has its title before its fields."""
        fields = "[...document.querySelectorAll('label.field')]"
        field = f"{fields}.findLast(one => one.textContent.trim() === '{label}')"
        self.until(f"!!{field}")
        self.value(f"{field}.querySelector('input').select()")
        self.browser.type(text)

    def row(self, name: str) -> str:
        """The text of the row of this name; empty: there is none."""
        found = f"find(one => one.querySelector('bdi').textContent === '{name}')"
        text: str = self.value(
            f"[...document.querySelectorAll('main li')].{found}?.textContent ?? ''"
        )
        return text

    def button(self, label: str) -> None:
        """Presses the button of which a screen reader says this."""
        self.until(f"!!document.querySelector('button[aria-label=\"{label}\"]')")
        self.value(f"document.querySelector('button[aria-label=\"{label}\"]').click()")

    def told_once(self) -> str:
        """The address or the password that a dialogue shows, which is closed."""
        self.until(f"({SECRET}) !== ''")
        secret: str = self.value(SECRET)
        self.press("Close")
        self.until(SECRET, "")
        return secret

    def other_browser(self) -> Browser:
        """That of somebody else, on another computer."""
        home = Path(tempfile.mkdtemp(dir=self.scene.folder))
        other = Browser(home, environment(home))
        self.addCleanup(other.close)
        return other
