"""Links by which guests put files into a folder: they see and replace nothing."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

from dav_client import lock, token_of
from http_client import HttpClient, request
from links_scene import PASSWORD, LinksScene, password
from scene import with_loops

_LOOKED_AT_AGAIN_S = 2.1


@with_loops
class DropsTest(LinksScene):
    def put(self, target: str, body: bytes = b"new", *fields: str) -> int:
        return self.status(target, *fields, method="PUT", body=body)

    def inbox(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (self.scene.root / "inbox").iterdir()}

    def test_files_come_in_and_none_is_replaced(self) -> None:
        self.scene.write("inbox/a.tar.gz", b"old")
        link = self.made("inbox", "drop")
        for name in ("a.tar.gz", "a.tar.gz", "b", "b", "ä b.txt"):
            self.assertEqual(self.put(link + name.replace(" ", "%20")), 201)
        self.assertEqual(
            self.inbox(),
            {
                "a.tar.gz": b"old",
                "a.tar (2).gz": b"new",
                "a.tar (3).gz": b"new",
                "b": b"new",
                "b (2)": b"new",
                "ä b.txt": b"new",
            },
        )

    def test_a_guest_is_told_of_nothing_that_is_there(self) -> None:
        self.scene.write("inbox/a", b"old")
        link = self.made("inbox", "drop")
        for path in ("a", "b", "a/", "?zip", "-/zip/"):
            for method in ("GET", "HEAD"):
                answer = self.ask(link + path, method=method)
                self.assertEqual(answer.status, 200 if path == "?zip" else 404)
                self.assertNotIn(b"old", answer.body)
        for field, status in (
            ("If-Match: *", 412),
            ('If-Match: "x"', 412),
            ("If-None-Match: *", 201),
        ):
            for name in ("a", "nothing has this name"):
                told = self.put(link + name.replace(" ", "%20"), b"new", field)
                self.assertEqual(told, status)
        page = self.ask(link, "Accept: text/html")
        self.assertEqual(page.status, 200)
        self.assertIn(b"Send files to <bdi>inbox</bdi>", page.body)
        self.assertNotIn(b"amy", page.body)
        self.assertEqual(self.inbox()["a"], b"old")

    def test_nothing_lands_elsewhere(self) -> None:
        link = self.made("inbox", "drop")
        for path in ("", "sub/a", "a/", "%2e%2e/a", "..%2fa", "a%00", "%2e%2e"):
            with self.subTest(path):
                self.assertIn(self.put(link + path), (401, 404))
        for method in ("DELETE", "MKCOL", "MOVE", "PROPFIND", "POST", "PATCH", "LOCK"):
            self.assertIn(self.status(f"{link}a", method=method), (405, 501))
        self.assertEqual(self.put(f"{link}a", b"x", "Upload-Complete: ?0"), 501)
        self.assertEqual(self.put(f"{link}a", b"x", "Content-Range: bytes 0-0/2"), 400)
        self.assertEqual(self.inbox(), {})
        root = self.made("/", "drop")
        self.assertEqual(self.put(f"{root}-"), 404)
        self.assertEqual(self.put(f"{root}other.txt"), 201)
        self.assertEqual((self.scene.root / "other.txt").read_bytes(), b"other.txt")

    def test_uses_and_password_count_for_it_too(self) -> None:
        link = self.made("inbox", "drop", uses=2, password="p")
        self.assertEqual(self.put(f"{link}a"), 401)
        self.assertEqual(self.put(f"{link}a", b"new", password("wrong")), 401)
        for name in ("a", "b"):
            self.assertEqual(self.put(link + name, b"new", password("p")), 201)
        self.assertEqual(self.put(f"{link}c", b"new", password("p")), 404)
        self.assertEqual(sorted(self.inbox()), ["a", "b"])

    def test_it_takes_nothing_once_the_maker_may_not_write(self) -> None:
        link = self.made("inbox", "drop")
        self.change_rights("* / read write\namy /inbox read\n")
        self.assertEqual(self.put(f"{link}a"), 404)
        self.assertEqual(self.inbox(), {})

    def test_without_uploads_there_are_none(self) -> None:
        link = self.made("inbox", "drop")
        self.server.stop()
        self.server = self.serve("--uploads", "off")
        self.assertEqual(self.asked_for({"path": "inbox", "may": "drop"}).status, 403)
        self.assertEqual(self.put(f"{link}a"), 403)

    def begun(self, link: str) -> HttpClient:
        client: HttpClient = self.scene.keep(HttpClient(self.server))
        fields = ("Content-Length: 6", "Expect: 100-continue")
        client.send(request(f"{link}a", *fields, method="PUT"))
        self.assertEqual(client.interim(), 100)  # it has a name
        client.send(b"new")
        return client

    def test_a_name_that_is_taken_meanwhile_is_not_replaced(self) -> None:
        client = self.begun(self.made("inbox", "drop", uses=1))
        self.scene.write("inbox/a", b"old")
        client.send(b"er!")
        self.assertEqual(client.answer("PUT").status, 201)
        self.assertEqual(self.inbox(), {"a": b"old", "a (2)": b"newer!"})

    def test_of_many_guests_at_once_each_keeps_a_file(self) -> None:
        link = self.made("inbox", "drop", uses=12)
        with ThreadPoolExecutor(20) as threads:
            got = list(threads.map(lambda _: self.put(f"{link}a.txt"), range(20)))
        self.assertEqual((got.count(201), got.count(404)), (12, 8))
        self.assertEqual(len(self.inbox()), 12)

    def test_whatever_has_the_name_is_given_way_to(self) -> None:
        inbox = self.scene.root / "inbox"
        (inbox / "link").symlink_to("nowhere")
        (inbox / "folder").mkdir()
        os.mkfifo(inbox / "fifo")
        long = "x" * 248 + "ä.txt"
        for name in (long, *(f"many{f' ({number})' if number else ''}" for number in range(30))):
            (inbox / name).write_bytes(b"old")
        link = self.made("inbox", "drop", uses=5)
        before = {path.name for path in inbox.iterdir()}
        for name in ("link", "folder", "fifo", long, "many"):
            self.assertEqual(self.put(link + name), 201)
        new = {path.name for path in inbox.iterdir()} - before
        self.assertEqual(len(new), 5)
        self.assertTrue({"link (2)", "folder (2)", "fifo (2)"} < new)
        self.assertTrue(all((inbox / name).read_bytes() == b"new" for name in new))

    def test_a_lock_is_told_without_its_path_and_costs_no_use(self) -> None:
        link = self.made("inbox", "drop", uses=1)
        taken = lock(self.http("amy", PASSWORD), "/inbox/")
        self.assertEqual(taken.status, 200)
        answer = self.ask(f"{link}a", method="PUT", body=b"new")
        self.assertEqual((answer.status, answer.body), (423, b"Locked\n"))
        freed = self.http("amy", PASSWORD).ask(
            "/inbox/", f"Lock-Token: <{token_of(taken)}>", method="UNLOCK"
        )
        self.assertEqual(freed.status, 204)
        other = f"Content-Digest: sha-256=:{'A' * 43}=:"
        for field in ("Content-Range: bytes 0-4/9", other):
            self.assertEqual(self.put(f"{link}a", b"short", field), 400)
        self.assertEqual(self.put(f"{link}a"), 201)

    def test_without_its_folder_there_is_nothing(self) -> None:
        link = self.made("inbox", "drop")
        (self.scene.root / "inbox").rmdir()
        for method in ("GET", "PUT"):
            self.assertEqual(self.status(link, method=method), 404)
            self.assertEqual(self.status(f"{link}a", method=method, body=b""), 404)

    def test_what_is_under_way_ends_with_the_link(self) -> None:
        """Of two that send the last file that it takes, one does."""
        revoked, last = self.made("inbox", "drop"), self.made("inbox", "drop", uses=1)
        clients = [self.begun(revoked), self.begun(last), self.begun(last)]
        time.sleep(_LOOKED_AT_AGAIN_S)
        (link,) = [one for one in self.listed() if one["uses"] is None]
        self.assertEqual(self.revoked(link), 204)
        for client, status in zip(clients, (404, 201, 404), strict=True):
            client.send(b"er!")
            self.assertEqual(client.answer("PUT").status, status)
        self.assertEqual(self.inbox(), {"a": b"newer!"})

    def test_logs_and_the_store_have_the_link_and_not_its_token(self) -> None:
        log = self.scene.folder / "transfers"
        self.server.stop()
        self.server = self.serve("--transfer-log", log, "--transfer-log-users", "on")
        drop, read = self.made("inbox", "drop"), self.made("docs", password="p")
        self.assertEqual(self.put(f"{drop}a"), 201)
        cookie = f"Cookie: turnstile={drop.split('/')[-2]}"  # it is not looked at
        self.assertEqual(self.put(f"{drop}b", b"new", cookie), 201)
        self.assertEqual(self.status(f"{read}a.txt"), 401)
        self.assertEqual(self.status(f"{read}a.txt", password("wrong")), 401)
        self.assertEqual(self.status(f"{read}a.txt", password("p")), 200)
        ids = {one["may"]: one["id"] for one in self.listed()}
        self.server.stop()
        self.authserver.stop()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        told = [(one["user"], one.get("link"), one["status"], one["name"]) for one in lines]
        self.assertIn(("amy", ids["drop"], 201, "inbox/a"), told)
        self.assertIn(("amy", ids["read"], 200, "docs/a.txt"), told)
        texts = [log.read_text(), self.server.log(), self.authserver.log()]
        texts.append(self.scene.accounts.read_bytes().decode("latin-1"))
        for link in (drop, read):
            token = link.split("/")[-2]
            self.assertFalse([text for text in texts if token in text])
