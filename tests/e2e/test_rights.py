"""--rights FILE: each request of each user, by HTTP and natively."""

import json

from client import Client
from dav_client import lock, token_of, unlock
from http_client import Answer, HttpClient
from programs import Program
from rights_scene import FILES, PASSWORD, USERS, Asked, RightsScene
from scene import with_loops

JSON = "Accept: application/json"

# They stand in an order in which none changes what a later one needs. Every user asks in turn, and
# what a user made is made again or removed before the next one asks.
READS = (
    Asked("GET", "/", (200, 200, 200, 200, 200)),
    Asked("GET", "/top", (200, 200, 404, 404, 404)),
    Asked("GET", "/way", (200, 200, 404, 404, 404)),  # a file, where cid may list a folder
    Asked("GET", "/nothing", (404, 404, 404, 404, 404)),
    Asked("GET", "/in", (301, 301, 301, 301, 404)),
    Asked("GET", "/in/", (200, 200, 200, 200, 404)),
    Asked("GET", "/in/file", (200, 200, 404, 200, 404)),
    Asked("GET", "/in/deep", (301, 301, 301, 301, 404)),
    Asked("GET", "/in/deep/", (200, 200, 200, 200, 404)),
    Asked("GET", "/in/deep/file", (200, 200, 200, 200, 404)),
    Asked("GET", "/in/deep/pay", (301, 301, 301, 404, 404)),
    Asked("GET", "/in/deep/pay/", (200, 200, 200, 404, 404)),
    Asked("GET", "/in/deep/pay/file", (200, 200, 200, 404, 404)),
    Asked("GET", "/in/deep/payx", (200, 200, 200, 200, 404)),
    Asked("GET", "/home/cid/file", (200, 200, 200, 404, 404)),
    Asked("GET", "/-/sha256/in/file", (200, 200, 404, 200, 404)),
    Asked("GET", "/-/sha256/in/deep/pay/file", (200, 200, 200, 404, 404)),
)
CHANGES = (
    Asked("PUT", "/top", (204, 403, 404, 404, 404)),
    Asked("PUT", "/in", (409, 403, 404, 409, 404)),
    Asked("PUT", "/in/file", (204, 403, 404, 204, 404)),
    Asked("PUT", "/in/file", (412, 403, 404, 412, 404), ("If-None-Match: *",)),
    Asked("PUT", "/in/deep/file", (204, 403, 403, 204, 404)),
    Asked("PUT", "/in/deep/pay/file", (204, 403, 403, 404, 404)),
    Asked("PUT", "/in/deep/nowhere/x", (409, 403, 403, 409, 404)),
    Asked("PUT", "/home/cid/file", (204, 403, 204, 404, 404)),
    Asked("PUT", "/in//file", (404, 404, 404, 404, 404)),
    Asked("MKCOL", "/in/deep", (405, 403, 403, 405, 404)),
    Asked("MKCOL", "/in/new/", (201, 403, 404, 201, 404)),
    Asked("MKCOL", "/home/eve", (405, 403, 404, 404, 405)),
    Asked("DELETE", "/in/deep/nothing", (404, 403, 403, 404, 404)),
    Asked("DELETE", "/in", (409, 403, 404, 403, 404)),  # above what dan may not write
    Asked("DELETE", "/in/deep", (409, 403, 403, 403, 404)),
    Asked("DELETE", "/in/deep/pay", (409, 403, 403, 404, 404)),
    Asked("DELETE", "/in/empty", (204, 403, 404, 204, 404)),
    Asked("DELETE", "/in/gone", (204, 403, 404, 204, 404)),
    Asked("DELETE", "/in/deep/gone", (204, 403, 403, 204, 404)),
)


@with_loops
class RightsTest(RightsScene):
    """What each user may do. Nothing here depends on the order of the tests."""

    def http(self, user: str, server: Program | None = None) -> HttpClient:
        client = HttpClient(server or self.server, user, PASSWORD)
        self.addCleanup(client.close)
        return client

    def native(self, user: str) -> Client:
        client = self.connect(self.server)
        self.assertEqual(client.ask(f"get:{user}:{PASSWORD}"), "OK")
        return client

    def ask(self, user: str, asked: Asked, method: str = "") -> Answer:
        """On a connection of its own, because a body that is not read ends one."""
        client = self.http(user)
        method = method or asked.method
        return client.ask(asked.path, *asked.fields, method=method, body=asked.body())

    def test_what_is_read_by_each_user(self) -> None:
        for asked in READS:
            for user, status in zip(USERS, asked.statuses, strict=True):
                with self.subTest(f"{asked.method} {asked.path} {user}"):
                    self.assertEqual(self.ask(user, asked).status, status)
                    self.assertEqual(self.ask(user, asked, "HEAD").status, status)

    def test_what_is_changed_by_each_user(self) -> None:
        for asked in CHANGES:
            for user, status in zip(USERS, asked.statuses, strict=True):
                with self.subTest(f"{asked.method} {asked.path} {user}"):
                    self.write_files()
                    before = self.all_files()
                    self.assertEqual(self.ask(user, asked).status, status)
                    if status >= 400:
                        self.assertEqual(self.all_files(), before)
        self.write_files()

    def test_without_uploads_nothing_is_changed(self) -> None:
        for user in ("amy", "eve"):
            client = self.http(user, self.read_only)
            for method in ("PUT", "DELETE", "MKCOL"):
                answer = client.ask("/in/file", "Content-Length: 0", method=method)
                self.assertEqual(answer.status, 405, f"{user} {method}")

    def test_natively_a_name_that_may_not_be_read_is_not_there(self) -> None:
        clients = {user: self.native(user) for user in USERS}
        for asked in READS:
            if not asked.path.startswith("/-/") and asked.path != "/":
                for user, status in zip(USERS, asked.statuses, strict=True):
                    with self.subTest(f"{asked.path} {user}"):
                        name = asked.path[1:]
                        answer = clients[user].ask(name)
                        expected = name.encode() if status == 200 and name in FILES else "not-found"
                        self.assertEqual(answer, expected)

    def test_who_logs_in_again_has_other_rights(self) -> None:
        client = self.native("amy")
        for user, answer in (("eve", "not-found"), ("dan", b"in/file"), ("cid", "not-found")):
            self.assertEqual(client.ask(f"get:{user}:{PASSWORD}"), "OK")
            self.assertEqual(client.ask("in/file"), answer)
        self.assertEqual(client.ask("get:amy:wrong"), "denied")
        self.assertEqual(client.ask("in/file"), "denied")

    def test_a_file_that_may_not_be_read_looks_as_if_it_were_not_there(self) -> None:
        fields = (
            (),
            ("If-None-Match: *",),
            ('If-Match: "x"',),
            ("Range: bytes=0-0",),
            ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",),
            ("Want-Repr-Digest: sha-256=1",),
        )
        for method in ("GET", "HEAD", "PUT", "DELETE", "MKCOL"):
            for more in fields:
                with self.subTest(f"{method} {more}"):
                    for prefix in ("/", "/-/sha256/")[: 2 if method == "GET" else 1]:
                        there, away = (
                            self.ask(
                                "dan", Asked(method, f"{prefix}in/deep/pay/{name}", (0,) * 5, more)
                            )
                            for name in ("file", "away")
                        )
                        self.assertEqual(there.status, 404)
                        del there.fields["date"], away.fields["date"]
                        self.assertEqual(there, away)

    def test_if_does_not_tell_about_names_that_may_not_be_read(self) -> None:
        amy = self.http("amy")
        secret, own = "/in/deep/pay/secret", "/in/own"
        tag = amy.ask(secret, method="PUT", body=b"body").fields["etag"]
        token = token_of(lock(amy, secret))
        for condition in (f"[{tag}]", f"<{token}>"):
            fields = (f"If: <{secret}> ({condition})",)
            for user, statuses in (("amy", (201, 204)), ("dan", (412,))):
                with self.subTest(f"{user} {condition[:1]}"):
                    answer = self.ask(user, Asked("PUT", own, (0,) * 5, fields))
                    self.assertIn(answer.status, statuses)
        self.assertEqual(unlock(amy, secret, token).status, 204)
        for name in (secret, own):
            self.assertEqual(amy.ask(name, method="DELETE").status, 204)

    def test_a_listing_has_what_the_user_may_see(self) -> None:
        everything = {"home", "in", "top", "way"}
        for user, folder, names in (
            ("amy", "/", everything),
            ("bob", "/", everything),
            ("cid", "/", {"home", "in"}),
            ("dan", "/", {"in"}),
            ("eve", "/", {"home"}),
            ("eve", "/home/", {"eve"}),
            ("cid", "/in/", {"deep"}),
            ("dan", "/in/deep/", {"file", "gone", "payx"}),
            ("cid", "/in/deep/", {"file", "gone", "pay", "payx"}),
        ):
            with self.subTest(f"{user} {folder}"):
                answer = self.http(user).ask(folder, JSON)
                # home/USER is on the way to what may be read, whether or not it is there.
                found = {entry["name"] for entry in json.loads(answer.body)}
                self.assertEqual(found - {"home"}, names - {"home"})
                page = self.http(user).ask(folder).body.decode()
                for name in {"top", "way", "in", "deep", "pay", "cid", "eve"}:
                    rows = [
                        f'<td><a href="{name}{end}"><bdi>{name}</bdi>{end}<' for end in ("", "/")
                    ]
                    self.assertEqual(any(row in page for row in rows), name in found, name)
