"""Chromium: administrators look after the accounts of others, and nobody needs a terminal."""

import uuid

import shared_path  # noqa: F401
from account_scene import ROWS, TITLE, AccountTest
from browser import PROGRAM
from contrast import READABLE, contrasts
from http_client import HttpClient
from judge_scene import PASSWORD, USER, needs
from page_scene import DIALOG, STATUS
from programs import run
from test_page_quality import NO_MORE, SCREENS, SMALLEST, TEXTS, unnamed

PATH = "/-/admin/people"
DIALOG_TEXT = "document.querySelector('dialog')?.textContent ?? ''"
ANSWERS = "[...document.querySelectorAll('dialog button')].map(one => one.textContent)"
SELF = "You cannot disable or remove yourself. Another administrator can."


@needs(PROGRAM)
class PagePeopleTest(AccountTest):
    def manage(self, user: str, answer: str) -> None:
        self.button(f"Manage {user}")
        self.until(DIALOG)
        self.press(answer)

    def status(self, user: str, password: str) -> int:
        client = HttpClient(self.server, user, password)
        try:
            return client.ask("/small.txt").status
        finally:
            client.close()

    def add(self, user: str) -> None:
        self.fill("User name", user)
        self.press("Add")

    def change_account(self, *task: str) -> None:
        done = run("authserver", *task, "--sqlite-path", self.scene.accounts)
        self.assertEqual(done.returncode, 0, done.stderr)

    @needs("curl")
    def test_somebody_new_comes_works_and_may_not_any_more(self) -> None:
        user = f"new-{uuid.uuid4().hex[:8]}"
        self.enter("/", USER)
        self.browser.goes(lambda: self.browser.click(USER))
        self.browser.goes(lambda: self.browser.click("People"))
        self.until(f"{ROWS}.includes('{self.somebody}')")
        self.add(user)
        link = self.told_once()
        self.assertRegex(link, rf"\A{self.url}/-/invitation#[A-Za-z0-9_-]{{43}}\Z")
        self.assertNotIn(link, self.value("document.documentElement.outerHTML"))
        self.assertIn("invited", self.row(user))
        administrator, guest = self.browser, self.other_browser()
        self.browser = guest
        guest.open(scripts=True)
        guest.go(link)
        guest.call("Fetch.disable")
        self.fill("Password", "first password")
        self.fill("The same again", "first password")
        guest.goes(lambda: self.press("Save"))
        self.sign_in(user, "first password")
        guest.goes(lambda: guest.click(user))
        self.assertFalse(self.value("document.body.textContent.includes('People')"))
        self.fill("What it is for", "curl")
        self.press("Make password")
        secret = self.told_once()
        self.assertEqual(self.curl(user, secret), "200")
        self.browser = administrator
        self.manage(user, "Sign-ins\u2026")
        self.until(f"({DIALOG_TEXT}).includes('Application password: curl')")
        self.picture("people-sign-ins")
        self.button("End: Application password: curl")
        self.until(f"({DIALOG_TEXT}).includes('curl')", False)
        self.assertEqual(self.curl(user, secret), "401")
        self.press("Close")
        self.until(DIALOG, False)
        self.manage(user, "Disable")
        self.until(STATUS, f"{user} is disabled. Nothing of the account is lost.")
        self.assertIn("disabled", self.row(user))
        self.browser = guest
        self.fill("What it is for", "more")
        self.press("Make password")
        self.until(TITLE, "Sign in")
        self.fill("User name", user)
        self.fill("Password", "first password")
        self.press("Sign in")
        self.until(STATUS, "The user name or the password is wrong.")
        self.browser = administrator
        self.manage(user, "Enable")
        self.until(STATUS, f"{user} is enabled.")
        self.assertEqual(self.status(user, "first password"), 200)
        self.assertEqual(guest.complaints(), [])

    def curl(self, user: str, secret: str) -> str:
        """The status that curl gets with this password."""
        form = ("-o", "/dev/null", "-w", "%{http_code}")
        return self.run_judge(
            "curl", "-sS", *form, "-u", f"{user}:{secret}", f"{self.url}/small.txt"
        ).stdout

    def test_removing_asks_first_and_ends_the_account(self) -> None:
        self.enter(PATH, USER)
        self.manage(self.somebody, "Remove\u2026")
        self.until(f"({DIALOG_TEXT}).includes('Files stay as they are')")
        self.assertEqual(self.value("document.activeElement.textContent"), "Cancel")
        self.browser.press("Enter")
        self.until(DIALOG, False)
        self.assertEqual(self.status(self.somebody, PASSWORD), 200)
        self.manage(self.somebody, "Remove\u2026")
        self.press("Remove")
        self.until(STATUS, f"{self.somebody} is removed.")
        self.assertNotIn(self.somebody, self.value(ROWS))
        self.assertEqual(self.status(self.somebody, PASSWORD), 401)
        self.assertEqual(self.value("document.activeElement.textContent"), "\u22ef")

    def test_a_new_link_leaves_the_password_until_it_is_used(self) -> None:
        self.enter(PATH, USER)
        self.manage(self.somebody, "Reset password")
        self.until(f"({DIALOG_TEXT}).includes('Until then the old password counts.')")
        self.assertIn("/-/invitation#", self.told_once())
        self.assertEqual(self.status(self.somebody, PASSWORD), 200)

    def test_nobody_disables_or_removes_himself(self) -> None:
        self.enter(PATH, USER)
        self.button(f"Manage {USER}")
        self.until(DIALOG)
        self.assertIn(SELF, self.value(DIALOG_TEXT))
        self.assertEqual(
            self.value(ANSWERS), ["Sign-ins\u2026", "Rights\u2026", "Reset password", "Cancel"]
        )
        self.press("Cancel")
        # Signed in as somebody else in another tab, so that the page does not know who asks.
        self.change_account("--make-admin", self.somebody)
        self.sign_in_elsewhere(self.somebody)
        for answer in ("Disable", "Remove\u2026"):
            self.manage(self.somebody, answer)
            if answer != "Disable":
                self.press("Remove")
            self.until(STATUS, SELF)
        self.assertEqual(self.status(self.somebody, PASSWORD), 200)

    def sign_in_elsewhere(self, user: str) -> None:
        content = f'{{"user": "{user}", "password": "{PASSWORD}"}}'
        self.value(
            "(request => { request.open('POST', '/-/session', false);"
            f" request.send('{content}'); }})(new XMLHttpRequest())"
        )

    def test_what_cannot_be_added_is_told_in_words(self) -> None:
        self.enter(PATH, USER)
        self.add(self.somebody)
        self.until(STATUS, "There is an account of this name already.")
        self.add("<b>")
        self.until(STATUS, "A user name has 1 to 64 letters, digits, and any of . _ - @ +")
        user = f"twice-{uuid.uuid4().hex[:8]}"
        self.fill("User name", user)
        self.value("(one => { one.click(); one.click(); })(document.querySelector('form button'))")
        self.told_once()
        self.assertIn(user, self.value(ROWS))

    def test_who_ends_the_own_session_or_is_no_administrator_any_more_is_out(self) -> None:
        self.change_account("--make-admin", self.somebody)
        self.enter(PATH)
        self.manage(self.somebody, "Sign-ins\u2026")
        self.until(f"({DIALOG_TEXT}).includes('Session')")
        self.button("End: Session")
        self.until(TITLE, "Sign in")
        self.sign_in(self.somebody)
        self.until(f"{ROWS}.includes('{self.somebody}')")
        self.change_account("--unmake-admin", self.somebody)
        self.manage(USER, "Disable")
        self.until(TITLE, "Not Found")
        self.assertEqual(self.status(USER, PASSWORD), 200)

    def test_somebody_who_is_gone_is_no_row_any_more(self) -> None:
        self.enter(PATH, USER)
        self.until(f"{ROWS}.includes('{self.somebody}')")
        self.change_account("--remove-account", self.somebody)
        self.manage(self.somebody, "Disable")
        self.until(STATUS, "There is no such account any more.")
        self.assertNotIn(self.somebody, self.value(ROWS))

    def test_the_names_of_an_application_password_and_a_link_are_no_html(self) -> None:
        name = "<img src=x onerror=alert(1)>"
        client = HttpClient(self.server, self.somebody, PASSWORD)
        self.addCleanup(client.close)
        (self.folder / name).touch()
        for path, body in (
            ("/-/apps", f'{{"name": "{name}"}}'),
            ("/-/links", f'{{"path": "{self.folder.name}/{name}", "may": "read"}}'),
        ):
            self.assertEqual(client.ask(path, method="POST", body=body.encode()).status, 201)
        self.enter(PATH, USER)
        self.manage(self.somebody, "Sign-ins\u2026")
        self.until(f"({DIALOG_TEXT}).includes('Link: /{self.folder.name}/{name}')")
        self.assertIn(f"Application password: {name}", self.value(DIALOG_TEXT))
        self.assertEqual(self.value("document.querySelectorAll('img').length"), 0)
        self.press("Close")
        self.until(DIALOG, False)
        self.manage(self.somebody, "Rights\u2026")
        self.until(f"({DIALOG_TEXT}).includes('/read write (no line)')")

    def test_more_than_are_told_at_once_are_shown_on_demand(self) -> None:
        lines = "".join(f"zz{number:04}:x\n" for number in range(600))
        native = self.scene.client(self.authserver)
        for line in lines.splitlines():
            self.assertEqual(native.ask(f"new:{line}"), "OK")
        self.enter(PATH, USER)
        self.until(f"{ROWS}.length", 500)
        self.press("Show more")
        self.until(f"{ROWS}.length > 600")
        told = self.value(ROWS)
        self.assertEqual((told[-1], len(set(told))), ("zz0599", len(told)))
        self.until("document.querySelector('[data-more]').hidden")
        self.assertIn(f"Manage {told[500]}", self.value("document.activeElement.outerHTML"))

    def test_it_can_be_used_by_everybody(self) -> None:
        self.enter(PATH, USER)
        self.until(f"{ROWS}.includes('{self.somebody}')")
        for view in ("0", f"document.querySelector('[aria-label=\"Manage {USER}\"]').click()"):
            self.value(view)
            self.assertEqual(unnamed(self.browser), [])
            for scheme in ("light", "dark"):
                self.browser.prefer(scheme)
                lightness, *seen = self.value(contrasts(TEXTS))
                self.assertEqual(lightness < 0.2, scheme == "dark")
                self.assertGreaterEqual(min(seen), READABLE)
            for kind, screen in SCREENS.items():
                self.browser.resize(*screen)
                self.picture(f"people-{kind}{'' if view == '0' else '-dialog'}")
                self.assertEqual(self.value(NO_MORE), 0)
                self.assertGreaterEqual(self.value(SMALLEST), 24)
