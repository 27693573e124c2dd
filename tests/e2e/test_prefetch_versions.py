"""Prefetched files that change all the time: only whole versions are served, none for long."""

import os
import re
import threading
import time
from pathlib import Path

from client import Client, grant
from prefetch_scene import SOON_S
from scene import SceneTest
from waiting import eventually

from rig.errors import WrongBytes


class Replacing:
    """Replaces a file again and again until close(). The content is the number of the version."""

    def __init__(self, path: Path, fresh: Path, pause_s: float) -> None:
        self.version = 0
        self._path, self._fresh, self._pause_s = path, fresh, pause_s
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._closed.wait(self._pause_s):
            self._fresh.write_bytes(b"%d" % (self.version + 1))
            self._fresh.rename(self._path)
            self.version += 1

    def close(self) -> None:
        self._closed.set()
        self._thread.join()


class LogOfTheStartTest(SceneTest):
    def test_it_has_the_memory_of_the_files_and_their_bytes(self) -> None:
        for number in range(10):
            self.scene.write(f"small{number}", bytes(1000))
            self.scene.write(f"large{number}", bytes(17_000))  # in whole pages of 4,096
        log = self.scene.fileserver(self.scene.authserver()).log()
        found = re.search(r'prefetched files=20 memory="([0-9.]+) KB" of_files="180.0 KB"', log)
        assert found, log
        pages = 10 * 5 * 4.096
        self.assertGreaterEqual(float(found[1]), 10 + pages)


class NeverOldForLongTest(SceneTest):
    """A file that is replaced so often that it is hardly ever, or never, unchanged long enough."""

    ROUNDS = 4

    def check_replaced_every(self, pause_s: float) -> None:
        path = self.scene.write("a", b"0")
        authserver = self.scene.authserver_of_alice()
        client = self.scene.client(self.scene.fileserver(authserver))
        grant(client)
        replacing = self.scene.keep(Replacing(path, self.scene.folder / "fresh", pause_s))
        for _ in range(self.ROUNDS):
            version = replacing.version
            self.wait_for_version(client, version)
            self.wait_for_replacements(replacing, version + 0.5 / pause_s)

    def wait_for_version(self, client: Client, version: int) -> None:
        what = f"version {version} is seen"
        eventually(lambda: int(client.ask("a")) >= version, what, within_s=SOON_S)

    def wait_for_replacements(self, replacing: Replacing, version: float) -> None:
        eventually(lambda: replacing.version > version, "it is replaced many times")

    def test_the_log_of_the_start_does_not_blame_the_memory_limit(self) -> None:
        path = self.scene.write("a", b"0")
        self.scene.keep(Replacing(path, self.scene.folder / "fresh", 0.001))
        self.assertNotIn("--memory-limit", self.scene.fileserver(self.scene.authserver()).log())

    def test_one_that_is_unchanged_only_for_a_moment(self) -> None:
        self.check_replaced_every(0.025)

    def test_one_that_always_changes(self) -> None:
        self.check_replaced_every(0.005)


class WholeVersionsTest(SceneTest):
    """A file that is always being written. A version is one digit repeated, so a mix would show.

    A writer that is itself held up, for example by a busy disk, leaves what it has written so far
    unchanged for so long that it is a version, too. No server can tell it from a complete one.
    """

    SIZE = 400_000
    ROUNDS = 60  # of writes that were not held up
    MOST_ROUNDS = 20 * ROUNDS
    MAY_SETTLE_S = 0.015  # below kSettlingMs by what the kernel's file times may lag behind

    def setUp(self) -> None:
        super().setUp()
        authserver = self.scene.authserver_of_alice()
        self.path = self.scene.write("a", b"0" * self.SIZE)
        self.flags: dict[str, tuple] = {
            "memory": (),
            "disk": ("--files", "disk"),
            "over": ("--memory-limit", "1K"),
        }
        self.servers = {
            name: self.scene.fileserver(authserver, *flags) for name, flags in self.flags.items()
        }

    def check_under(self, write_version) -> None:
        """Reads from all servers while `write_version(content)` is called again and again."""
        finished = threading.Event()
        problems: list[tuple[set[int], str]] = []  # the digits of a wrong reply, and what it is
        held_up: set[int] = set()  # digits of versions whose writing took long
        readers = [
            threading.Thread(target=self.read_until, args=(finished, name, problems))
            for name in self.servers
        ]
        for reader in readers:
            reader.start()
        try:
            self.write_versions(write_version, held_up)
        finally:
            finished.set()
            for reader in readers:
                reader.join()
        mixes = [what for digits, what in problems if not digits & held_up]
        if mixes:
            raise WrongBytes("\n".join(mixes))

    def write_versions(self, write_version, held_up: set[int]) -> None:
        quick = 0
        for number in range(self.MOST_ROUNDS):
            digit = b"%d" % (number % 10)
            begin = time.monotonic()
            write_version(digit * (self.SIZE + 1000 * (number % 3)))
            if time.monotonic() - begin < self.MAY_SETTLE_S:
                quick += 1
            else:
                held_up.update(digit)
            if quick == self.ROUNDS:
                return

    def read_until(self, finished: threading.Event, name: str, problems: list) -> None:
        while not finished.is_set():
            client = Client(self.servers[name].address)
            try:
                grant(client)
                client.send(b"a\n")
                line = client.reply_line()
                if line.startswith(b"ERR not-found "):
                    continue
                content = client.take(int(line.split()[1]))
                if content.strip(content[:1]) or (len(content) < self.SIZE and content):
                    digits = set(content)
                    what = f"{name}: a mix of {len(content)} bytes: {sorted(digits)}"
                    problems.append((digits, what))
            except AssertionError:
                pass  # closed early
            finally:
                client.close()

    def test_a_file_that_is_written_in_place_is_never_mixed_and_whole(self) -> None:
        def write_in_place(content: bytes) -> None:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_TRUNC)
            os.write(descriptor, content)
            os.close(descriptor)

        self.check_under(write_in_place)

    def test_a_file_that_is_replaced_by_rename_is_never_mixed_and_always_there(self) -> None:
        fresh = self.scene.folder / "fresh"

        def replace(content: bytes) -> None:
            fresh.write_bytes(content)
            fresh.rename(self.path)

        self.check_under(replace)

    def test_a_file_that_is_overwritten_in_pieces_is_never_mixed_and_whole(self) -> None:
        def overwrite(content: bytes) -> None:
            with self.path.open("r+b", buffering=0) as file:
                for start in range(0, self.SIZE, 50_000):
                    file.write(content[start : start + 50_000])
                file.truncate(self.SIZE)

        self.check_under(overwrite)
