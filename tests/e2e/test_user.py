"""--user, and the rights that every server gives up: who it runs as, and that it cannot go back."""

import os
import pwd
import unittest
from pathlib import Path

import servers
from processes import children
from programs import Program, run
from scene import SceneTest, for_each

USER = "nobody"
IS_ROOT = os.geteuid() == 0
ROOT_ONLY = "only root can start a server as another user"


def statuses(server: Program) -> list[dict[str, str]]:
    """What /proc says about each thread of the server and of its children."""
    return [
        dict(line.split(":\t", 1) for line in path.read_text().splitlines() if ":\t" in line)
        for pid in (server.pid, *children(server.pid))
        for path in Path(f"/proc/{pid}/task").glob("*/status")
    ]


class UserTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.scene.folder.chmod(0o711)  # another user must get to the files
        self.put_accounts_into("accounts-of-user")

    def put_accounts_into(self, folder: str) -> None:
        """From now on the accounts are in a new folder, which belongs to USER."""
        self.scene.accounts = self.scene.folder / folder / "accounts.db"
        self.scene.accounts.parent.mkdir()
        if IS_ROOT:
            os.chown(self.scene.accounts.parent, pwd.getpwnam(USER).pw_uid, -1)

    @for_each(servers.KINDS)
    def test_no_server_can_get_more_rights(self, kind: str) -> None:
        server = servers.start(self.scene, kind)
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")
        self.assertEqual({status["NoNewPrivs"] for status in statuses(server)}, {"1"})

    @unittest.skipUnless(IS_ROOT, ROOT_ONLY)
    def test_root_becomes_the_user_in_each_thread_and_process(self) -> None:
        user = pwd.getpwnam(USER)
        groups = set(os.getgrouplist(USER, user.pw_gid))
        for kind in servers.KINDS:
            for name in (USER, user.pw_uid):
                with self.subTest(kind=kind, name=name):
                    self.put_accounts_into(f"{kind} {name}")
                    server = servers.start(self.scene, kind, "--user", name)
                    self.assertEqual(self.scene.client(server).ask("ping"), "OK")
                    self.assertNotIn("runs as root", server.log())
                    for status in statuses(server):
                        self.assertEqual(status["Uid"].split(), [str(user.pw_uid)] * 4)
                        self.assertEqual(status["Gid"].split(), [str(user.pw_gid)] * 4)
                        self.assertEqual(set(map(int, status["Groups"].split())), groups)
                        for rights in ("CapPrm", "CapEff", "CapInh"):
                            self.assertEqual(int(status[rights], 16), 0)
                    self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(IS_ROOT, ROOT_ONLY)
    def test_everything_works_as_another_user(self) -> None:
        self.scene.write("a", b"content")
        authserver = self.scene.authserver_of_alice("--user", USER)
        self.assertEqual(self.scene.accounts.owner(), USER)
        for mode in ("prefetch", "disk"):
            fileserver = self.scene.fileserver(authserver, "--files", mode, "--user", USER)
            client = self.scene.client(fileserver)
            lines = [b"get:alice:wonderland", b"a"]
            self.assertEqual(client.ask_all(lines), ["OK", b"content"])

    @unittest.skipUnless(IS_ROOT, ROOT_ONLY)
    def test_the_user_cannot_read_what_only_root_can(self) -> None:
        authserver = self.scene.authserver_of_alice()
        self.scene.write("a", b"content").chmod(0o600)
        for mode in ("prefetch", "disk"):
            fileserver = self.scene.fileserver(authserver, "--files", mode, "--user", USER)
            client = self.scene.client(fileserver)
            lines = [b"get:alice:wonderland", b"a"]
            self.assertEqual(client.ask_all(lines), ["OK", "not-found"])

    @unittest.skipUnless(IS_ROOT, ROOT_ONLY)
    def test_an_address_that_only_root_can_bind_is_bound_first(self) -> None:
        host = f"127.9.{os.getpid() >> 8 & 127}.{os.getpid() & 127 | 1}"
        for program in ("authserver", "fileserver"):
            own = ("--sqlite-path", self.scene.accounts) if program == "authserver" else ()
            flags = (*own, "--listen", f"{host}:81", "--user", USER)
            root = ("--root", self.scene.root) if program == "fileserver" else ()
            server = self.scene.start(program, [*flags, *root])
            self.assertEqual(server.address, (host, 81))
            self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(IS_ROOT, "only root is warned")
    def test_a_server_that_runs_as_root_says_so_unless_that_is_wanted(self) -> None:
        words = "the server runs as root"
        for kind in servers.KINDS:
            with self.subTest(kind):
                self.assertEqual(servers.start(self.scene, kind).log().count(words), 1)
                wanted = servers.start(self.scene, kind, "--user", "root")
                self.assertNotIn(words, wanted.log())

    def test_a_user_that_does_not_exist_or_that_it_may_not_become(self) -> None:
        names = ["no-such-user", "-1", *([] if IS_ROOT else ["root"])]
        for program in ("authserver", "fileserver"):
            for name in names:
                with self.subTest(program=program, name=name):
                    ended = run(program, "--listen", "127.0.0.1:0", f"--user={name}")
                    self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
                    self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
                    self.assertIn(f"run as user {name}: ", ended.stderr)
