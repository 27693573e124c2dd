"""The owner of the host lists the locks of WebDAV and ends them: --locks-of, scripts/accounts."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from dav_client import lock, token_of
from lock_scene import OTHER, LocksScene
from needs import missing
from processes import open_files
from programs import BUILD, SANITIZED, Program, environment
from scene import SceneTest, with_loops
from upload_scene import FOLDER, USER
from waiting import LONG_S

ACCOUNTS = Path(__file__).parents[2] / "scripts" / "accounts"
PROGRAM = BUILD / "fileserver"
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
ROOT_ONLY = "only root can be another user"
# Asks as another user, who may not be able to start a Python, and prints the answer.
STRANGER = """
import os, socket, sys
os.setuid(int(sys.argv[2]))
with socket.socket(socket.AF_UNIX) as server:
    server.connect("\\0" + sys.argv[1])
    server.settimeout(60)
    try:
        server.sendall(b"list\\n")
        print(server.recv(1000))
    except ConnectionError:
        print(b"")
"""


def told(*command: object) -> tuple[int, str, str]:
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        env=environment(),
        timeout=2 * LONG_S,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def services(server: Program) -> list[str]:
    """The abstract names on which this process listens."""
    sockets = (link for link in open_files(server.pid) if link.startswith("socket:"))
    inodes = {link.removeprefix("socket:[").removesuffix("]") for link in sockets}
    lines = Path("/proc/net/unix").read_text().splitlines()
    rows = [line.split() for line in lines if line.count(" @turnstile-fileserver-") == 1]
    return [row[7][1:] for row in rows if row[6] in inodes and row[3] == "00010000"]


def tcp_listeners(server: Program) -> int:
    """How many ports the process has."""
    inodes = open_files(server.pid)
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[3] == "0A" and f"socket:[{row[9]}]" in inodes for row in rows)


@with_loops
class LocksOfHostTest(LocksScene):
    def locks(self, *flags: object) -> tuple[int, str, str]:
        return told(PROGRAM, "--locks-of", self.server.pid, *flags)

    def test_each_lock_is_a_line(self) -> None:
        token = self.lock("a", "Depth: 0", "Timeout: Second-600")
        self.write("b c/d", b"")
        shared = token_of(lock(self.bob, self.at("b%20c/"), scope="shared"))
        status, lines, said = self.locks()
        self.assertEqual((status, said), (0, ""))
        mine = [line for line in lines.splitlines() if self.at() in line]
        left = "(600|599|59[0-8])"
        self.assertRegex(
            mine[0], f"^{token}  exclusive  0          {left} s  {USER[0]}  {self.at('a')}$"
        )
        self.assertRegex(
            mine[1], f"^{shared}  shared     infinity  3[56].. s  {OTHER[0]}  {self.at('b c/')}$"
        )
        self.assertEqual(len(mine), 2)

    def test_a_lock_is_ended_by_its_token(self) -> None:
        token = self.lock("a")
        self.assertEqual(self.put("a").status, 423)
        status, lines, said = self.locks("--end-lock", token)
        self.assertEqual((status, said), (0, ""))
        self.assertTrue(lines.startswith(token))
        self.assertEqual(self.put("a").status, 204)
        self.assertEqual(self.put("a", f"If: (<{token}>)").status, 412)
        path = self.at("a")
        self.assertIn(
            f'the owner of the host has ended a lock user={USER[0]} path="{path}"',
            self.server.log(),
        )
        none = f"fileserver: there is no such lock: {token}\n"
        self.assertEqual(self.locks("--end-lock", token), (1, "", none))

    def test_all_locks_of_a_path_are_ended(self) -> None:
        self.write("dir/b", b"")
        for client in (self.amy, self.bob):
            self.assertEqual(lock(client, self.at("dir/"), scope="shared").status, 200)
        self.assertEqual(lock(self.bob, self.at("a")).status, 200)
        self.assertEqual(self.put("dir/b").status, 423)
        status, lines, _ = self.locks("--end-lock", self.at("dir"))
        self.assertEqual((status, lines.count("\n")), (0, 2))
        self.assertEqual(self.put("dir/b").status, 204)
        self.assertEqual(self.put("a").status, 423)
        status, lines, said = self.locks("--end-lock", self.at("dir"))
        self.assertEqual((status, lines), (1, ""))
        self.assertIn("there is no such lock", said)

    def test_another_process_has_none(self) -> None:
        none = f"fileserver: no fileserver with locks has the process id {os.getpid()}\n"
        self.assertEqual(told(PROGRAM, "--locks-of", os.getpid()), (1, "", none))

    def test_of_several_fileservers_one_must_be_named(self) -> None:
        other = self.scene.fileserver(self.authserver, *FOLDER)
        self.lock("a")
        status, lines, said = told(PROGRAM, "--locks-of=-")
        self.assertEqual((status, lines, said.count("\n")), (1, "", 1))
        self.assertIn("several fileservers run here", said)
        for server in (self.server, other):
            self.assertRegex(said, rf"\b{server.pid} \(user \S+: .*fileserver")
        self.assertNotIn(self.at("a"), told(PROGRAM, "--locks-of", other.pid)[1])
        self.assertEqual(other.stop(), 0)

    @unittest.skipUnless(IS_ROOT, ROOT_ONLY)
    def test_another_user_is_told_nothing(self) -> None:
        self.lock("a")
        (name,) = services(self.server)
        asked = [sys.executable, "-c", STRANGER, name]
        for user, pattern in ((NOBODY, rb"b''"), (0, rb"b'urn:uuid:.*'")):
            with self.subTest(user):
                answer = subprocess.run([*asked, str(user)], capture_output=True, check=True).stdout
                self.assertRegex(answer, b"^" + pattern + b"\n$")

    @unittest.skipUnless(IS_ROOT, ROOT_ONLY)
    @unittest.skipIf(missing("setpriv"), missing("setpriv"))
    def test_another_user_is_told_why(self) -> None:
        as_nobody = ("setpriv", "--reuid", str(NOBODY), "--clear-groups")
        status, lines, said = told(*as_nobody, PROGRAM, "--locks-of", self.server.pid)
        self.assertEqual((status, lines), (1, ""))
        self.assertIn(f"only its user and root may ask for the locks of {self.server.pid} ", said)

    def test_it_is_no_port(self) -> None:
        self.assertEqual(len(services(self.server)), 1)
        self.assertEqual(tcp_listeners(self.server), 2)  # --listen and --http-listen


@unittest.skipIf(SANITIZED, "scripts/accounts starts the programs of the usual build")
class AccountsTest(LocksScene):
    def test_it_lists_and_ends_locks(self) -> None:
        token = self.lock("a")
        of_server = ("--pid", self.server.pid)
        status, lines, said = told(ACCOUNTS, "locks", *of_server)
        self.assertEqual((status, said), (0, ""))
        self.assertIn(f"{token}  exclusive  infinity", lines)
        status, lines, said = told(ACCOUNTS, "locks", "end", self.at("a"), *of_server)
        self.assertEqual((status, said, lines.count("\n")), (0, "", 1))
        self.assertEqual(self.put("a").status, 204)
        joined = (f"--pid={self.server.pid}", "end", token)
        none = f"fileserver: there is no such lock: {token}\n"
        self.assertEqual(told(ACCOUNTS, "locks", *joined), (1, "", none))

    def test_what_is_no_lock_is_wrong_usage(self) -> None:
        for words in (("end",), ("end", "a"), ("list",), ("--pid", "x"), ("--pid",), ("--pid=0",)):
            with self.subTest(words):
                status, lines, said = told(ACCOUNTS, "locks", *words)
                self.assertEqual((status, lines), (2, ""))
                self.assertEqual(said.count("\n"), 1, said)


class OneServerTest(SceneTest):
    """A server in a network of its own, whose names no other test has."""

    def setUp(self) -> None:
        reason = missing("unshare", "nsenter")
        tried = reason or subprocess.run(["unshare", "--net", "true"], capture_output=True).stderr
        if tried:
            self.skipTest(str(tried))
        super().setUp()

    def start(self, *flags: object) -> Program:
        sockets = [f"unix:{self.scene.folder}/{name}" for name in ("native", "http", "auth")]
        listen = ("--root", self.scene.root, "--listen", sockets[0], "--auth", sockets[2])
        http = ("--http-listen", sockets[1])
        return self.scene.start("fileserver", [*listen, *http, *flags], prefix=("unshare", "--net"))

    def test_the_only_fileserver_need_not_be_named(self) -> None:
        server = self.start("--uploads", "folder")
        inside = ("nsenter", "--net", "--target", server.pid, PROGRAM)
        none = (0, "", "fileserver: there are no locks\n")
        self.assertEqual(told(*inside, "--locks-of=-"), none)
        no_such = (1, "", "fileserver: there is no such lock: /a\n")
        self.assertEqual(told(*inside, "--end-lock", "/a"), no_such)

    def test_a_fileserver_without_uploads_has_no_locks(self) -> None:
        server = self.start()
        none = "no fileserver with --http-listen and --uploads folder runs on this host"
        asked = told("nsenter", "--net", "--target", server.pid, PROGRAM, "--locks-of=-")
        self.assertEqual(asked, (1, "", f"fileserver: {none}\n"))
