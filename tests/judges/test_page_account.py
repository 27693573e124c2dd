"""Chromium: the page of the own account, on which people need no terminal."""

import shared_path  # noqa: F401
from account_scene import ROWS, SECRET, TITLE, AccountTest
from browser import PROGRAM
from contrast import READABLE, contrasts
from http_client import HttpClient, basic
from judge_scene import PASSWORD, needs
from page_scene import DIALOG, STATUS
from scene import for_each
from test_page_quality import NO_MORE, SCREENS, SMALLEST, TEXTS, unnamed

PATH = "/-/account"
# As the page of another tab does.
SIGN_OUT = """(request => {
  request.open("DELETE", "/-/session", false);
  request.send();
  return request.status;
})(new XMLHttpRequest())"""
HOSTILE = '<img src=x onerror=alert(1)>"\u202e'


@needs(PROGRAM)
class PageAccountTest(AccountTest):
    def status(self, password: str) -> int:
        """Of a request by a program."""
        client = HttpClient(self.server, self.somebody, password)
        try:
            return client.ask("/small.txt").status
        finally:
            client.close()

    def change(self, old: str, new: str, again: str) -> None:
        self.fill("Old password", old)
        self.fill("New password", new)
        self.fill("The new one again", again)
        self.press("Change password")

    def make(self, name: str) -> None:
        self.fill("What it is for", name)
        self.press("Make password")

    def test_the_name_on_the_page_of_a_folder_leads_there_and_back(self) -> None:
        self.enter("/")
        self.browser.goes(lambda: self.browser.click(self.somebody))
        self.assertEqual(self.value(TITLE), "Account")
        self.assertEqual(self.value("location.pathname"), PATH)
        self.browser.goes(lambda: self.browser.click("Files"))
        self.assertEqual(self.value(TITLE), "/")

    def test_a_new_password_is_chosen_and_leads_to_the_log_in(self) -> None:
        self.enter(PATH)
        self.change(PASSWORD, "new one", "another")
        self.until(STATUS, "The two passwords differ.")
        self.change("wrong", "new one", "new one")
        self.until(STATUS, "The old password is wrong.")
        self.change(PASSWORD, "x" * 129, "x" * 129)
        self.until(STATUS, "A password has 1 to 128 bytes, and no control characters.")
        self.assertEqual(self.status(PASSWORD), 200)
        self.change(PASSWORD, "new one", "new one")
        self.until(STATUS, "Your password is changed, and all your sessions have ended.")
        self.assertEqual([self.status(PASSWORD), self.status("new one")], [401, 200])
        self.assertEqual(self.value("document.activeElement.textContent"), "Sign in")
        self.browser.goes(lambda: self.browser.press("Enter"))
        self.sign_in(self.somebody, "new one")
        self.assertEqual(self.value(TITLE), "/")

    def test_an_application_password_is_shown_once_and_revoked(self) -> None:
        self.enter(PATH)
        self.make("phone")
        secret = self.told_once()
        self.assertEqual(self.status(secret), 200)
        self.assertNotIn(secret, self.value("document.documentElement.outerHTML"))
        self.assertIn("not used since that hour", self.row("phone"))
        self.browser.goes(lambda: self.browser.call("Page.reload"))
        self.until(ROWS, ["phone"])
        self.button("Revoke phone")
        self.until(DIALOG)
        self.assertEqual(self.value("document.activeElement.textContent"), "Cancel")
        self.browser.press("Enter")
        self.until(DIALOG, False)
        self.assertEqual(self.status(secret), 200)
        self.button("Revoke phone")
        self.press("Revoke")
        self.until(STATUS, "phone is revoked.")
        self.assertEqual(self.value(ROWS), [])
        self.assertEqual(self.status(secret), 401)
        self.assertEqual(self.value("document.activeElement.textContent"), "Make password")

    def test_the_password_that_is_shown_is_copied(self) -> None:
        self.enter(PATH)
        self.make("script")
        self.until(f"({SECRET}) !== ''")
        self.press("Copy")
        self.until("document.querySelector('dialog span').textContent", " Copied.")
        secret = self.value(SECRET)
        self.press("Close")
        self.until(DIALOG, False)
        self.value("document.querySelector('[name=name]').focus()")
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", commands=["paste"])
        self.assertEqual(self.value("document.querySelector('[name=name]').value"), secret)

    def test_a_hostile_name_is_shown_as_it_is(self) -> None:
        self.enter(PATH)
        self.make(HOSTILE)
        self.told_once()
        self.until(ROWS, [HOSTILE])
        self.assertEqual(self.value("document.querySelectorAll('img').length"), 0)
        self.make("x" * 65)
        self.until(STATUS, "A name has 1 to 64 bytes.")

    def test_two_clicks_make_one_password(self) -> None:
        self.enter(PATH)
        self.fill("What it is for", "twice")
        press = "document.querySelector('[data-app] button').click();"
        self.value(press + press)
        self.told_once()
        self.until(ROWS, ["twice"])

    @for_each(("make", "revoke", "change"))
    def test_who_is_signed_out_meanwhile_gets_the_log_in(self, deed: str) -> None:
        self.enter(PATH)
        self.make(deed)
        self.told_once()
        self.assertEqual(self.value(SIGN_OUT), 204)
        if deed == "make":
            self.make("more")
        elif deed == "change":
            self.change(PASSWORD, "new", "new")
        else:
            self.button("Revoke revoke")
            self.press("Revoke")
        self.until(TITLE, "Sign in")
        self.sign_in(self.somebody)
        self.until(f"{ROWS}.includes('{deed}')")

    @for_each((("/", PATH), (PATH, "/")))
    def test_what_a_browser_has_kept_is_not_shown_after_signing_out(self, way: tuple) -> None:
        first, second = way
        self.enter(first)
        self.browser.go(self.url + second)
        self.browser.goes(lambda: self.press("Sign out"))
        self.assertEqual(self.value(TITLE), "Sign in")
        self.value("history.back()")
        self.until("location.pathname", first)
        self.until(TITLE, "Sign in")

    def test_it_works_with_a_password_that_the_browser_keeps(self) -> None:
        self.browser.open(scripts=True)
        self.browser.call("Fetch.disable")
        field = {"Authorization": basic(self.somebody, PASSWORD)}
        self.browser.call("Network.enable")
        self.browser.call("Network.setExtraHTTPHeaders", headers=field)
        self.browser.go(self.url + PATH)
        self.make("mount")
        self.assertEqual(self.status(self.told_once()), 200)
        self.assertFalse(self.value("document.body.textContent.includes('Sign out')"))
        self.change(PASSWORD, "other", "other")
        self.until(STATUS, "Your password is changed, and all your sessions have ended.")

    def test_it_works_where_the_address_has_a_password_in_it(self) -> None:
        self.browser.open(scripts=True)
        self.browser.go(f"http://{self.somebody}:{PASSWORD}@{self.address}{PATH}")
        self.browser.call("Fetch.disable")
        self.sign_in(self.somebody)
        self.make("mount")
        self.assertEqual(self.status(self.told_once()), 200)

    def test_it_can_be_used_by_everybody(self) -> None:
        self.enter(PATH)
        self.make("phone")
        self.told_once()
        self.until(ROWS, ["phone"])
        self.assertEqual(unnamed(self.browser), [])
        for scheme in ("light", "dark"):
            self.browser.prefer(scheme)
            lightness, *seen = self.value(contrasts(TEXTS))
            self.assertEqual(lightness < 0.2, scheme == "dark")
            self.assertGreaterEqual(min(seen), READABLE)
            self.picture(f"account-{scheme}")
        for kind, screen in SCREENS.items():
            self.browser.resize(*screen)
            self.picture(f"account-{kind}")
            self.assertEqual(self.value(NO_MORE), 0)
            self.assertGreaterEqual(self.value(SMALLEST), 24)
