"""What is under way ends with its right: a removed account, another password, other rights."""

import functools
import http.client
import signal
import subprocess
import time
from pathlib import Path

from client import Client, grant
from dav_client import lock, lock_info, refresh, token_of
from http_client import FLAG, HttpClient, basic, request
from programs import Program, run
from scene import SceneTest, create_account, with_loops
from waiting import LONG_S, eventually

CHANGES = {"remove": "--remove-account", "password": "--set-password"}
PASSWORD = "wonderland"
USERS = ("amy", "bob", "cid", "dan", "eve")
ALL_MAY_WRITE = "* / read write\n"
_HUNG_DISK = Path(__file__).with_name("hung_disk.c")
_LOOKED_AT_AGAIN_S = 2.1
_FILE_OF_ZIP = 12_000_000  # more than the sockets of a small receive buffer hold


class UnderWayScene(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.rights = self.scene.folder / "rights"
        self.rights.write_text(ALL_MAY_WRITE)
        self.authserver = self.scene.authserver("--password-scheme", "plain")
        for user in USERS:
            create_account(self.authserver, user)
            self.scene.write(f"disk/{user}", b"old")

    def accounts(self, change: str, user: str, password: str = "") -> None:
        """What scripts/accounts does, by the authserver of this build."""
        flags = (CHANGES[change], user, "--sqlite-path", self.scene.accounts)
        ended = run("authserver", *flags, stdin=password)
        self.assertEqual(ended.returncode, 0, ended.stderr)


@with_loops
class UnderWayTest(UnderWayScene):
    def serve(self, *flags: object, **options) -> Program:
        uploads = ("--uploads", "folder", "--rights", self.rights)
        return self.scene.fileserver(self.authserver, *FLAG, *uploads, *flags, **options)

    def client_of(self, server: Program, user: str) -> HttpClient:
        return self.scene.keep(HttpClient(server, user, PASSWORD))

    def change_rights(self, server: Program, rights: str) -> None:
        words = "the rights were read again"
        before = server.log().count(words)
        self.rights.write_text(rights)
        server.signal(signal.SIGHUP)
        eventually(lambda: server.log().count(words) == before + 1, words)

    def take_rights(self, server: Program) -> dict[str, int]:
        """Returns what each user is answered from now on. Those of eve stay."""
        self.accounts("remove", "amy")
        self.accounts("password", "bob", password="another\n")
        self.change_rights(server, f"cid / read\ndan / none\n{ALL_MAY_WRITE}")
        return {"amy": 401, "bob": 401, "cid": 403, "dan": 404}

    def test_an_upload_ends_with_the_right_to_publish_it(self) -> None:
        server = self.serve()
        clients = {user: self.client_of(server, user) for user in USERS}
        for user, client in clients.items():
            fields = (*client._credentials, "Content-Length: 6")
            client.send(request(f"/disk/{user}", *fields, method="PUT", body=b"new"))
        expected = self.take_rights(server)
        time.sleep(_LOOKED_AT_AGAIN_S)
        for user, client in clients.items():
            with self.subTest(user):
                client.send(b"er!")
                self.assertEqual(client.answer("PUT").status, expected.get(user, 204))
                content = b"old" if user in expected else b"newer!"
                self.assertEqual((self.scene.root / "disk" / user).read_bytes(), content)

    def test_a_lock_of_a_new_name_ends_with_the_right_to_make_it(self) -> None:
        server = self.serve()
        clients = {user: self.client_of(server, user) for user in USERS}
        body = lock_info()
        for user, client in clients.items():
            fields = (*client._credentials, f"Content-Length: {len(body)}")
            client.send(request(f"/disk/{user}-new", *fields, method="LOCK", body=body[:40]))
        expected = self.take_rights(server)
        time.sleep(_LOOKED_AT_AGAIN_S)
        for user, client in clients.items():
            with self.subTest(user):
                client.send(body[40:])
                self.assertEqual(client.answer("LOCK").status, expected.get(user, 201))
                made = self.scene.root / "disk" / f"{user}-new"
                self.assertEqual(made.exists(), user not in expected)

    def test_a_lock_ends_with_the_right_to_write_there(self) -> None:
        server = self.serve()
        amy, eve = self.client_of(server, "amy"), self.client_of(server, "eve")
        for target in ("/disk/amy", "/disk/"):
            self.assertEqual(lock(amy, target, scope="shared").status, 200)
        token_of(lock(eve, "/disk/amy", scope="shared"))
        self.assertEqual(eve.ask("/disk/amy", method="PUT", body=b"new").status, 423)
        self.change_rights(server, f"amy / read\n{ALL_MAY_WRITE}")
        other = self.client_of(server, "eve")

        def shown() -> bytes:
            return other.ask("/disk/amy", "Depth: 0", method="PROPFIND").body

        eventually(lambda: shown().count(b"<D:activelock>") == 1, "those of amy have ended")
        self.assertIn(b"<D:owner>eve<", shown())

    def test_a_lock_by_a_link_stays_while_its_user_may_write_there(self) -> None:
        (self.scene.root / "shared").symlink_to("disk")
        self.rights.write_text("amy /shared read write\neve / read write\n")
        server = self.serve()
        amy, eve = self.client_of(server, "amy"), self.client_of(server, "eve")
        token_of(lock(amy, "/shared/amy"))
        self.change_rights(server, "amy /shared read write\neve / read write\n# again\n")
        self.assertEqual(eve.ask("/disk/amy", method="PUT", body=b"new").status, 423)

    def hung_disk(self) -> tuple[dict[str, str], Path]:
        """An environment, and the file as long as which is there the folder `disk` hangs."""
        mark = self.scene.folder / "hung"
        library = self.scene.folder / "hung_disk.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, _HUNG_DISK, "-ldl"], check=True)
        disk = self.scene.root / "disk"
        hung = {"LD_PRELOAD": str(library), "HUNG_DISK": str(disk), "HUNG_WHILE": str(mark)}
        return hung, mark

    def test_a_copy_replaces_nothing_that_was_locked_while_it_was_made(self) -> None:
        self.scene.write("disk/folder/file", b"copied")
        for name in ("of-bob", "free", "in/of-bob", "tree/of-bob"):
            self.scene.write(f"other/{name}", b"old")
        hung, mark = self.hung_disk()
        copying = Path(f"{mark}.copy")  # it is locked while its bytes are copied
        server = self.serve(env=hung)
        bob = self.client_of(server, "bob")
        copies = {
            "/other/of-bob": ("/disk/amy", 423),
            "/other/free": ("/disk/amy", 204),
            "/other/in/of-bob": ("/disk/amy", 423),  # by the lock of its folder
            "/other/tree/": ("/disk/folder/", 423),  # by that of what is in it
        }
        clients = {target: self.client_of(server, "amy") for target in copies}
        copying.touch()
        for target, client in clients.items():
            fields = (*client._credentials, f"Destination: {target}")
            client.send(request(copies[target][0], *fields, method="COPY"))
        eventually(lambda: server.log().count("the disk hangs") >= len(copies), "all hang")
        for name in ("/other/of-bob", "/other/in/", "/other/tree/of-bob"):
            self.assertEqual(lock(bob, name).status, 200)
        copying.unlink()
        for target, client in clients.items():
            with self.subTest(target):
                self.assertEqual(client.answer("COPY").status, copies[target][1])
        other = self.scene.root / "other"
        for name in ("of-bob", "in/of-bob", "tree/of-bob"):
            self.assertEqual((other / name).read_bytes(), b"old")

    def test_copies_moves_and_removals_that_a_disk_held_up_end_with_their_right(self) -> None:
        hung, mark = self.hung_disk()
        disk = self.scene.root / "disk"
        server = self.serve(env=hung)
        clients = [
            (method, user, self.client_of(server, user))
            for method in ("COPY", "MOVE", "DELETE")
            for user in USERS
        ]
        for method, user, _ in clients:
            self.scene.write(f"disk/{method}-{user}", b"bytes")
        mark.touch()
        for method, user, client in clients:
            destination = f"/disk/{method}-{user}-new"
            fields = (*client._credentials, f"Destination: {destination}")
            client.send(request(f"/disk/{method}-{user}", *fields, method=method))
        self.accounts("remove", "amy")
        of_target = "eve /disk/MOVE-eve-new read\n"
        self.change_rights(server, f"cid / read\ndan / none\n{of_target}{ALL_MAY_WRITE}")
        time.sleep(_LOOKED_AT_AGAIN_S)
        mark.unlink()
        refused = {"amy": 401, "cid": 403, "dan": 404}
        for method, user, client in clients:
            with self.subTest(f"{method} {user}"):
                done = 204 if method == "DELETE" else 201
                status = 403 if (method, user) == ("MOVE", "eve") else refused.get(user, done)
                self.assertEqual(client.answer(method).status, status)
                source, target = disk / f"{method}-{user}", disk / f"{method}-{user}-new"
                is_done = status < 400
                self.assertEqual(source.exists(), not is_done or method == "COPY")
                self.assertEqual(target.exists(), is_done and method != "DELETE")

    def zip_under_way(self, server: Program, user: str) -> http.client.HTTPResponse:
        host, port = server.further_address("http")
        connection = http.client.HTTPConnection(host, port, timeout=LONG_S)
        connection.sock = Client((host, port), 1 << 16).socket
        self.scene.keep(connection)
        connection.request("GET", "/-/zip/zip/", headers={"Authorization": basic(user, PASSWORD)})
        response = connection.getresponse()
        response.read(1)
        return response

    def test_a_zip_is_cut_at_the_next_folder(self) -> None:
        for folder in ("a", "b"):
            self.scene.write(f"zip/{folder}/file", b"x" * _FILE_OF_ZIP)
        server = self.serve("--files", "disk")
        zips = {user: self.zip_under_way(server, user) for user in ("amy", "dan", "eve")}
        self.accounts("remove", "amy")
        self.change_rights(server, f"dan / none\n{ALL_MAY_WRITE}")
        for user in ("amy", "dan"):
            with self.subTest(user), self.assertRaises((http.client.IncompleteRead, OSError)):
                zips[user].read()
        self.assertGreater(len(zips["eve"].read()), 2 * _FILE_OF_ZIP)


class GrantTest(UnderWayScene):
    """Natively the authserver is asked again for a file, after ten seconds at most."""

    def granted(self, server: Program, user: str) -> Client:
        client = self.scene.client(server)
        grant(client, user, PASSWORD)
        self.assertEqual(client.ask("disk/eve"), b"old")
        return client

    def is_denied(self, client: Client) -> bool:
        return client.ask("disk/eve") == "denied"

    def test_a_connection_of_who_was_removed_gets_no_file_after_ten_seconds(self) -> None:
        clients = []
        for model in ("thread", "process", "event"):
            server = self.scene.fileserver(self.authserver, "--model", model)
            clients.append({user: self.granted(server, user) for user in ("amy", "bob", "eve")})
        self.accounts("remove", "amy")
        self.accounts("password", "bob", password="another\n")
        for of_model in clients:
            for user in ("amy", "bob"):
                is_denied = functools.partial(self.is_denied, of_model[user])
                eventually(is_denied, f"{user} is denied", 2 * LONG_S)
        for of_model in clients:
            self.assertEqual(of_model["eve"].ask("disk/eve"), b"old")
            for user in ("amy", "bob"):
                self.assertEqual(of_model[user].ask("disk/eve"), "denied")
            grant(of_model["bob"], "bob", "another")
            self.assertEqual(of_model["bob"].ask("disk/eve"), b"old")


@with_loops
class LocksTest(UnderWayScene):
    """A lock ends with the account of its user."""

    def setUp(self) -> None:
        super().setUp()
        self.server = self.scene.fileserver(self.authserver, *FLAG, "--uploads", "folder")

    def client_of(self, user: str, password: str = PASSWORD) -> HttpClient:
        return self.scene.keep(HttpClient(self.server, user, password))

    def put(self, user: str, name: str) -> int:
        return self.client_of(user).ask(name, method="PUT", body=b"new").status

    def test_a_lock_of_who_was_removed_does_not_count(self) -> None:
        amy, bob = self.client_of("amy"), self.client_of("bob")
        for name in ("/disk/eve", "/disk/cid", "/disk/dan"):
            self.assertEqual(lock(amy, name).status, 200)
        self.assertEqual(self.put("bob", "/disk/eve"), 423)
        self.assertEqual(lock(bob, "/disk/cid").status, 423)
        self.accounts("remove", "amy")
        eventually(lambda: self.put("bob", "/disk/eve") == 204, "the lock is gone")
        self.assertEqual(lock(bob, "/disk/cid").status, 200)
        shown = bob.ask("/disk/dan", "Depth: 0", method="PROPFIND")
        self.assertNotIn(b"activelock", shown.body)

    def test_a_lock_by_a_session_ends_with_it(self) -> None:
        told = b'{"user": "amy", "password": "%s"}' % PASSWORD.encode()
        amy = self.scene.keep(HttpClient(self.server))
        made = amy.ask("/-/session", method="POST", body=told)
        cookie = "Cookie: " + made.fields["set-cookie"].partition(";")[0]
        ours = (cookie, "Sec-Fetch-Site: same-origin")
        self.assertEqual(lock(amy, "/disk/eve", *ours).status, 200)
        time.sleep(2.1)  # from now on the next one in the way asks for the session
        self.assertEqual(self.put("bob", "/disk/eve"), 423)
        self.accounts("remove", "amy")
        eventually(lambda: self.put("bob", "/disk/eve") == 204, "the lock is gone")

    def test_no_listing_shows_a_lock_of_who_was_removed(self) -> None:
        self.assertEqual(lock(self.client_of("amy"), "/disk/eve").status, 200)
        bob = self.client_of("bob")
        self.assertIn(b"<D:owner>amy<", bob.ask("/disk/eve", "Depth: 0", method="PROPFIND").body)
        self.accounts("remove", "amy")

        def is_gone() -> bool:
            shown = bob.ask("/disk/eve", "Depth: 0", method="PROPFIND").body
            return b"activelock" not in shown

        eventually(is_gone, "the lock is gone")

    def test_who_uses_a_new_password_keeps_the_locks(self) -> None:
        token = token_of(lock(self.client_of("amy"), "/disk/eve"))
        self.accounts("password", "amy", password="another\n")
        amy = self.client_of("amy", "another")
        self.assertEqual(refresh(amy, "/disk/eve", f"If: (<{token}>)").status, 200)
        self.assertEqual(self.put("bob", "/disk/eve"), 423)
