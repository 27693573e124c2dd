"""Prefetched files of a file system that is mounted in the served folder, and unmounted."""

import shutil
import subprocess
import unittest
from pathlib import Path

from client import grant
from prefetch_scene import SOON_S
from scene import SceneTest, create_account
from waiting import eventually

_NAMESPACES = ["unshare", "--user", "--map-root-user", "--mount"]


def with_mounted(folder: Path) -> list[str]:
    """A command prefix: a mount namespace in which a file `a` is mounted in the folder."""
    mount = f'mount -t tmpfs none "{folder}" && echo mounted > "{folder}/a" && exec "$0" "$@"'
    return [*_NAMESPACES, "sh", "-c", mount]


def unmount(pid: int, folder: Path) -> None:
    enter = ["nsenter", "--user", "--mount", "--preserve-credentials", f"--target={pid}"]
    subprocess.run([*enter, "umount", str(folder)], check=True)


def why_no_mounts() -> str | None:
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return "there is no unshare or nsenter"
    probe = subprocess.run(
        [*_NAMESPACES, "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True, text=True
    )
    return None if probe.returncode == 0 else f"no mount namespace: {probe.stderr.strip()}"


@unittest.skipIf(why_no_mounts(), why_no_mounts() or "")
class PrefetchMountsTest(SceneTest):
    def test_files_are_gone_when_they_are_unmounted_and_those_below_are_served(self) -> None:
        self.scene.write("sub/below", b"below")
        folder = self.scene.root / "sub"
        authserver = self.scene.authserver()
        create_account(authserver)
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


if __name__ == "__main__":
    unittest.main()
