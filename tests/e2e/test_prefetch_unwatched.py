"""Prefetched files are followed even when the system has not enough inotify watches."""

import shutil
import subprocess
import unittest

from client import grant
from needs import missing
from prefetch_scene import SOON_S
from scene import SceneTest
from waiting import eventually

WATCHES = 10
_NOT_WATCHED = "not all of the served folder can be watched"
_WATCHED_AGAIN = "all of the served folder is watched again"


def with_few_watches() -> list[str]:
    """A command prefix: a user namespace whose users together have only so many watches."""
    limit = f'echo {WATCHES} > /proc/sys/user/max_inotify_watches && exec "$0" "$@"'
    return ["unshare", "--user", "--map-root-user", "sh", "-c", limit]


def why_no_few_watches() -> str | None:
    if reason := missing("unshare"):
        return reason
    probe = subprocess.run([*with_few_watches(), "true"], capture_output=True, text=True)
    return None if probe.returncode == 0 else f"no user namespace: {probe.stderr.strip()}"


@unittest.skipIf(why_no_few_watches(), why_no_few_watches() or "")
class UnwatchedTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        for number in range(2 * WATCHES):
            self.scene.write(f"{number:03}/a", b"first")
        authserver = self.scene.authserver_of_alice()
        self.fileserver = self.scene.fileserver(authserver, prefix=with_few_watches())
        self.client = self.scene.client(self.fileserver)
        grant(self.client)
        self.assertIn(_NOT_WATCHED, self.fileserver.log())

    def assert_soon(self, name: str, reply: bytes | str) -> None:
        eventually(
            lambda: self.client.ask(name) == reply,
            f"{name} is answered {reply!r}",
            within_s=SOON_S,
        )

    def test_changes_are_seen_without_watches(self) -> None:
        for number in range(2 * WATCHES):
            self.scene.write(f"{number:03}/a", b"second")
            self.scene.write(f"{number:03}/new", b"new")
        for number in range(2 * WATCHES):
            self.assert_soon(f"{number:03}/a", b"second")
            self.assert_soon(f"{number:03}/new", b"new")
            (self.scene.root / f"{number:03}/a").unlink()
        for number in range(2 * WATCHES):
            self.assert_soon(f"{number:03}/a", "not-found")

    def test_watching_resumes_once_there_are_enough_watches(self) -> None:
        self.assertNotIn(_WATCHED_AGAIN, self.fileserver.log())
        for number in range(WATCHES, 2 * WATCHES):
            shutil.rmtree(self.scene.root / f"{number:03}")
        shutil.rmtree(self.scene.root / "000")
        eventually(lambda: _WATCHED_AGAIN in self.fileserver.log(), "all folders are watched")
        for number in range(1, WATCHES):
            self.scene.write(f"{number:03}/a", b"second")
            self.assert_soon(f"{number:03}/a", b"second")
        self.assertEqual(self.fileserver.log().count(_NOT_WATCHED), 1)
