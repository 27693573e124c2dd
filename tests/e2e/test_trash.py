"""--trash DAYS: what was deleted or replaced, and who sees it."""

import contextlib
import json
import random
import threading
import time
import unittest
from urllib.parse import quote

from dav_client import lock
from http_client import FLAG, HttpClient, basic
from mount_namespace import NAMESPACES, why_no_mounts
from programs import run
from scene import SceneTest, create_account, with_loops
from transfer_lines import wait_for_lines
from trash_scene import FOLDER, OURS, TRASH, act, listed
from upload_scene import USER, UploadTest
from waiting import eventually


@with_loops
class TrashTest(UploadTest):
    def paths(self, client: HttpClient) -> list[str]:
        return [one["path"] for one in listed(client)]

    def delete(self, client: HttpClient, path: str) -> None:
        self.assertEqual(client.ask(path, method="DELETE").status, 204)

    def test_what_is_deleted_or_replaced_comes_back(self) -> None:
        client = self.http(self.start(*TRASH))
        self.assertEqual(listed(client), [])
        self.assertIn(b"<table data-writable data-trash>", client.ask("/").body)
        self.scene.write("folder/deep", b"deep")
        for name in ("put", "moved", "copied", "gone"):
            self.put(client, name, b"old " + name.encode())
        for name in ("put", "from", "source"):
            self.put(client, name, b"new")
        client.ask("/from", "Destination: /moved", method="MOVE")
        client.ask("/source", "Destination: /copied", method="COPY")
        self.delete(client, "/gone")
        self.delete(client, "/folder/")
        kept = {one["path"]: one for one in listed(client)}
        self.assertEqual(list(kept), ["/folder", "/gone", "/copied", "/moved", "/put"])
        self.assertEqual(kept["/folder"]["type"], "directory")
        self.assertEqual((kept["/put"]["type"], kept["/put"]["size"]), ("file", 7))
        self.assertEqual(kept["/put"]["until"] - kept["/put"]["deleted"], 7 * 86400)
        self.assertLess(abs(kept["/put"]["deleted"] - time.time()), 60)
        for name in ("put", "moved", "copied"):
            self.assertEqual(act(client, "POST", kept[f"/{name}"]["id"]), 409)
            self.delete(client, f"/{name}")
            self.assertEqual(act(client, "POST", kept[f"/{name}"]["id"]), 204)
            self.assertEqual(client.ask(f"/{name}").body, b"old " + name.encode())
            self.assertEqual(act(client, "POST", kept[f"/{name}"]["id"]), 404)
        self.assertEqual(act(client, "POST", kept["/folder"]["id"]), 204)
        self.assertEqual(client.ask("/folder/deep").body, b"deep")
        gone = kept["/gone"]["id"]
        self.assertEqual([act(client, "DELETE", gone) for _ in range(2)], [204, 404])
        place = self.scene.root / FOLDER
        eventually(lambda: not list(place.glob(f"{gone}*")), "its bytes are gone")
        self.assertEqual(self.paths(client), ["/copied", "/moved", "/put"])

    def test_nothing_leads_into_it(self) -> None:
        server = self.start(*TRASH)
        client = self.http(server)
        self.put(client, "a", b"x")
        self.delete(client, "/a")
        identity = listed(client)[0]["id"]
        for path in (f"/{FOLDER}/", f"/{FOLDER}", f"/{FOLDER}/{identity}", f"/{FOLDER.upper()}/"):
            for method in ("GET", "PROPFIND", "DELETE"):
                self.assertEqual(client.ask(path, "Depth: 0", method=method).status, 404, path)
            self.assertEqual(client.ask(path, "Destination: /b", method="COPY").status, 404)
        for path in (f"/{FOLDER}/new", f"/{FOLDER}"):
            self.assertEqual(self.put(self.http(server), path[1:], b"x").status, 409)
        self.put(client, "b", b"x")
        into = client.ask("/b", f"Destination: /{FOLDER}/b", method="MOVE")
        self.assertEqual(into.status, 409)
        self.assertNotIn(FOLDER.encode(), client.ask("/").body)
        client.send(b"GET /-/zip/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    b"Authorization: " + basic(*USER).encode() + b"\r\n\r\n")  # fmt: skip
        whole = b""
        with contextlib.suppress(ConnectionError):
            while part := client._client.socket.recv(1 << 16):
                whole += part
        self.assertNotIn(identity.encode(), whole)
        self.assertEqual((self.scene.root / FOLDER).stat().st_mode & 0o777, 0o700)

    def test_requests_that_are_refused(self) -> None:
        server = self.start(*TRASH)
        client = self.http(server)
        self.put(client, "a", b"x")
        self.delete(client, "/a")
        identity = listed(client)[0]["id"]
        for status, method, path in (
            (404, "GET", f"/-/trash/{identity}"),
            (404, "GET", "/-/trash"),
            (404, "POST", "/-/trash/"),
            (404, "DELETE", "/-/trash/"),
            (404, "POST", f"/-/trash/{identity}/"),
            (404, "POST", f"/-/trash/{identity[:-1]}g"),
            (404, "POST", f"/-/trash/{identity}.old"),
            (404, "DELETE", "/-/trash/a%2f..%2f..%2fb"),
            (405, "PUT", f"/-/trash/{identity}"),
            (405, "MOVE", f"/-/trash/{identity}"),
        ):
            with self.subTest(method=method, path=path):
                asked = self.http(server).ask(path, "Content-Length: 0", method=method)
                self.assertEqual(asked.status, status)
        stranger = self.scene.keep(HttpClient(server))
        self.assertEqual(stranger.ask("/-/trash/").status, 401)
        off = self.http(self.start())
        self.assertEqual(off.ask("/-/trash/").status, 404)
        self.assertEqual(act(off, "POST", identity), 404)

    def test_pages_of_others_put_nothing_back(self) -> None:
        server = self.start(*TRASH)
        client = self.http(server)
        self.put(client, "a", b"x")
        self.delete(client, "/a")
        identity = listed(client)[0]["id"]
        stranger = self.scene.keep(HttpClient(server))
        body = json.dumps({"user": USER[0], "password": USER[1]}).encode()
        cookie = stranger.ask("/-/session", method="POST", body=body).fields["set-cookie"]
        field = "Cookie: " + cookie.split(";")[0]
        for method in ("POST", "DELETE"):
            for other in ((), ("Sec-Fetch-Site: cross-site",), ("Origin: http://evil",)):
                asked = self.scene.keep(HttpClient(server))
                self.assertEqual(act(asked, method, identity, field, *other), 403)
        for site in ("Sec-Fetch-Site: cross-site", "Origin: http://evil"):
            self.assertEqual(act(self.http(server), "POST", identity, site), 403)
        self.assertEqual(act(stranger, "POST", identity, field, OURS), 204)

    def test_locks_hold(self) -> None:
        create_account(self.authserver, "bob")
        server = self.start(*TRASH)
        amy, bob = self.http(server), self.scene.keep(HttpClient(server, "bob", "wonderland"))
        amy.ask("/sub", method="MKCOL")
        self.put(amy, "sub/a", b"x")
        self.assertEqual(lock(amy, "/sub/a").status, 200)
        self.assertEqual(bob.ask("/sub/a", method="DELETE").status, 423)
        self.assertEqual(listed(bob), [])
        self.put(bob, "sub/b", b"x")
        self.delete(bob, "/sub/b")
        self.assertEqual(lock(amy, "/sub", "Depth: 0").status, 200)
        self.assertEqual(act(bob, "POST", listed(bob)[0]["id"]), 423)
        self.assertEqual(self.paths(amy), ["/sub/b"])

    def test_two_servers_share_one(self) -> None:
        log = self.scene.folder / "log"
        one, other = self.start(*TRASH), self.start(*TRASH, "--transfer-log", log)
        amy, ben = self.http(one), self.http(other)
        self.put(amy, "a", b"first")
        self.delete(amy, "/a")
        [kept] = listed(ben)
        self.assertEqual(act(ben, "POST", kept["id"]), 204)
        eventually(lambda: amy.ask("/a").body == b"first", "the other server serves it")
        self.assertEqual(listed(amy), [])
        [line] = wait_for_lines(log, 1)
        said = (line["change"], line["name"], line["to"])
        self.assertEqual(said, ("move", f"-/trash/{kept['id']}", "a"))

    def test_many_at_once_put_one_thing_back(self) -> None:
        server = self.start(*TRASH)
        client = self.http(server)
        self.put(client, "a", b"x")
        self.delete(client, "/a")
        identity = listed(client)[0]["id"]
        clients = [self.http(server) for _ in range(8)]
        statuses: list[int] = []
        threads = [
            threading.Thread(target=lambda one=one: statuses.append(act(one, "POST", identity)))
            for one in clients
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(statuses.count(204), 1, statuses)
        self.assertLessEqual(set(statuses), {204, 404, 409})
        self.assertEqual(client.ask("/a").body, b"x")

    def test_what_is_too_old_is_gone_at_the_start(self) -> None:
        server = self.start(*TRASH)
        client = self.http(server)
        for name in ("a", "b"):
            self.put(client, name, b"x")
            self.delete(client, f"/{name}")
        old = listed(client)[1]["id"]
        server.stop()
        before = f"{int((time.time() - 8 * 86400) * 1e9):016x}{old[16:]}"
        for path in (self.scene.root / FOLDER).glob(f"{old}*"):
            path.rename(path.with_name(path.name.replace(old, before)))
        client = self.http(self.start(*TRASH))
        eventually(lambda: self.paths(client) == ["/b"], "the old one is gone")

    @unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
    def test_another_file_system_below(self) -> None:
        """No rename leads out of it, so what is there is removed as without a trash."""
        (self.scene.root / "disk").mkdir()
        mount = f'mount -t tmpfs none "{self.scene.root}/disk" && exec "$0" "$@"'
        server = self.start(*TRASH, prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        self.put(client, "disk/a", b"old")
        self.assertEqual(self.put(client, "disk/a", b"new").status, 204)
        client.ask("/disk/f", method="MKCOL")
        for path in ("/disk/a", "/disk/f/"):
            self.delete(client, path)
            self.assertEqual(client.ask(path).status, 404)
        self.put(client, "disk/b", b"moved")
        moved = client.ask("/disk/b", "Destination: /b", method="MOVE")
        self.assertEqual((moved.status, client.ask("/b").body), (201, b"moved"))
        self.assertEqual(listed(client), [])
        self.assertIn("that the trash cannot keep", server.log())

    @unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
    def test_a_full_file_system_below_takes_nothing_from_the_trash(self) -> None:
        """What lies in the trash is on another one, so it makes no room there."""
        (self.scene.root / "disk").mkdir()
        mount = f'mount -t tmpfs -o size=16k none "{self.scene.root}/disk" && exec "$0" "$@"'
        server = self.start(*TRASH, prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        self.put(client, "a", b"kept")
        self.delete(client, "/a")
        self.assertEqual(self.put(client, "disk/b", bytes(60_000)).status, 507)
        self.assertEqual(self.paths(self.http(server)), ["/a"])

    @unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
    def test_the_oldest_makes_room_for_an_upload(self) -> None:
        mount = f'mount -t tmpfs -o size=16m none "{self.scene.root}" && exec "$0" "$@"'
        server = self.start(*TRASH, prefix=[*NAMESPACES, "sh", "-c", mount])
        client = self.http(server)
        body = random.randbytes(4 << 20)
        for name in ("a", "b", "c"):
            self.put(client, name, body)
            self.delete(client, f"/{name}")
        # What is only announced takes nothing from the trash, and what cannot fit is refused.
        huge = self.http(server).ask("/huge", f"Content-Length: {17 << 20}", method="PUT")
        self.assertEqual(huge.status, 507)
        self.assertEqual(self.paths(client), ["/c", "/b", "/a"])
        self.assertEqual(self.put(client, "d", body + body[: 1 << 20]).status, 201)
        self.assertEqual(self.paths(client), ["/c", "/b"])
        self.assertEqual(client.ask("/d").body, body + body[: 1 << 20])
        self.delete(client, "/d")
        self.assertEqual(self.paths(client), ["/d", "/c", "/b"])
        parts = ("Upload-Complete: ?1",)
        answer = client.ask("/-/parts/e", *parts, method="POST", body=body + body[: 1 << 20])
        self.assertEqual((answer.status, self.paths(client)), (201, ["/d", "/c"]))

    @unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
    def test_another_spelling_does_not_lead_into_it(self) -> None:
        """Here a mount has it, as short names do on FAT."""
        names = ("TURNST~1", "\u212aept")
        binds = "".join(
            f'mount --bind "{self.scene.root}/{FOLDER}" "{self.scene.root}/{name}" && '
            for name in names
        )
        for name in (*names, FOLDER):
            (self.scene.root / name).mkdir()
        server = self.start(*TRASH, prefix=[*NAMESPACES, "sh", "-c", f'{binds}exec "$0" "$@"'])
        client = self.http(server)
        self.put(client, "a", b"gone")
        self.delete(client, "/a")
        kept = listed(client)[0]["id"]
        for name in map(quote, names):
            for method, path in (
                ("GET", f"/{name}/"),
                ("GET", f"/{name}/{kept}"),
                ("DELETE", f"/{name}/"),
                ("DELETE", f"/{name}/{kept}"),
            ):
                answer = self.http(server).ask(path, method=method)
                self.assertEqual(answer.status, 404, (method, path))
            self.assertEqual(self.put(self.http(server), f"{name}/x", b"x").status, 409)
        self.assertEqual(self.paths(client), ["/a"])


RIGHTS = """\
amy  /            read write
bob  /            read
bob  /own         read write
cid  /own         read write
cid  /own/secret  none
*    /home/%u     read write
"""


class RightsTest(SceneTest):
    def test_the_rights_of_the_old_path_count(self) -> None:
        rights = self.scene.folder / "rights"
        rights.write_text(RIGHTS)
        authserver = self.scene.authserver("--password-scheme", "plain")
        users = ("amy", "bob", "cid")
        for user in users:
            create_account(authserver, user)
        flags = (*FLAG, "--uploads", "folder", *TRASH, "--rights", rights)
        server = self.scene.fileserver(authserver, *flags)
        clients = {user: self.scene.keep(HttpClient(server, user, "wonderland")) for user in users}
        for name in ("top", "own/file", "own/secret/file", "own/folder/file"):
            self.scene.write(name, b"x")
        for path in ("/top", "/own/file", "/own/secret/file", "/own/folder/", "/own/secret/"):
            self.assertEqual(clients["amy"].ask(path, method="DELETE").status, 204)
        kept = {one["path"]: one["id"] for one in listed(clients["amy"])}
        everything = ["/own/secret", "/own/folder", "/own/secret/file", "/own/file", "/top"]
        self.assertEqual(list(kept), everything)
        seen = {user: [one["path"] for one in listed(clients[user])] for user in users}
        self.assertEqual(seen["bob"], everything[:-1])
        self.assertEqual(seen["cid"], ["/own/folder", "/own/file"])
        for method in ("POST", "DELETE"):
            self.assertEqual(act(clients["bob"], method, kept["/top"]), 403)
            for path in ("/own/secret", "/own/secret/file", "/top"):
                self.assertEqual(act(clients["cid"], method, kept[path]), 404, path)
        self.assertEqual(act(clients["cid"], "POST", kept["/own/folder"]), 204)
        self.assertEqual(act(clients["bob"], "DELETE", kept["/own/file"]), 204)
        self.assertEqual(act(clients["amy"], "POST", kept["/top"]), 204)
        # The home of a former user opens to nobody who takes the name.
        self.scene.write("home/eve/file", b"x")
        self.assertEqual(clients["amy"].ask("/home/eve/", method="DELETE").status, 204)
        eve = json.dumps({"user": "eve", "password": "secret"}).encode()
        stranger = self.scene.keep(HttpClient(server))
        self.assertEqual(stranger.ask("/-/accounts", method="POST", body=eve).status, 403)
        home = listed(clients["amy"])[0]["id"]
        self.assertEqual(act(clients["amy"], "DELETE", home), 204)
        self.assertEqual(stranger.ask("/-/accounts", method="POST", body=eve).status, 201)


class UsageTest(SceneTest):
    def test_it_needs_what_it_keeps(self) -> None:
        for flags, named in (((), "--uploads"), (("--uploads", "folder"), "--http-listen")):
            done = run("fileserver", "--root", self.scene.root, *TRASH, *flags)
            self.assertEqual(done.returncode, 2)
            self.assertIn(named, done.stderr)

    def test_a_folder_that_cannot_be_it(self) -> None:
        (self.scene.root / FOLDER).write_bytes(b"a file")
        flags = ("--listen", "0", "--http-listen", "0", "--uploads", "folder")
        done = run("fileserver", "--root", self.scene.root, *TRASH, *flags)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--trash cannot be used", done.stderr.splitlines()[-1])
