"""LOCK and UNLOCK of --http-listen: what clients of WebDAV may rely on."""

import os
import re
import threading
import time
from xml.etree import ElementTree

from dav_client import granted_s, lock, lock_info, refresh, token_of, unlock
from http_client import FLAG
from lock_scene import FREE, LocksScene
from scene import for_each, with_loops
from upload_scene import USER, UploadTest


@with_loops
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
            ("Second-4294967296", 3600),
            ("Second--1", 3600),
            (",,,,", 3600),
            ("second-5,Infinite", 5),
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

    def test_what_windows_sends_around_a_document_is_passed_over(self) -> None:
        """Windows 11 does so (9001/copyparty#695)."""
        info = lock_info()
        wide = info.decode().replace("utf-8", "utf-16").encode("utf-16")
        for body in (info + b"\0", b"\r\n" + info, b" \t\n" + info + b"\n\0", wide):
            with self.subTest(body[:4] + body[-4:]):
                answer = self.ask("LOCK", "a", body=body)
                self.assertEqual(answer.status, 200)
                unlock(self.amy, self.at("a"), token_of(answer))

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
        for before, behind in ((b"\0", b""), (b"", b"\0\0"), (b"", b"\0\n"), (b"\xa0", b"")):
            with self.subTest(before=before, behind=behind):
                answer = self.ask("LOCK", "a", body=before + lock_info() + behind)
                self.assertEqual(answer.status, 400)
        for depth in ("1", "none", ""):
            answer = self.ask("LOCK", "a", f"Depth: {depth}", body=lock_info())
            self.assertEqual(answer.status, 400)
        self.assertEqual(self.put("a").status, 204)

    def test_unlock(self) -> None:
        token = self.lock("a")
        self.assertEqual(self.ask("UNLOCK", "a").status, 400)
        for value in (token, f"<{token}><{token}>", f"<{6000 * 'x'}>"):
            self.assertEqual(self.ask("UNLOCK", "a", f"Lock-Token: {value}").status, 400)
        twice = (f"Lock-Token: <{token}>",) * 2
        self.assertEqual(self.ask("UNLOCK", "a", *twice).status, 400)
        for other in (f"{token}0", token[:-1], token.upper()):
            self.assertEqual(unlock(self.amy, self.at("a"), other).status, 409)
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

    def test_the_finder_saves_a_file(self) -> None:
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

    def test_explorer_and_office_save_a_file(self) -> None:
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
            self.assertEqual(lock(client, f"/{i % 100}", scope="shared").status // 100, 2)
        answer = lock(client, "/0", scope="shared")
        self.assertEqual((answer.status, answer.fields["retry-after"]), (503, "1"))
        self.assertEqual(lock(client, "/new").status, 503)
        self.assertNotIn("new", self.names())

    def test_shared_locks_of_one_name_are_bounded(self) -> None:
        client = self.http(self.start())
        for _ in range(16):
            self.assertEqual(lock(client, "/a", scope="shared").status // 100, 2)
        self.assertEqual(lock(client, "/a", scope="shared").status, 503)
        self.assertEqual(lock(client, "/", scope="shared").status, 503)
        self.assertEqual(lock(client, "/b", scope="shared").status, 201)

    def test_locks_of_links_and_of_the_served_folder(self) -> None:
        self.scene.write("a", b"old")
        client = self.http(self.start())
        token = token_of(lock(client, "/"))
        self.assertEqual(self.put(client, "a", b"").status, 423)
        self.assertEqual(self.put(client, "a", b"", f"If: </> (<{token}>)").status, 204)
        self.assertEqual(unlock(client, "/", token).status, 204)
        answer = client.ask("/a", method="OPTIONS")
        self.assertTrue(re.search(r"\bLOCK, UNLOCK\b", answer.fields["allow"]))
