"""LOCK, UNLOCK and If of --http-listen: what clients of WebDAV may rely on."""

import os
import re
import threading
import time
from xml.etree import ElementTree

from dav_client import granted_s, lock, lock_info, refresh, token_of, unlock
from http_client import FLAG, Answer, HttpClient, request
from programs import Program
from scene import SharedSceneTest, create_account, for_each
from upload_scene import FOLDER, USER, UploadTest

OTHER = ("bob", "secret")
FREE = "urn:uuid:00000000-0000-4000-8000-000000000000"


class LocksScene(SharedSceneTest):
    """One server of all tests. Each test has a folder of its own."""

    server: Program

    @classmethod
    def prepare(cls) -> None:
        cls.authserver = cls.scene.authserver("--password-scheme", "plain")
        for account in (USER, OTHER):
            create_account(cls.authserver, *account)
        cls.server = cls.scene.fileserver(cls.authserver, *FOLDER)

    def setUp(self) -> None:
        self.folder = self.id().rsplit(".", 1)[1]
        self.write("a", b"old")
        self.amy = self.http(*USER)
        self.bob = self.http(*OTHER)

    def http(self, user: str, password: str) -> HttpClient:
        client = HttpClient(self.server, user, password)
        self.addCleanup(client.close)
        return client

    def write(self, name: str, content: bytes) -> None:
        self.scene.write(f"{self.folder}/{name}", content)

    def at(self, name: str = "") -> str:
        return f"/{self.folder}/{name}"

    def read(self, name: str) -> bytes:
        return (self.scene.root / self.folder / name).read_bytes()

    def ask(self, method: str, name: str, *fields: str, body: bytes = b"") -> Answer:
        """By amy, on a connection of its own: a body that was not read ends it."""
        client = self.http(*USER)
        length = () if body or method != "PUT" else ("Content-Length: 0",)
        return client.ask(self.at(name), *fields, *length, method=method, body=body)

    def put(self, name: str, *fields: str, body: bytes = b"new") -> Answer:
        return self.ask("PUT", name, *fields, body=body)

    def lock(self, name: str, *fields: str, scope: str = "exclusive") -> str:
        """Locks the name for amy. Returns the token."""
        answer = lock(self.amy, self.at(name), *fields, scope=scope)
        self.assertIn(answer.status, (200, 201))
        return token_of(answer)

    def assert_locked(self, answer: Answer, root: str, condition: str = "token") -> None:
        name = {"token": "lock-token-submitted", "lock": "no-conflicting-lock"}[condition]
        self.assertEqual(answer.status, 423)
        self.assertEqual(answer.fields["content-type"], "application/xml; charset=utf-8")
        error = ElementTree.fromstring(answer.body)
        self.assertEqual(error.tag, "{DAV:}error")
        href = error.find(f"{{DAV:}}{name}/{{DAV:}}href")
        assert href is not None, answer.body
        self.assertEqual(href.text, self.at(root))


class LockTest(LocksScene):
    def test_a_lock_is_described_in_the_answer(self) -> None:
        owner = '<D:owner>A &amp; B<x:mail xmlns:x="urn:x">a@b<y/></x:mail></D:owner>'
        answer = self.amy.ask(
            self.at("a"), "Timeout: Second-600", method="LOCK", body=lock_info(owner=owner)
        )
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.fields["content-type"], "application/xml; charset=utf-8")
        active = ElementTree.fromstring(answer.body).find("{DAV:}lockdiscovery/{DAV:}activelock")
        assert active is not None, answer.body
        told = {child.tag.removeprefix("{DAV:}"): child for child in active}
        self.assertEqual(
            list(told),
            ["lockscope", "locktype", "depth", "owner", "timeout", "locktoken", "lockroot"],
        )
        self.assertEqual(told["lockscope"][0].tag, "{DAV:}exclusive")
        self.assertEqual(told["locktype"][0].tag, "{DAV:}write")
        self.assertEqual(told["depth"].text, "infinity")
        self.assertEqual(told["timeout"].text, "Second-600")
        self.assertEqual(told["locktoken"][0].text, token_of(answer))
        self.assertEqual(told["lockroot"][0].text, self.at("a"))
        self.assertEqual(told["owner"].text, "A & B")
        mail = told["owner"].find("{urn:x}mail")
        assert mail is not None
        self.assertEqual((mail.text, mail[0].tag), ("a@b", "y"))

    def test_time_outs_are_an_hour_at_most(self) -> None:
        for asked, granted in (
            ("Second-5", 5),
            ("Second-0", 1),
            ("Infinite, Second-4100000000", 3600),
            ("Second-3601", 3600),
            ("Extend, Second-7", 7),
            ("nonsense", 3600),
        ):
            with self.subTest(asked):
                answer = lock(self.amy, self.at("a"), f"Timeout: {asked}")
                self.assertEqual(granted_s(answer), granted)
                unlock(self.amy, self.at("a"), token_of(answer))
        answer = lock(self.amy, self.at("a"))
        self.assertEqual(granted_s(answer), 3600)
        again = refresh(self.amy, self.at("a"), f"If: (<{token_of(answer)}>)", "Timeout: Second-60")
        self.assertEqual((again.status, granted_s(again)), (200, 60))
        self.assertNotIn("lock-token", again.fields)

    def test_a_lock_ends_by_itself(self) -> None:
        self.lock("a", "Timeout: Second-1")
        self.assertEqual(self.put("a").status, 423)
        deadline = time.monotonic() + 30
        while self.put("a").status == 423 and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(self.read("a"), b"new")

    def test_a_refresh_needs_the_token_of_its_user(self) -> None:
        token = self.lock("a")
        own = f"If: (<{token}>)"
        self.assertEqual(refresh(self.amy, self.at("a"), f"If: (<{FREE}>)").status, 412)
        self.assertEqual(refresh(self.bob, self.at("a"), own).status, 412)
        self.assertEqual(refresh(self.amy, self.at("b"), own).status, 412)
        self.assertEqual(refresh(self.amy, self.at("a"), own).status, 200)
        self.assertEqual(refresh(self.http(*USER), self.at("a")).status, 400)
        self.assertEqual(sorted(os.listdir(self.scene.root / self.folder)), ["a"])

    def test_an_unmapped_name_becomes_an_empty_file(self) -> None:
        answer = lock(self.amy, self.at("new"), "Depth: 0")
        self.assertEqual(answer.status, 201)
        self.assertEqual(self.read("new"), b"")
        self.assertEqual(self.amy.ask(self.at("new")).status, 200)
        self.assertEqual(self.put("new").status, 423)
        self.assertEqual(self.put("new", f"If: (<{token_of(answer)}>)").status, 204)
        for name in ("no/a", "dir/", "a/", "a/b"):
            with self.subTest(name):
                self.assertEqual(lock(self.amy, self.at(name)).status, 409)
        # A lock that was not made is not left behind.
        (self.scene.root / self.folder / "no").mkdir()
        self.assertEqual(self.put("no/a").status, 201)

    def test_locks_of_others_are_in_the_way(self) -> None:
        (self.scene.root / self.folder / "dir").mkdir()
        self.lock("a")
        for client in (self.amy, self.bob):
            for scope in ("exclusive", "shared"):
                answer = lock(client, self.at("a"), scope=scope)
                self.assert_locked(answer, "a", "lock")
        self.assert_locked(lock(self.bob, self.at()), "a", "lock")
        self.assertEqual(lock(self.bob, self.at(), "Depth: 0").status, 200)
        self.assertEqual(lock(self.bob, self.at("dir/")).status, 200)
        self.assert_locked(lock(self.bob, self.at("dir")), "dir/", "lock")
        self.assert_locked(lock(self.bob, self.at("dir/b")), "dir/", "token")

    def test_shared_locks(self) -> None:
        amy = token_of(lock(self.amy, self.at("a"), scope="shared"))
        bob = token_of(lock(self.bob, self.at("a"), scope="shared"))
        self.assertNotEqual(amy, bob)
        self.assertEqual(lock(self.bob, self.at("a")).status, 423)
        self.assertEqual(self.put("a").status, 423)
        self.assertEqual(self.put("a", f"If: (<{bob}>)").status, 423)
        self.assertEqual(self.put("a", f"If: (<{amy}>)").status, 204)
        self.assertEqual(unlock(self.amy, self.at("a"), amy).status, 204)
        self.assertEqual(self.put("a").status, 423)
        self.assertEqual(unlock(self.bob, self.at("a"), bob).status, 204)
        self.assertEqual(self.put("a").status, 204)

    def test_what_is_asked_must_be_in_order(self) -> None:
        for body, status in (
            (b"<a", 400),
            (b"<!DOCTYPE a><a/>", 400),
            (b"<a/>", 422),
            (lock_info("exclusive").replace(b"write", b"read"), 422),
            (lock_info("none"), 422),
            (lock_info("exclusive/><D:shared"), 422),
            (lock_info(owner=f"<D:owner>{'x' * 3000}</D:owner>"), 413),
            (b" " * (65 << 10), 413),
        ):
            with self.subTest(body[:40]):
                answer = self.ask("LOCK", "a", body=body)
                self.assertEqual(answer.status, status)
        for depth in ("1", "none", ""):
            answer = self.ask("LOCK", "a", f"Depth: {depth}", body=lock_info())
            self.assertEqual(answer.status, 400)
        self.assertEqual(self.put("a").status, 204)

    def test_unlock(self) -> None:
        token = self.lock("a")
        self.assertEqual(self.ask("UNLOCK", "a").status, 400)
        self.assertEqual(self.ask("UNLOCK", "a", f"Lock-Token: {token}").status, 400)
        self.assertEqual(unlock(self.amy, self.at("a"), FREE).status, 409)
        self.assertEqual(unlock(self.amy, self.at("b"), token).status, 409)
        self.assertEqual(unlock(self.bob, self.at("a"), token).status, 403)
        self.assertEqual(self.put("a").status, 423)
        self.assertEqual(unlock(self.amy, self.at("a"), token).status, 204)
        self.assertEqual(unlock(self.amy, self.at("a"), token).status, 409)
        self.assertEqual(self.put("a").status, 204)

    def test_of_many_who_want_a_new_name_one_gets_it(self) -> None:
        statuses: list[int] = []

        def want() -> None:
            client = self.http(*USER)
            statuses.append(lock(client, self.at("new")).status)

        threads = [threading.Thread(target=want) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(statuses), [201] + 7 * [423])


class LocksOfLoopsTest(LockTest):
    model = "event"


class LockedTest(LocksScene):
    def test_a_change_of_a_locked_file_needs_the_token_of_its_user(self) -> None:
        token = self.lock("a")
        for method in ("PUT", "DELETE"):
            with self.subTest(method):
                self.assert_locked(self.ask(method, "a"), "a")
                answer = self.bob.ask(self.at("a"), f"If: (<{token}>)", method=method)
                self.assert_locked(answer, "a")
        self.assertEqual(self.amy.ask(self.at("a")).body, b"old")
        self.assertEqual(self.put("a", f"If: (<{token}>)").status, 204)
        self.assertEqual(self.put("a", f"If: <{self.at('a')}> (<{token}>)").status, 204)
        self.assertEqual(self.put("a", f"If: <https://x{self.at('a')}> (<{token}>)").status, 204)
        self.assertEqual(self.put("b").status, 201)

    def test_a_refusal_spares_the_body(self) -> None:
        self.lock("a")
        client = self.http(*USER)
        fields = (*client._credentials, "Content-Length: 5", "Expect: 100-continue")
        client.send(request(self.at("a"), *fields, method="PUT"))
        answer = client.answer("PUT")
        self.assertEqual((answer.status, answer.closes()), (423, True))

    def test_a_lock_that_is_made_while_the_body_comes(self) -> None:
        client = self.http(*USER)
        fields = (*client._credentials, "Content-Length: 3", "Expect: 100-continue")
        for name in ("a", "new"):
            with self.subTest(name):
                client.send(request(self.at(name), *fields, method="PUT"))
                self.assertEqual(client.interim(), 100)
                self.assertIn(lock(self.bob, self.at(name)).status, (200, 201))
                client.send(b"new")
                self.assert_locked(client.answer("PUT"), name)
        self.assertEqual((self.read("a"), self.read("new")), (b"old", b""))

    def test_a_lock_of_a_folder_is_one_of_all_below_it(self) -> None:
        self.write("dir/sub/f", b"old")
        token = self.lock("dir/")
        own = f"If: (<{token}>)"
        for method, name in (
            ("PUT", "dir/sub/f"),
            ("PUT", "dir/new"),
            ("DELETE", "dir/sub/f"),
            ("MKCOL", "dir/new"),
            ("DELETE", "dir"),
        ):
            with self.subTest((method, name)):
                self.assert_locked(self.ask(method, name), "dir/")
        self.assertEqual(self.put("dir/sub/f", own).status, 204)
        self.assertEqual(self.ask("MKCOL", "dir/new", own).status, 201)
        self.assertEqual(unlock(self.amy, self.at("dir/sub/f"), token).status, 204)
        self.assertEqual(self.put("dir/sub/f").status, 204)

    def test_a_lock_of_a_folder_alone_keeps_its_names(self) -> None:
        self.write("dir/f", b"old")
        self.write("dir/sub/f", b"old")
        token = self.lock("dir/", "Depth: 0")
        own = f"If: <{self.at('dir/')}> (<{token}>)"
        for method, name in (
            ("PUT", "dir/new"),
            ("DELETE", "dir/f"),
            ("MKCOL", "dir/new"),
            ("DELETE", "dir"),
        ):
            with self.subTest((method, name)):
                self.assert_locked(self.ask(method, name), "dir/")
        self.assert_locked(lock(self.amy, self.at("dir/new")), "dir/")
        self.assertEqual(self.put("dir/f").status, 204)
        self.assertEqual(self.put("dir/sub/new").status, 201)
        self.assertEqual(self.put("dir/new", own).status, 201)
        self.assertEqual(self.ask("DELETE", "dir/f", own).status, 204)
        self.assertEqual(self.put("dir/new2", f"If: (<{token}>)").status, 412)

    def test_a_locked_name_keeps_its_folder(self) -> None:
        self.write("dir/f", b"old")
        token = self.lock("dir/f")
        self.assert_locked(self.ask("DELETE", "dir"), "dir/f")
        own = f"If: <{self.at('dir/f')}> (<{token}>)"
        self.assertEqual(self.ask("DELETE", "dir", own).status, 409)  # it is not empty

    def test_a_lock_goes_with_the_file(self) -> None:
        token = self.lock("a")
        self.assertEqual(self.ask("DELETE", "a", f"If: (<{token}>)").status, 204)
        self.assertEqual(self.put("a").status, 201)
        self.assertEqual(unlock(self.amy, self.at("a"), token).status, 409)

    def test_a_delete_that_fails_leaves_the_lock(self) -> None:
        self.write("dir/f", b"old")
        token = self.lock("dir/")
        self.assertEqual(self.ask("DELETE", "dir", f"If: (<{token}>)").status, 409)
        self.assertEqual(self.put("dir/f").status, 423)

    def test_a_lock_holds_by_another_way_too(self) -> None:
        self.write("dir/f", b"old")
        os.symlink("dir", self.scene.root / self.folder / "link")
        token = self.lock("link/f")
        for name in ("dir/f", "link/f"):
            self.assert_locked(self.put(name), "dir/f")
            self.assertEqual(self.put(name, f"If: (<{token}>)").status, 204)
        self.assertEqual(unlock(self.amy, self.at("dir/f"), token).status, 204)

    def test_locks_are_for_http(self) -> None:
        self.lock("a")
        self.write("a", b"by another program")
        self.assertEqual(self.read("a"), b"by another program")
        self.assertEqual(self.amy.ask(self.at("a")).status, 200)


class LockedOfLoopsTest(LockedTest):
    model = "event"


class IfTest(LocksScene):
    def test_an_if_that_does_not_hold(self) -> None:
        token = self.lock("a")
        tag = self.amy.ask(self.at("a")).fields["etag"]
        here = self.at("a")
        for value, status in (
            (f"(<{token}>)", 204),
            (f"(<{token}> [{tag}])", 412),  # it has changed
            (f'(<{token}> ["x"])', 412),
            (f"(Not <{token}>)", 412),
            (f"(<{FREE}>)", 412),
            (f"(<{FREE}>) (<{token}>)", 204),
            (f"(<{token}>) (Not <DAV:no-lock>)", 204),
            (f"(Not <{FREE}>)", 423),
            (f"(Not <{FREE}> <{token}>)", 204),
            (f"<{here}> (<{token}>) </other> (<{FREE}>)", 204),
            (f"</other> (<{token}>)", 412),
            (f"</other> (Not <{token}>)", 204),
            (f"<http://x/%zz> (<{token}>)", 412),
            ("(Not <DAV:no-lock>)", 423),
        ):
            with self.subTest(value):
                self.assertEqual(self.put("a", f"If: {value}").status, status)

    def test_tags(self) -> None:
        tag = self.put("a").fields["etag"]
        self.assertEqual(self.put("a", 'If: (["x"])').status, 412)
        self.assertEqual(self.put("a", f"If: ([W/{tag}])").status, 412)
        self.assertEqual(self.put("a", f'If: (["x"]) (Not ["x"] [{tag}])').status, 204)
        self.assertEqual(self.put("none", f"If: <{self.at('a')}> ([{tag}])").status, 412)
        tag = self.amy.ask(self.at("a")).fields["etag"]
        self.assertEqual(self.put("other", f"If: <{self.at('a')}> ([{tag}])").status, 201)
        for method in ("GET", "DELETE", "MKCOL"):
            self.assertEqual(self.ask(method, "other", 'If: (["x"])').status, 412)

    def test_a_malformed_if_is_told(self) -> None:
        for value in ("()", "<a>", f"({FREE})", "(<a>", "x", "(<urn:a>) (", 201 * "(<urn:a>)"):
            with self.subTest(value[:20]):
                self.assertEqual(self.put("a", f"If: {value}").status, 400)
        twice = (f"If: (Not <{FREE}>)", f"If: (Not <{FREE}>)")
        self.assertEqual(self.put("a", *twice).status, 400)
        self.assertEqual(self.put("a", f"If: {200 * '(Not <urn:a>)'}").status, 204)
        self.assertEqual(self.read("a"), b"new")


class ClientsTest(LocksScene):
    """What programs send when a person saves a file."""

    def test_the_finder(self) -> None:
        """It locks a new name, writes it, and writes a second file for its own notes."""
        owner = "<D:owner>\n<D:href>http://www.apple.com/webdav_fs/</D:href>\n</D:owner>"
        for name in ("report.pdf", "._report.pdf"):
            body = lock_info(owner=owner)
            fields = ("Depth: 0", "Timeout: Second-600", "Content-Type: text/xml")
            answer = self.amy.ask(self.at(name), *fields, method="LOCK", body=body)
            self.assertEqual(answer.status, 201)
            self.assertIn(b"http://www.apple.com/webdav_fs/", answer.body)
            token = token_of(answer)
            own = f"If: (<{token}>)"
            self.assertEqual(self.put(name, own, body=b"").status, 204)
            self.assertEqual(self.put(name, own, body=name.encode()).status, 204)
            self.assertEqual(refresh(self.amy, self.at(name), own).status, 200)
            self.assertEqual(unlock(self.amy, self.at(name), token).status, 204)
            self.assertEqual(self.read(name), name.encode())

    def test_explorer_and_office(self) -> None:
        """They lock what is there, put it with its URL in If, and unlock it."""
        owner = "<D:owner><D:href>DESKTOP\\amy</D:href></D:owner>"
        fields = ("Timeout: Second-3600", "translate: f")
        body = lock_info(owner=owner)
        answer = self.amy.ask(self.at("a"), *fields, method="LOCK", body=body)
        self.assertEqual((answer.status, granted_s(answer)), (200, 3600))
        token = token_of(answer)
        url = f"http://127.0.0.1{self.at('a')}"
        self.assertEqual(self.put("a", f"If: <{url}> (<{token}>)").status, 204)
        self.assertEqual(self.bob.ask(self.at("a")).body, b"new")
        self.assert_locked(lock(self.bob, self.at("a"), *fields), "a", "lock")
        self.assertEqual(unlock(self.amy, self.at("a"), token).status, 204)

    def test_owners_as_plain_text_and_hostile(self) -> None:
        for owner in ("gnome", "]]&gt; &lt;/D:owner&gt;", "\u00e9", 'a"b'):
            body = lock_info(owner=f"<D:owner>{owner}</D:owner>")
            answer = self.amy.ask(self.at("a"), method="LOCK", body=body)
            root = ElementTree.fromstring(answer.body)
            told = root.find(".//{DAV:}owner")
            asked = ElementTree.fromstring(body).find("{DAV:}owner")
            assert told is not None and asked is not None
            self.assertEqual(told.text, asked.text)
            unlock(self.amy, self.at("a"), token_of(answer))


class LimitsOfLocksTest(UploadTest):
    @for_each(("off", "sink"))
    def test_without_a_folder_there_are_no_locks(self, mode: str) -> None:
        client = self.http(self.scene.fileserver(self.authserver, *FLAG, "--uploads", mode))
        answer = client.ask("/a", method="UNLOCK")
        self.assertEqual(answer.status, 405)
        self.assertNotIn("LOCK", answer.fields["allow"])

    def test_a_user_has_a_thousand_locks(self) -> None:
        client = self.http(self.start())
        for i in range(1000):
            self.assertEqual(lock(client, f"/{i % 7}", scope="shared").status // 100, 2)
        answer = lock(client, "/0", scope="shared")
        self.assertEqual((answer.status, answer.fields["retry-after"]), (503, "1"))
        self.assertEqual(lock(client, "/new").status, 503)
        self.assertNotIn("new", self.names())

    def test_locks_of_links_and_of_the_served_folder(self) -> None:
        self.scene.write("a", b"old")
        client = self.http(self.start())
        token = token_of(lock(client, "/"))
        self.assertEqual(self.put(client, "a", b"").status, 423)
        self.assertEqual(self.put(client, "a", b"", f"If: </> (<{token}>)").status, 204)
        self.assertEqual(unlock(client, "/", token).status, 204)
        answer = client.ask("/a", method="OPTIONS")
        self.assertTrue(re.search(r"\bLOCK, UNLOCK\b", answer.fields["allow"]))
