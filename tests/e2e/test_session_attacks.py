"""Attacks on sessions and accounts that no other test makes: tests/docs/attacks.txt."""

import json
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urljoin

from attacks_scene import EVIL, NOTHING, OURS, PAGE, AttacksScene
from links_scene import PASSWORD, password
from scene import with_loops


@with_loops
class SessionAttacksTest(AttacksScene):
    def test_what_ends_with_an_account_or_a_new_password(self) -> None:
        def made() -> tuple[str, str]:
            return self.cookie("bob"), self.made("docs", user="bob")

        def all_of(cookie: str, link: str) -> tuple[int, int]:
            return self.status("/", cookie), self.status(link)

        mine = made()
        self.assertEqual(self.post("/-/admin/disable", {"user": "bob"}, by="amy").status, 204)
        self.assertEqual(all_of(*mine), (401, 404))
        self.assertEqual(self.post("/-/admin/enable", {"user": "bob"}, by="amy").status, 204)
        mine = made()
        token = self.invited("reset", "bob")
        self.assertEqual(all_of(*mine), (200, 200))
        self.assertEqual(self.choose(token), 204)
        self.assertEqual(all_of(*mine), (401, 404))
        mine = made()
        new = {"old": PASSWORD, "new": "another"}
        self.assertEqual(self.post("/-/password", new, mine[0], OURS).status, 204)
        self.assertEqual(all_of(*mine), (401, 404))

    def test_who_takes_the_name_of_somebody_removed_gets_nothing_else(self) -> None:
        cookie, link = self.cookie("bob"), self.made("docs", user="bob")
        app = json.loads(self.post("/-/apps", {"name": "x"}, by="bob").body)["password"]
        invitation = self.invited("reset", "bob")
        self.assertEqual(self.post("/-/admin/remove", {"user": "bob"}, by="amy").status, 204)
        self.assertEqual(self.choose(self.invited("add", "bob")), 204)
        self.assertEqual(self.status("/", cookie), 401)
        self.assertEqual(self.status("/", password(app, "bob")), 401)
        self.assertEqual(self.status(link), 404)
        self.assertEqual(self.choose(invitation, "theirs"), 401)
        self.assertEqual([self.told(f"/-/{one}", "bob") for one in ("apps", "links")], [[], []])

    def test_no_token_passes_as_one_of_another_kind(self) -> None:
        session = self.cookie("bob").partition("=")[2]
        app = json.loads(self.post("/-/apps", {"name": "x"}, by="bob").body)["password"]
        link = self.made("docs", user="bob").split("/")[-2]
        invitation = self.invited("reset", "bob")
        doors = (
            (session, lambda one: self.status("/", f"Cookie: turnstile={one}"), 401),
            (app, lambda one: self.status("/", password(one, "bob")), 401),
            (link, lambda one: self.status(f"/-/l/{one}/"), 404),
            (invitation, self.choose, 401),
        )
        for opened_by, door, refusal in doors[:3]:
            for token, *_ in doors:
                with self.subTest(door=opened_by, token=token):
                    self.assertEqual(door(token), 200 if token == opened_by else refusal)
        for token in (session, app, link):
            self.assertEqual(self.choose(token), 401)
        self.assertEqual(self.choose(invitation), 204)

    def test_an_invitation_counts_once_and_a_newer_one_ends_it(self) -> None:
        old = self.invited("reset", "bob")
        new = self.invited("reset", "bob")
        self.assertEqual(self.choose(old, "theirs"), 401)
        chosen = [f"choice {number}" for number in range(8)]
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda one: self.choose(new, one), chosen))
        self.assertEqual((answers.count(204), answers.count(401)), (1, 7))
        first = chosen[answers.index(204)]
        self.assertEqual(self.status("/", password(first, "bob")), 200)
        pending = self.invited("reset", "bob")
        self.assertEqual(self.post("/-/admin/disable", {"user": "bob"}, by="amy").status, 204)
        self.choose(pending)
        self.assertEqual(self.user("bob").ask("/").status, 401)

    def test_no_line_break_in_a_value_is_a_line_for_the_authserver(self) -> None:
        line = "\nnew:eve:wonderland\n"
        for path, content, by in (
            ("/-/session", {"user": f"bob{line}", "password": "x"}, ""),
            ("/-/session", {"user": "bob", "password": f"x{line}"}, ""),
            ("/-/session", {"user": "bob:x", "password": PASSWORD}, ""),
            ("/-/accounts", {"user": "dan", "password": f"x{line}"}, ""),
            ("/-/accounts", {"user": f"dan{line}", "password": "x"}, ""),
            ("/-/invitation", {"token": f"{'A' * 43}{line}", "new": "x"}, ""),
            ("/-/invitation", {"token": "A" * 43, "new": f"x{line}"}, ""),
            ("/-/password", {"old": PASSWORD, "new": f"x{line}"}, "bob"),
            ("/-/password", {"old": f"x{line}", "new": "x"}, "bob"),
            ("/-/apps", {"name": f"x{line}"}, "bob"),
            ("/-/links", {"path": f"docs{line}", "may": "read"}, "amy"),
            ("/-/links", {"path": "docs", "may": f"read{line}"}, "amy"),
            ("/-/links", {"path": "docs", "may": "read", "password": f"x{line}"}, "amy"),
            ("/-/admin/add", {"user": f"dan{line}"}, "amy"),
            ("/-/admin/end", {"user": "bob", "id": f"x{line}"}, "amy"),
        ):
            with self.subTest(path, content=content):
                self.assertIn(self.post(path, content, by=by).status, (401, 404, 422))
        quoted = line.replace("\n", "%0A").replace(":", "%3A")
        for path in ("admin/list/bob", "admin/sessions/bob", "admin/rights/bob"):
            self.assertEqual(self.user("amy").ask(f"/-/{path}{quoted}").status, 404)
        for path in ("links", "apps"):
            asked = self.user("amy").ask(f"/-/{path}/{'A' * 22}{quoted}", method="DELETE")
            self.assertEqual(asked.status, 404)
        self.assertEqual(self.status(f"/-/l/{'A' * 43}{quoted}/"), 404)
        self.assertEqual(self.status("/", password(f"x{line}", "bob")), 401)
        self.assertEqual(self.status("/", password("x", f"bob{line}")), 401)
        users = [one["user"] for one in self.told("/-/admin/list")]
        self.assertEqual(users, ["amy", "bob", "cid"])

    def test_nobody_makes_himself_an_administrator(self) -> None:
        for further in ({"admin": True}, {"admin": 1}, {"role": "admin"}):
            content = {"user": "eve", "password": PASSWORD, **further}
            self.assertEqual(self.post("/-/accounts", content).status, 422)
            self.assertEqual(self.post("/-/session", content).status, 422)
        cookie = self.cookie("amy")
        self.assertEqual(self.status("/-/admin/list", cookie), 200)
        self.account("--unmake-admin", "amy")
        self.assertEqual(self.status("/-/admin/list", cookie), 404)
        add = self.post("/-/admin/add", {"user": "eve"}, cookie, OURS)
        self.assertEqual(add.status, 404)

    def test_no_page_of_ours_is_shown_in_a_frame_or_runs_a_script_of_its_own(self) -> None:
        drop, read = self.made("inbox", "drop"), self.made("docs")
        pages = [(drop, ""), (read, ""), (read[:-3] + "/", ""), ("/", ""), ("/-/invitation", "")]
        pages += [(path, "amy") for path in ("/", "/-/account", "/-/admin/people", "/none")]
        for path, by in pages:
            with self.subTest(path, by=by):
                client = self.user(by) if by else self.http()
                answer = client.ask(path, PAGE)
                self.assertIn(b"<!doctype html>", answer.body)
                policy = answer.fields["content-security-policy"]
                parts = dict(one.strip().partition(" ")[::2] for one in policy.split(";"))
                self.assertEqual(parts["default-src"], "'none'")
                self.assertEqual(parts["frame-ancestors"], "'none'")
                self.assertIn(parts.get("script-src", "'none'"), ("'self'", "'none'"))
                self.assertNotIn("unsafe", policy)
                self.assertNotRegex(answer.body, rb"<script(?! defer src=\"/-/)|\son[a-z]+=")

    def test_no_other_origin_is_let_in(self) -> None:
        asks = (EVIL, "Access-Control-Request-Method: DELETE", "Cookie: turnstile=x")
        for method in ("GET", "OPTIONS", "HEAD", "PROPFIND", "DELETE", "POST"):
            for path in (
                "/docs/a.txt",
                "/",
                "/-/session",
                "/-/admin/list",
                "/-/tus/",
                "/-/parts/x",
            ):
                with self.subTest(method, path=path):
                    fields = self.user("amy").ask(path, *asks, method=method).fields
                    told = [name for name in fields if name.startswith("access-control")]
                    self.assertEqual(told, [])
                    self.assertEqual(fields["cross-origin-resource-policy"], "same-origin")

    def test_a_method_does_not_hide_behind_another_one(self) -> None:
        amy = password(PASSWORD, "amy")
        secret = "Cookie: turnstile=secret"
        answer = self.ask("/docs/a.txt", amy, secret, method="TRACE")
        self.assertEqual((answer.status, b"secret" in answer.body), (405, False))
        for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
            for target in ("/docs/a.txt", "/docs/", "/-/session", "/-/trash/"):
                for fields in ((amy,), (self.cookie("amy"), OURS)):
                    asked = (target, *fields, f"{name}: DELETE", NOTHING)
                    self.assertIn(self.status(*asked, method="POST"), (404, 405, 422), asked)
                    self.assertIn(self.status(*asked, method="GET"), (200, 405), asked)
        for target in ("/docs/a.txt?_method=DELETE", "/docs/a.txt?method=DELETE"):
            self.assertEqual(self.status(target, amy, NOTHING, method="POST"), 405)
        self.assertEqual((self.scene.root / "docs/a.txt").read_bytes(), b"docs/a.txt")

    def test_guesses_by_all_doors_at_once_are_counted_together(self) -> None:
        cookie = self.cookie("bob")

        def by_basic(guess: str) -> int:
            return self.status("/", password(guess, "bob"))

        def by_log_in(guess: str) -> int:
            return self.post("/-/session", {"user": "bob", "password": guess}).status

        def by_old_password(guess: str) -> int:
            return self.post("/-/password", {"old": guess, "new": "x"}, cookie, OURS).status

        doors = (by_basic, by_log_in, by_old_password)
        with ThreadPoolExecutor(12) as threads:
            told = list(threads.map(lambda at: doors[at % 3](f"guess {at}"), range(36)))
        self.assertEqual(set(told), {401, 429})
        # One is forgiven every six seconds, which the guesses may take under load.
        self.assertLessEqual(told.count(401), 14)
        self.assertEqual(by_log_in(PASSWORD), 429)
        self.assertEqual(self.status("/", cookie), 200)

    def test_a_name_that_is_none_is_answered_as_a_wrong_password(self) -> None:
        self.assertEqual(self.post("/-/admin/disable", {"user": "cid"}, by="amy").status, 204)
        answers = []
        for user in ("bob", "nobody", "cid"):
            for path, content, fields in (
                ("/-/session", {"user": user, "password": "wrong"}, ()),
                ("/-/session", {"user": user, "password": "wrong"}, (PAGE,)),
            ):
                answer = self.post(path, content, *fields)
                answer.fields.pop("date")
                answers.append(answer)
        for answer in answers[2:]:
            self.assertEqual(answer, answers[answers.index(answer) % 2])
        self.assertEqual({one.status for one in answers}, {401})

    def test_no_redirect_leads_elsewhere(self) -> None:
        amy = self.user("amy")
        names = ("javascript:alert(1)", "http:", "evil.example", "a b\u00e4", "?x", "#y")
        for name in names:
            (self.scene.root / name).mkdir()
        link = self.made("/")
        for name in names:
            quoted = name.replace(" ", "%20").replace("?", "%3F").replace("#", "%23")
            for target, client in ((f"/{quoted}", amy), (f"{link}{quoted}", self.http())):
                with self.subTest(target):
                    answer = client.ask(target)
                    self.assertEqual(answer.status, 301)
                    leads = urljoin(f"http://localhost{target}", answer.fields["location"])
                    self.assertTrue(leads.startswith("http://localhost/"), leads)
        for target in (
            "//evil.example",
            "//evil.example/%2e%2e",
            "/%2fevil.example",
            "/%5cevil",
            "/docs%0d%0aSet-Cookie:x=y",
            "/docs/..//evil.example",
        ):
            with self.subTest(target):
                answer = self.user("amy").ask(target)
                self.assertEqual((answer.status, answer.fields.get("location")), (404, None))

    def test_a_token_in_an_address_or_a_body_is_no_credential(self) -> None:
        cookie = self.cookie("amy").partition(" ")[2]
        token = cookie.partition("=")[2]
        for target in (
            f"/?{cookie}",
            f"/;{cookie}",
            f"/?token={token}",
            f"http://amy:{token}@localhost/",
        ):
            self.assertIn(self.status(target), (400, 401, 404, 421), target)
        for fields in ((f"X-Auth-Token: {token}",), (f"Authorization: Bearer {token}",)):
            self.assertEqual(self.status("/", *fields), 401)
