"""Uploads in parts: whose they are, and what counts at their end."""

import json
import signal
import time

from http_client import HttpClient, basic, request
from parts_scene import LAST, MORE, PARTIAL, PartsTest
from rights_scene import PASSWORD
from scene import create_account, for_each
from upload_scene import USER
from waiting import eventually


class PartsOfOthersTest(PartsTest):
    """What may have changed since an upload began."""

    def setUp(self) -> None:
        super().setUp()
        create_account(self.authserver, "bob", PASSWORD)
        self.rights = self.scene.folder / "rights"

    def serve(self, rights: str) -> None:
        self.rights.write_text(rights)
        self.server = self.start("--rights", self.rights)
        self.client = self.http(self.server)

    def change_rights(self, rights: str) -> None:
        self.rights.write_text(rights)
        count = self.server.log().count("rights")
        self.server.signal(signal.SIGHUP)
        eventually(lambda: self.server.log().count("rights") > count, "the rights are read again")

    def test_it_is_its_users_only(self) -> None:
        self.serve("* / read write\n")
        path = self.begin(self.client, "a", b"abc")
        bob = self.scene.keep(HttpClient(self.server, "bob", PASSWORD))
        never = "/-/parts/" + 32 * "a"
        for method, fields in (
            ("HEAD", ()),
            ("DELETE", ()),
            ("PATCH", (PARTIAL, LAST, "Upload-Offset: 3", "Content-Length: 0")),
        ):
            answers = [bob.ask(one, *fields, method=method) for one in (path, never)]
            for answer in answers:
                answer.fields.pop("date")
            self.assertEqual(answers[0], answers[1])
            self.assertEqual(answers[0].status, 404)
        self.assertEqual(self.offset(self.client, path), 3)

    def test_the_rights_and_the_conditions_are_those_of_the_end(self) -> None:
        self.serve("* / read write\n")
        a = self.begin(self.client, "a", b"abc")
        new = self.begin(self.client, "new", b"abc", "If-None-Match: *")
        self.scene.write("new", b"of another one")
        answer = self.append(self.client, new, 3, b"", LAST)
        self.assertEqual((answer.status, answer.fields["upload-complete"]), (412, "?1"))
        self.change_rights("* / read\n")
        self.assertEqual(self.append(self.client, a, 3, b"", LAST).status, 403)
        self.change_rights(f"* / read write\n{USER[0]} /a none\n")
        self.assertEqual(self.append(self.client, a, 3, b"", LAST).status, 404)
        self.assertEqual(self.ask(self.client, "POST", "/-/parts/a", b"", MORE).status, 404)
        self.change_rights("* / read write\n")
        self.assertEqual(self.append(self.client, a, 3, b"", LAST).status, 201)
        self.assertEqual(self.read("new"), b"of another one")

    def test_if_is_looked_at_when_it_begins_and_at_its_end(self) -> None:
        self.serve("* / read write\n")
        self.scene.write("a", b"first")
        tag = self.client.ask("/a").fields["etag"]
        for status, value in ((400, "(["), (412, '(["other"])')):
            client = self.scene.keep(HttpClient(self.server, *USER))
            refused = self.ask(client, "POST", "/-/parts/a", b"", MORE, f"If: {value}")
            self.assertEqual(refused.status, status)
        kept, replaced = (self.begin(self.client, "a", b"abc", f"If: ([{tag}])") for _ in range(2))
        self.assertEqual(self.append(self.client, kept, 3, b"", LAST).status, 204)
        self.assertEqual(self.append(self.client, replaced, 3, b"d", LAST).status, 412)
        self.assertEqual(self.read("a"), b"abc")

    def test_a_lock_of_another_user_keeps_it_out_until_it_ends(self) -> None:
        self.serve("* / read write\n")
        path = self.begin(self.client, "a", b"abc")
        bob = self.scene.keep(HttpClient(self.server, "bob", PASSWORD))
        body = (
            b'<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope>'
            b"<locktype><write/></locktype></lockinfo>"
        )
        token = bob.ask("/a", method="LOCK", body=body).fields["lock-token"]
        self.assertEqual(self.append(self.client, path, 3, b"", LAST).status, 423)
        self.assertEqual(self.ask(self.client, "POST", "/-/parts/a", b"", MORE).status, 423)
        self.assertEqual(bob.ask("/a", f"Lock-Token: {token}", method="UNLOCK").status, 204)
        self.assertEqual(self.append(self.client, path, 3, b"", LAST).status, 204)
        self.assertEqual(self.read("a"), b"abc")

    def test_a_cookie_needs_our_own_page(self) -> None:
        self.serve("* / read write\n")
        body = json.dumps({"user": USER[0], "password": USER[1]}).encode()
        answer = self.client.ask("/-/session", method="POST", body=body)
        cookie = "Cookie: " + answer.fields["set-cookie"].split(";")[0]
        ours, theirs = (f"Sec-Fetch-Site: {one}" for one in ("same-origin", "cross-site"))
        client = self.scene.keep(HttpClient(self.server))
        for field, statuses in ((theirs, (403, 403)), (ours, (201, 201))):
            answer = self.ask(client, "POST", "/-/parts/a", b"abc", MORE, cookie, field)
            self.assertEqual(answer.status, statuses[0])
            path = answer.fields.get("location", "/-/parts/" + 32 * "a")
            client = self.scene.keep(HttpClient(self.server))
            answer = self.append(client, path, 3, b"", LAST, cookie, field)
            self.assertEqual(answer.status, statuses[1])
            client = self.scene.keep(HttpClient(self.server))

    def test_the_account_is_asked_about_again(self) -> None:
        """A part that lasts longer than two seconds."""
        self.serve("* / read write\n")
        client = self.http(self.server)
        fields = (LAST, "Content-Length: 6")
        client.send(
            request("/-/parts/a", *client._credentials, *fields, method="POST", body=b"abc")
        )
        changed = json.dumps({"old": USER[1], "new": "another"}).encode()
        answer = self.client.ask("/-/password", method="POST", body=changed)
        self.assertEqual(answer.status, 204)
        time.sleep(2.1)
        client.send(b"def")
        self.assertEqual(client.answer("POST").status, 401)
        self.assertFalse((self.scene.root / "a").exists())
        eventually(lambda: not self.kept(), "the upload is removed")

    @for_each(("off", "sink"))
    def test_without_uploads_there_is_nothing(self, mode: str) -> None:
        server = self.start("--uploads", mode)
        client = self.http(server)
        for path in ("/-/parts/a", "/-/tus/"):
            self.assertEqual(client.ask(path, "Content-Length: 0", MORE, method="POST").status, 404)
            self.assertEqual(client.ask(path, method="HEAD").status, 404)
            told = client.ask(path, method="OPTIONS")
            self.assertEqual((told.status, told.fields["allow"]), (204, "OPTIONS"))
            self.assertFalse({"accept-patch", "tus-version"} & told.fields.keys())
        anybody = self.scene.keep(HttpClient(self.start()))
        answer = anybody.ask("/-/parts/a", "Content-Length: 0", MORE, method="POST")
        self.assertEqual(answer.status, 401)
        wrong = f"Authorization: {basic(USER[0], 'wrong')}"
        self.assertEqual(anybody.ask("/-/parts/a", wrong, method="HEAD").status, 401)
