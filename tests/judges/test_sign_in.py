"""The page to sign in, in Chromium: by the keyboard, with a wrong password, and out again."""

import http.server
import threading
import urllib.parse
from typing import Any

import shared_path  # noqa: F401
from browser import PROGRAM
from judge_scene import PASSWORD, USER, needs
from page_scene import STATUS, PageTest

FOCUS = "document.activeElement.name"
COOKIES = "Network.getCookies"
# Every way in which a page can make a browser send something without asking the server before.
ATTACK = """<script>
  const send = (method, path, body) => fetch("SHARE" + path,
    { method, body, mode: "no-cors", credentials: "include" }).catch(() => {});
  Promise.all([send("POST", "/-/session", '{"user": "USER", "password": "PASSWORD"}'),
    send("POST", "/-/password", '{"old": "PASSWORD", "new": "evil"}'),
    send("DELETE", "/-/session"), send("PUT", "/FOLDER/evil", "x"),
  ]).then(() => document.title = "done");
</script>"""

# What the events of elements tell about a name that is there, and about one that is not.
SPY = """<body><script>
  const told = (kind, name) => new Promise((resolve) => {
    const element = document.createElement(kind);
    element.onload = element.onerror = (event) => resolve(event.type);
    element[kind === "object" ? "data" : "src"] = "SHARE/FOLDER/" + name;
    document.body.append(element);
    setTimeout(() => resolve("neither"), 3000);
  });
  const both = (kind) => Promise.all(["old", "none"].map((name) => told(kind, name)));
  Promise.all(["object", "embed", "iframe", "img", "script"].map(both)).then((pairs) =>
    document.title = pairs.every(([one, other]) => one === other) ? "alike" : pairs.join(" "));
</script>"""


class Attacker(http.server.BaseHTTPRequestHandler):
    page = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.page)

    def log_message(self, *_: Any) -> None:
        pass


@needs(PROGRAM)
class SignInTest(PageTest):
    server_flags = ("--uploads", "folder")

    def tearDown(self) -> None:
        """A browser complains of each page of ours that one elsewhere has in a frame."""
        others = [one for one in self.browser.complaints() if "frame-ancestors" not in one]
        self.assertEqual(others, [])

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "old").touch()
        self.browser.open(scripts=True)
        self.browser.go(f"{self.url}/{self.folder.name}/")
        self.browser.call("Fetch.disable")

    def fill_in(self, password: str, *, stays: bool = False) -> None:
        """With the keyboard alone, which is in the first field from the start."""
        self.browser.evaluate("document.querySelector('form').elements.user.focus()")
        self.browser.evaluate("document.querySelector('form').reset()")
        self.browser.type(USER)
        self.browser.press("Tab")
        self.assertEqual(self.value(FOCUS), "password")
        self.browser.type(password)
        if stays:
            self.browser.press("Tab")
            self.assertEqual(self.value(FOCUS), "stay")
            self.value("document.activeElement.click()")

    def sign_in(self, *, stays: bool = False) -> None:
        self.fill_in(PASSWORD, stays=stays)
        self.browser.goes(lambda: self.browser.press("Enter"))
        self.until("document.title", f"/{self.folder.name}/")

    def cookie(self) -> dict[str, Any]:
        cookies = self.browser.call(COOKIES)["cookies"]
        assert len(cookies) <= 1, cookies
        return cookies[0] if cookies else {}

    def test_a_wrong_password_and_then_the_right_one(self) -> None:
        self.assertEqual((self.value("document.title"), self.value(FOCUS)), ("Sign in", "user"))
        self.picture("sign-in")
        self.fill_in("wrong")
        self.browser.press("Enter")
        self.until(STATUS, "The user name or the password is wrong.")
        self.assertEqual(self.cookie(), {})
        self.sign_in()
        self.assertIn(f"Signed in as {USER}", self.value("document.body.innerText"))
        cookie = self.cookie()
        self.assertEqual((cookie["httpOnly"], cookie["sameSite"]), (True, "Strict"))
        self.assertTrue(cookie["session"])
        self.assertEqual(self.value("document.cookie"), "")
        self.picture("signed-in")

    def test_an_address_with_a_fragment_leads_to_the_folder_too(self) -> None:
        self.browser.evaluate("location.hash = 'readme'")
        self.sign_in()
        self.assertIn(f"Signed in as {USER}", self.value("document.body.innerText"))

    def test_who_stays_has_a_cookie_for_a_month(self) -> None:
        self.sign_in(stays=True)
        self.assertFalse(self.cookie()["session"])

    def test_signing_out_ends_the_session(self) -> None:
        self.sign_in()
        token = self.cookie()["value"]
        self.browser.goes(lambda: self.press("Sign out"))
        self.assertEqual((self.value("document.title"), self.cookie()), ("Sign in", {}))
        self.browser.call(
            "Network.setCookie", name="turnstile", value=token, url=self.url, sameSite="Strict"
        )
        self.browser.go(self.url)
        self.assertEqual(self.value("document.title"), "Sign in")

    def test_a_link_of_another_site_leads_to_the_folder(self) -> None:
        self.sign_in()
        share = self.value("location.href")
        self.browser.go(self.attacker(f'<a href="{share}">share</a>'))
        self.browser.goes(lambda: self.browser.click("share"))
        self.until("document.title", f"/{self.folder.name}/")

    def test_a_page_of_another_site_changes_nothing(self) -> None:
        self.sign_in()
        token = self.cookie()["value"]
        for host in ("localhost", "127.0.0.1"):  # another site, and another port of this host
            self.browser.go(self.attacker(ATTACK, host))
            self.until("document.title", "done")
        self.browser.go(f"{self.url}/{self.folder.name}/")
        self.assertEqual(self.value("document.title"), f"/{self.folder.name}/")
        self.assertEqual(self.cookie()["value"], token)
        self.assertEqual([one.name for one in self.folder.iterdir()], ["old"])

    def test_a_page_of_another_site_does_not_see_which_names_there_are(self) -> None:
        self.sign_in()
        for host in ("localhost", "127.0.0.1"):
            self.browser.go(self.attacker(SPY, host))
            self.until("document.title !== ''", True)
            self.assertEqual(self.value("document.title"), "alike")

    def attacker(self, page: str, host: str = "localhost") -> str:
        """The address of a server with this page."""
        words = {"SHARE": self.url, "USER": USER, "PASSWORD": PASSWORD, "FOLDER": self.folder.name}
        for word, text in words.items():
            page = page.replace(word, text)
        handler = type("Page", (Attacker,), {"page": page.encode()})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return urllib.parse.urlunsplit(("http", f"{host}:{server.server_port}", "/", "", ""))
