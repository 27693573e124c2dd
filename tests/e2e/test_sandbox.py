"""--sandbox: what somebody who has taken over a running server can still do.

A library that is loaded into the server plays the attacker (hijack.cpp).
"""

import contextlib
import ctypes
import os
import re
import socket
import subprocess
import unittest
from pathlib import Path

import servers
from client import Client
from programs import SANITIZED, Program
from scene import Scene, SceneTest, for_each
from waiting import LONG_S, eventually

_CREATE_RULESET, _ASK_VERSION = 444, 1  # the same number on all architectures
_MAKE_RING, _PARAMETERS = 425, 120  # io_uring_setup(), and the size of what it is given
FILES_ONLY, WITH_TCP = 1, 4  # versions of the kernel's interface


def sandbox_version() -> int:
    """What the kernel can do; 0 when it has no Landlock, or a container forbids it."""
    return max(0, ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _ASK_VERSION))


def ways_past_connect() -> list[str]:
    """What this kernel has of the ways to a server that do not call connect() of plain TCP."""
    ways = []
    if int(Path("/proc/sys/net/ipv4/tcp_fastopen").read_text()) & 1:
        ways.append("fast_open")
    with contextlib.suppress(OSError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_MPTCP).close()
        ways.append("multipath")
    return ways


def other_ways(file: Path) -> list[str]:
    """What this kernel and the file system of this file have besides."""
    ways = []
    ring = ctypes.CDLL(None).syscall(_MAKE_RING, 1, ctypes.create_string_buffer(_PARAMETERS))
    if ring >= 0:
        os.close(ring)
        ways.append("ring")
    with contextlib.suppress(OSError):
        os.setxattr(file, "user.probe", b"x")
        ways.append(f"attribute-{file}")
    return ways


def why_not_hijacked() -> str | None:
    if SANITIZED:
        return "a sanitizer must be the first library that is loaded"
    return None if sandbox_version() >= FILES_ONLY else "the kernel has no Landlock here"


class Attacker:
    """Takes over the servers that are started with its environment()."""

    def __init__(self, scene: Scene) -> None:
        self.library = scene.folder / "hijack.so"
        command = [os.environ.get("CXX", "g++").split()[-1], "-std=c++20", "-shared", "-fPIC"]
        source = Path(__file__).with_name("hijack.cpp")
        subprocess.run([*command, "-o", self.library, source], check=True, timeout=2 * LONG_S)
        self.program = scene.folder / "program"
        build = [command[0], "-x", "c++", "-static", "-o", str(self.program), "-"]
        subprocess.run(build, input=b"int main() {}", check=True, timeout=2 * LONG_S)

    def environment(self, attempts: list[str]) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self.library),
            "HIJACK": " ".join(attempts),
            "HIJACK_PROGRAM": str(self.program),
        }


def succeeded(server: Program, client: Client) -> list[str]:
    """What the attacker could do once the server has accepted a connection."""
    assert client.ask("ping") == "OK"
    eventually(lambda: "hijacked all=tried" in server.log(), "everything was tried")
    return re.findall(r"^hijacked (\S+)=yes$", server.log(), re.MULTILINE)


@unittest.skipIf(why_not_hijacked(), why_not_hijacked() or "")
class HijackedTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.attacker = Attacker(self.scene).environment
        self.file = self.scene.write("a", b"content")
        self.elsewhere = self.scene.keep(socket.create_server(("127.0.0.1", 0)))
        # What no server needs. Without a sandbox each of these succeeds.
        self.never = [
            "read-/etc/passwd",
            f"write-{self.scene.folder}/elsewhere",
            f"write-{self.scene.root}/a",
            f"write-{self.scene.root}/new",
            "execute",
            "execute_memory",
            f"mode-{self.file}",
            f"mode_of_open-{self.file}",
            f"owner-{self.file}",
            f"times-{self.file}",
            "listen",
            f"socket-{socket.AF_NETLINK}",
            f"socket-{socket.AF_INET}",  # with datagrams
            *other_ways(self.file),
        ]
        port = self.elsewhere.getsockname()[1]
        self.never += [f"{way}-{port}" for way in ways_past_connect()]
        if sandbox_version() >= WITH_TCP:
            self.never += [f"connect-{port}", "bind-0"]

    def succeeded(self, server: Program) -> list[str]:
        return succeeded(server, self.scene.client(server))

    def start(self, kind: str, *flags: object, attempts: list[str]) -> Program:
        """A server of this kind. Only it is hijacked, not the authserver behind it."""
        env = self.attacker(attempts)
        if kind.startswith("fileserver"):
            spare = ("--spare-threads", "0") if "without" in kind else ()
            return self.scene.fileserver(self.scene.authserver(), *spare, *flags, env=env)
        return servers.start(self.scene, kind, *flags, env=env)

    def put_accounts_apart(self) -> None:
        self.scene.accounts = self.scene.folder / "db" / "accounts.db"
        self.scene.accounts.parent.mkdir(exist_ok=True)

    @for_each(servers.KINDS)
    def test_without_a_sandbox_the_attacker_can_do_all_of_it(self, kind: str) -> None:
        self.put_accounts_apart()
        server = self.start(kind, "--sandbox", "off", attempts=self.never)
        self.assertEqual(self.succeeded(server), self.never)
        self.assertIn('there is no sandbox reason="--sandbox off"', server.log())

    @for_each(servers.KINDS)
    def test_in_the_sandbox_the_attacker_can_do_nothing_of_it(self, kind: str) -> None:
        self.put_accounts_apart()
        server = self.start(kind, attempts=self.never)
        self.assertEqual(self.succeeded(server), [])
        self.assertIn("sandbox restricts=", server.log())
        self.assertNotIn("there is no sandbox", server.log())

    def test_the_fileserver_reaches_its_files_and_its_authserver(self) -> None:
        authserver = self.scene.authserver()
        wanted = [
            f"read-{self.file}",
            f"read-{self.scene.root}",
            f"connect-{authserver.address[1]}",
        ]
        for sandbox in ("on", "strict"):
            server = self.scene.fileserver(
                authserver, "--sandbox", sandbox, env=self.attacker(wanted)
            )
            self.assertEqual(self.succeeded(server), wanted)

    def test_a_strict_sandbox_hides_what_is_beside_the_served_folder(self) -> None:
        beside = f"read-{self.scene.accounts}"
        authserver = self.scene.authserver()
        for sandbox, can_read in (("on", [beside]), ("strict", [])):
            server = self.scene.fileserver(
                authserver, "--sandbox", sandbox, env=self.attacker([beside])
            )
            self.assertEqual(self.succeeded(server), can_read)

    @for_each(servers.AUTHSERVER_KINDS)
    def test_the_authserver_reaches_the_folder_of_its_accounts_alone(self, kind: str) -> None:
        self.put_accounts_apart()
        beside = self.scene.accounts.parent / "beside"
        wanted = [f"read-{self.scene.accounts}", f"write-{beside}"]
        server = self.start(kind, attempts=[*wanted, f"read-{self.file}"])
        self.assertEqual(self.succeeded(server), wanted)


class SandboxTest(SceneTest):
    def test_everything_works_in_a_strict_sandbox(self) -> None:
        self.scene.write("sub/a", b"content")
        (self.scene.root / "link").symlink_to("sub/a")
        authserver = self.scene.authserver_of_alice()
        for mode in ("prefetch", "disk"):
            server = self.scene.fileserver(authserver, "--files", mode, "--sandbox", "strict")
            client = self.scene.client(server)
            lines = [b"get:alice:wonderland", b"sub/a", b"link", b"missing"]
            self.assertEqual(client.ask_all(lines), ["OK", b"content", b"content", "not-found"])
            new = self.scene.write(f"{mode}/new", b"new")
            eventually(lambda: client.ask(f"{mode}/new") == b"new", "a new folder is followed")
            new.write_bytes(b"changed")
            eventually(lambda: client.ask(f"{mode}/new") == b"changed", "a change is followed")

    def test_a_served_folder_that_is_renamed_is_served_on(self) -> None:
        self.scene.write("a", b"content")
        authserver = self.scene.authserver_of_alice()
        server = self.scene.fileserver(authserver, "--files", "disk", "--sandbox", "strict")
        client = self.scene.client(server)
        self.assertEqual(client.ask("get:alice:wonderland"), "OK")
        self.scene.root.rename(self.scene.folder / "renamed")
        self.assertEqual(client.ask("a"), b"content")

    def test_an_authserver_with_a_name_is_found(self) -> None:
        authserver = self.scene.authserver()
        server = self.scene.fileserver(f"localhost:{authserver.address[1]}", "--sandbox", "strict")
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")
