"""Files whose changes the times of the file system hardly show: nothing old or mixed is served."""

import mmap
import os
import shlex
import threading
import time
from pathlib import Path

from client import Client, ConnectionEndedError, grant
from mount_namespace import ext4_with_whole_seconds, sound
from prefetch_scene import SOON_S
from programs import Program
from scene import SceneTest, for_each
from waiting import eventually

MODES = ("prefetch", "disk")

# More than the buffers of a connection hold: a transfer is under way until the client reads it.
BIG = 24_000_000


def wait_for_a_whole_second() -> None:
    time.sleep(1 - time.time() % 1 + 0.02)


class FileTimesTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver_of_alice()

    def granted(self, server: Program, **options) -> Client:
        client = self.scene.client(server, **options)
        grant(client)
        return client

    def rest_of(self, client: Client, size: int) -> bytes | None:
        """What the client takes, or nothing if the connection ends early."""
        try:
            return client.take(size)
        except ConnectionEndedError:
            return None


class WholeSecondsTest(FileTimesTest):
    """The file system of ext4 with inodes of 128 bytes, as old and small disks have it."""

    def serve(self, mode: str) -> tuple[Program, Path]:
        """A server, and the folder as the server sees it."""
        prefix = ext4_with_whole_seconds(self, self.scene.folder / "image", self.scene.root)
        server = self.scene.fileserver(self.authserver, "--files", mode, prefix=prefix)
        return server, Path(f"/proc/{server.pid}/root{self.scene.root}")

    @for_each(MODES)
    def test_two_changes_in_one_second_are_both_seen(self, mode: str) -> None:
        server, folder = self.serve(mode)
        client = self.granted(server)
        wait_for_a_whole_second()
        with sound(self):
            (folder / "a").write_bytes(b"1" * 40)
        early = threading.Thread(target=lambda: client.ask("a"))
        early.start()
        time.sleep(0.35)
        with (folder / "a").open("r+b") as file:
            file.write(b"2" * 40)
        early.join()
        eventually(lambda: client.ask("a") == b"2" * 40, "it is seen", within_s=SOON_S)

    @for_each(MODES)
    def test_what_changes_in_one_second_is_never_mixed_and_whole(self, mode: str) -> None:
        server, folder = self.serve(mode)
        for _ in range(3):
            client = self.granted(server, receive_buffer=1 << 16)
            wait_for_a_whole_second()
            with sound(self):
                (folder / "big").write_bytes(b"1" * BIG)
            client.send("big\n")
            size = client.begin_file()
            begin = client.take(1000)
            with sound(self), (folder / "big").open("r+b") as file:
                file.write(b"2" * BIG)
            rest = self.rest_of(client, size - len(begin))
            if rest is not None:
                self.assertEqual(len((begin + rest).strip(begin[:1])), 0)
            client.close()


class StoresTest(FileTimesTest):
    """A program that has mapped the file into its memory, and stores into pages that are dirty."""

    def in_memory(self) -> bool:
        kind = os.popen(f"stat -f -c %T {shlex.quote(str(self.scene.root))}").read().strip()
        return kind in ("tmpfs", "ramfs", "overlayfs")

    @for_each(MODES)
    def test_they_are_never_mixed_and_whole(self, mode: str) -> None:
        if self.in_memory():
            self.skipTest("the folder of the test is in memory, where no store is noted")
        path = self.scene.write("big", b"0" * BIG)
        limit = ("--memory-limit", "1K") if mode == "prefetch" else ()
        server = self.scene.fileserver(self.authserver, "--files", mode, *limit)
        with path.open("r+b") as file, mmap.mmap(file.fileno(), BIG) as mapped:
            mapped[:] = b"1" * BIG
            time.sleep(0.3)
            client = self.granted(server, receive_buffer=1 << 16)
            client.send("big\n")
            size = client.begin_file()
            begin = client.take(1000)
            mapped[:] = b"2" * BIG
            rest = self.rest_of(client, size - len(begin))
        if rest is not None:
            self.assertEqual(len((begin + rest).strip(begin[:1])), 0)
