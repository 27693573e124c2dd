"""Prefetched files follow the permissions of the served folder, for one who is subject to them."""

import os
import pwd
import subprocess
import unittest

from client import Client, grant
from needs import missing
from prefetch_scene import SOON_S
from programs import BUILD, environment
from scene import SceneTest
from waiting import LONG_S, eventually

# Root without these two capabilities is subject to permissions, as any other user is.
_OBEDIENT = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def obedient() -> list[str]:
    """A command prefix for a program that is subject to permissions."""
    return _OBEDIENT if os.geteuid() == 0 else []


def why_not_obedient() -> str | None:
    if not obedient():
        return None
    if reason := missing(_OBEDIENT[0]):
        return reason
    probe = subprocess.run([*_OBEDIENT, "true"], capture_output=True, text=True)
    return None if probe.returncode == 0 else f"setpriv: {probe.stderr.strip()}"


@unittest.skipIf(why_not_obedient(), why_not_obedient() or "")
class PrefetchPermissionsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver_of_alice()
        self.file = self.scene.write("sub/deep/a", b"content")
        self.folder = self.scene.root / "sub"

    def tearDown(self) -> None:
        for folder in (self.scene.root, self.folder, self.folder / "deep"):
            folder.chmod(0o755)

    def serve(self) -> Client:
        self.fileserver = self.scene.fileserver(self.authserver, prefix=obedient())
        client = self.scene.client(self.fileserver)
        grant(client)
        return client

    def assert_soon(self, client: Client, reply: bytes | str) -> None:
        eventually(
            lambda: client.ask("sub/deep/a") == reply, f"it is answered {reply!r}", within_s=SOON_S
        )

    def test_a_file_in_a_folder_that_may_be_entered_but_not_listed_is_served(self) -> None:
        self.folder.chmod(0o311)
        client = self.serve()
        self.assert_soon(client, b"content")
        self.assertEqual(client.ask("sub/none"), "not-found")

    def test_a_file_that_may_no_longer_be_read_is_not_served_until_it_may_be_again(self) -> None:
        client = self.serve()
        for _ in range(2):
            self.assert_soon(client, b"content")
            self.file.chmod(0)
            self.assert_soon(client, "not-found")
            self.file.chmod(0o644)

    def test_a_file_that_could_not_be_read_at_start_is_served_once_it_can_be(self) -> None:
        self.file.chmod(0)
        client = self.serve()
        self.assertEqual(client.ask("sub/deep/a"), "not-found")
        self.file.chmod(0o644)
        self.assert_soon(client, b"content")

    def test_what_cannot_be_read_at_start_is_named(self) -> None:
        self.file.chmod(0)
        self.scene.write("hidden/b", b"content").parent.chmod(0)
        self.addCleanup((self.scene.root / "hidden").chmod, 0o755)
        self.serve()
        log = self.fileserver.log()
        self.assertIn('the file cannot be read, it is not served name="sub/deep/a"', log)
        self.assertIn('the folder cannot be listed name="hidden"', log)
        self.assertNotIn("memory-limit", log)

    def test_a_folder_that_can_be_listed_but_not_entered_is_named(self) -> None:
        self.folder.chmod(0o644)
        client = self.serve()
        self.assertEqual(client.ask("sub/deep/a"), "not-found")
        log = self.fileserver.log()
        self.assertIn('the folder cannot be entered, its files are not served name="sub"', log)
        self.assertNotIn("memory-limit", log)

    def test_no_more_than_ten_files_that_cannot_be_read_are_named(self) -> None:
        for i in range(12):
            self.scene.write(f"f{i:02}", b"content").chmod(0)
        self.serve()
        words = "the file cannot be read, it is not served"
        self.assertEqual(self.fileserver.log().count(f"{words} name="), 10)
        self.assertIn(f"{words} further=2", self.fileserver.log())

    def test_a_served_folder_that_cannot_be_entered_or_listed_ends_the_start(self) -> None:
        for mode in (0, 0o311, 0o644):
            self.scene.root.chmod(mode)
            for files in ("prefetch", "disk"):
                with self.subTest(mode=oct(mode), files=files):
                    command = [*obedient(), str(BUILD / "fileserver"), f"--root={self.scene.root}"]
                    ended = subprocess.run(
                        [*command, "--listen=127.0.0.1:0", f"--files={files}"],
                        env=environment(),
                        capture_output=True,
                        text=True,
                        timeout=LONG_S,
                        check=False,
                    )
                    self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
                    user = pwd.getpwuid(os.geteuid()).pw_name
                    self.assertEqual(
                        ended.stderr,
                        f"fileserver: open the served folder {self.scene.root} as user {user}: "
                        "Permission denied\n",
                    )

    def test_files_of_a_folder_that_may_not_be_entered_are_not_served_until_it_may_be(self) -> None:
        client = self.serve()
        for folder in (self.folder, self.folder / "deep", self.scene.root):
            self.assert_soon(client, b"content")
            folder.chmod(0)
            self.assert_soon(client, "not-found")
            folder.chmod(0o755)
            self.assert_soon(client, b"content")
            self.file.write_bytes(b"changed")
            self.assert_soon(client, b"changed")
            self.file.write_bytes(b"content")
