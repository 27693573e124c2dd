"""Prefetched files of a file system that is mounted in the served folder, and unmounted."""

import subprocess
import unittest
from pathlib import Path

from client import Client, grant
from mount_namespace import NAMESPACES, why_no_mounts
from prefetch_scene import SOON_S
from scene import SceneTest
from waiting import eventually


def with_mounted(folder: Path) -> list[str]:
    """A command prefix: a mount namespace in which a file `a` is mounted in the folder."""
    mount = f'mount -t tmpfs none "{folder}" && echo mounted > "{folder}/a" && exec "$0" "$@"'
    return [*NAMESPACES, "sh", "-c", mount]


def in_namespace_of(pid: int, script: str, *arguments: Path) -> None:
    """Runs a shell script in the mount namespace of the server, with these as $1 and so on."""
    done = run_in_namespace_of(pid, script, *arguments)
    assert done.returncode == 0, done.stderr


def run_in_namespace_of(
    pid: int, script: str, *arguments: Path
) -> subprocess.CompletedProcess[str]:
    enter = ["nsenter", "--user", "--mount", "--preserve-credentials", f"--target={pid}"]
    command = [*enter, "sh", "-ec", script, "sh", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def unmount(pid: int, path: Path) -> None:
    """It fails as long as the server has a file open there, which it may be reading just now."""
    eventually(
        lambda: run_in_namespace_of(pid, 'umount "$1"', path).returncode == 0,
        f"{path} is unmounted",
    )


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class PrefetchMountsTest(SceneTest):
    def test_files_are_gone_when_they_are_unmounted_and_those_below_are_served(self) -> None:
        self.scene.write("sub/below", b"below")
        folder = self.scene.root / "sub"
        authserver = self.scene.authserver_of_alice()
        fileserver = self.scene.fileserver(authserver, prefix=with_mounted(folder))
        client = self.scene.client(fileserver)
        grant(client)
        self.assertEqual(client.ask_all([b"sub/a", b"sub/below"]), [b"mounted\n", "not-found"])
        unmount(fileserver.pid, folder)
        for name, reply in {"sub/a": "not-found", "sub/below": b"below"}.items():
            eventually(lambda: client.ask(name) == reply, f"{name} is {reply!r}", within_s=SOON_S)
        self.scene.write("sub/below", b"changed")
        eventually(
            lambda: client.ask("sub/below") == b"changed", "a change is seen", within_s=SOON_S
        )

    def served(self) -> tuple[int, Client]:
        """The process of a server that starts in a mount namespace of its own, and a client."""
        authserver = self.scene.authserver_of_alice()
        fileserver = self.scene.fileserver(authserver, prefix=NAMESPACES)
        client = self.scene.client(fileserver)
        grant(client)
        return fileserver.pid, client

    def assert_soon(self, client: Client, expected: dict[str, bytes | str]) -> None:
        for name, reply in expected.items():
            eventually(lambda: client.ask(name) == reply, f"{name} is {reply!r}", within_s=SOON_S)

    def test_what_is_mounted_over_a_folder_is_served_until_it_is_unmounted(self) -> None:
        self.scene.write("a sub/a", b"below")
        self.scene.write("a sub/below", b"below")
        folder = self.scene.root / "a sub"
        pid, client = self.served()
        below: dict[str, bytes | str] = {"a sub/a": b"below", "a sub/below": b"below"}
        for _ in range(2):
            self.assert_soon(client, below)
            mount = 'mount -t tmpfs none "$1"; echo mounted > "$1/a"'
            in_namespace_of(pid, mount, folder)
            self.assert_soon(client, {"a sub/a": b"mounted\n", "a sub/below": "not-found"})
            in_namespace_of(pid, 'echo changed > "$1/a"', folder)
            self.assert_soon(client, {"a sub/a": b"changed\n"})
            unmount(pid, folder)
        self.assert_soon(client, below)

    def test_what_is_mounted_over_a_file_is_served_until_it_is_unmounted(self) -> None:
        file = self.scene.write("a", b"below")
        other = self.scene.folder / "other"
        other.write_bytes(b"mounted")
        pid, client = self.served()
        for _ in range(2):
            self.assert_soon(client, {"a": b"below"})
            in_namespace_of(pid, 'mount --bind "$1" "$2"', other, file)
            self.assert_soon(client, {"a": b"mounted"})
            unmount(pid, file)
        self.assert_soon(client, {"a": b"below"})

    def test_changes_are_seen_in_a_folder_that_was_mounted_in_two_places(self) -> None:
        self.scene.write("one/a", b"first")
        self.scene.write("two/b", b"below")
        one, two = self.scene.root / "one", self.scene.root / "two"
        pid, client = self.served()
        in_namespace_of(pid, 'mount --bind "$1" "$2"', one, two)
        self.assert_soon(client, {"two/a": b"first", "two/b": "not-found"})
        unmount(pid, two)
        self.assert_soon(client, {"two/a": "not-found", "two/b": b"below"})
        self.scene.write("one/a", b"second")
        self.assert_soon(client, {"one/a": b"second"})
        (one / "a").unlink()
        self.assert_soon(client, {"one/a": "not-found"})
