"""--files disk, and files that change while they are sent."""

import os
import threading
from pathlib import Path

from client import Client, ConnectionEndedError, grant
from scene import SceneTest, with_loops
from waiting import eventually

# More than the buffers of a connection hold: a transfer is under way until the client reads it.
BIG = 32_000_000


@with_loops
class ChangeWhileSentTest(SceneTest):
    flags: tuple = ("--files", "disk")

    def setUp(self) -> None:
        super().setUp()
        authserver = self.scene.authserver_of_alice()
        self.path = self.scene.write("big", b"1" * BIG)
        self.scene.write("small", b"first")
        self.fileserver = self.scene.fileserver(authserver, *self.flags)

    def granted_client(self, **options) -> Client:
        client = self.scene.client(self.fileserver, **options)
        grant(client)
        return client

    def send_under(self, change) -> bytes:
        """Changes the file in the middle of a transfer, and returns what the client received."""
        client = self.granted_client(receive_buffer=1 << 16)
        client.send("big\n")
        size = client.begin_file()
        begin = client.take(1000)
        change(self.path)
        try:
            return begin + client.take(size - len(begin))
        except ConnectionEndedError:
            received = begin + client.rest()
            self.assertLess(len(received), size)
            return received

    def assert_never_mixed_and_whole(self, received: bytes) -> None:
        if len(received) >= BIG:
            self.assertEqual(received, b"1" * BIG)

    def test_a_file_that_is_overwritten_while_it_is_sent_closes_the_connection_early(self) -> None:
        def overwrite(path: Path) -> None:
            with path.open("r+b") as file:
                file.write(b"2" * BIG)

        self.assert_never_mixed_and_whole(self.send_under(overwrite))

    def test_a_change_of_only_its_last_byte_closes_the_connection_early(self) -> None:
        def change_last_byte(path: Path) -> None:
            with path.open("r+b") as file:
                file.seek(-1, os.SEEK_END)
                file.write(b"2")

        self.assert_never_mixed_and_whole(self.send_under(change_last_byte))

    def test_a_change_of_only_its_first_byte_is_never_mixed_and_whole(self) -> None:
        def change_first_byte(path: Path) -> None:
            with path.open("r+b") as file:
                file.write(b"2")

        self.assert_never_mixed_and_whole(self.send_under(change_first_byte))

    def test_a_change_that_puts_the_old_time_back_is_never_mixed_and_whole(self) -> None:
        def overwrite_with_old_time(path: Path) -> None:
            times = path.stat()
            with path.open("r+b") as file:
                file.write(b"2" * BIG)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

        self.assert_never_mixed_and_whole(self.send_under(overwrite_with_old_time))

    def test_a_change_that_a_new_link_hides_is_never_mixed_and_whole(self) -> None:
        def overwrite_and_link(path: Path) -> None:
            times = path.stat()
            with path.open("r+b") as file:
                file.write(b"2" * BIG)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            os.link(path, self.scene.folder / "backup")

        self.assert_never_mixed_and_whole(self.send_under(overwrite_and_link))

    def test_a_file_that_is_cut_shorter_is_never_padded(self) -> None:
        received = self.send_under(lambda path: os.truncate(path, BIG // 2))
        self.assertLess(len(received), BIG)
        self.assertEqual(received, b"1" * len(received))

    def test_a_file_that_is_emptied_closes_the_connection_early(self) -> None:
        self.assertLess(len(self.send_under(lambda path: path.write_bytes(b""))), BIG)

    def test_a_file_that_grows_is_sent_in_its_old_size_or_not_whole(self) -> None:
        def append(path: Path) -> None:
            with path.open("ab") as file:
                file.write(b"2" * 1000)

        self.assert_never_mixed_and_whole(self.send_under(append))

    def test_replies_before_a_file_that_goes_on_changing_are_not_lost(self) -> None:
        is_over = threading.Event()
        path = self.scene.write("hot", b"hot")

        def change() -> None:
            while not is_over.wait(0.001):
                path.write_bytes(b"hot")

        writer = threading.Thread(target=change)
        writer.start()
        try:
            for _ in range(5):
                client = self.granted_client()
                client.send("nope\nhot\n")
                client.half_close()
                self.assertEqual(client.reply(), "not-found")
                self.assertIn(client.rest()[:5], (b"OK 3\n", b"OK 0\n", b"ERR n"))
        finally:
            is_over.set()
            writer.join()

    def test_a_file_that_is_replaced_or_removed_is_sent_whole(self) -> None:
        def replace(path: Path) -> None:
            fresh = self.scene.folder / "fresh"
            fresh.write_bytes(b"2" * BIG)
            fresh.rename(path)

        self.assertTrue(self.send_under(replace) == b"1" * BIG)
        self.path.write_bytes(b"1" * BIG)
        self.assertTrue(self.send_under(Path.unlink) == b"1" * BIG)

    def test_a_connection_that_was_closed_early_harms_no_other(self) -> None:
        other = self.granted_client()
        self.send_under(lambda path: path.write_bytes(b""))
        self.assertEqual(other.ask("small"), b"first")


class ChangeWhileSentOverTheMemoryLimitTest(ChangeWhileSentTest):
    """Files that do not fit into the memory limit are sent as in disk mode."""

    flags = ("--memory-limit", "1M")


class DiskModeTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver_of_alice()
        self.client = self.scene.client(self.scene.fileserver(self.authserver, "--files", "disk"))
        grant(self.client)

    def test_every_request_sees_the_file_as_it_is(self) -> None:
        self.assertEqual(self.client.ask("a"), "not-found")
        for number in range(50):
            content = b"%d" % number * (number % 7)
            self.scene.write("a", content)
            self.assertEqual(self.client.ask("a"), content)
        (self.scene.root / "a").unlink()
        self.assertEqual(self.client.ask("a"), "not-found")

    def test_the_log_says_why_a_file_could_not_be_read(self) -> None:
        unreadable = Path("/sys/devices/virtual/net/lo/speed")  # reading it always fails
        try:
            unreadable.read_bytes()
            self.skipTest("the loopback device has a speed")
        except FileNotFoundError:
            self.skipTest(f"there is no {unreadable}")
        except OSError as error:
            reason = str(error.strerror)
        fileserver = self.scene.fileserver(
            self.authserver, "--files", "disk", "--root", unreadable.parent
        )
        client = self.scene.client(fileserver)
        grant(client)
        client.send(b"speed\n")
        self.assertEqual(client.rest(), b"OK 4096\n")
        eventually(lambda: reason in fileserver.log(), "the log has the reason")

    def test_new_folders_and_moved_ones_are_seen_at_once(self) -> None:
        self.scene.write("new/sub/a", b"content")
        self.assertEqual(self.client.ask("new/sub/a"), b"content")
        (self.scene.root / "new").rename(self.scene.root / "moved")
        self.assertEqual(
            self.client.ask_all([b"new/sub/a", b"moved/sub/a"]), ["not-found", b"content"]
        )

    def test_a_folder_that_becomes_a_link_to_the_outside_is_not_followed(self) -> None:
        outside = self.scene.folder / "outside"
        outside.mkdir()
        (outside / "a").write_bytes(b"secret")
        self.scene.write("sub/a", b"content")
        for _ in range(50):
            self.assertEqual(self.client.ask("sub/a"), b"content")
            (self.scene.root / "sub").rename(self.scene.root / "was")
            (self.scene.root / "sub").symlink_to("../outside")
            self.assertEqual(self.client.ask("sub/a"), "not-found")
            (self.scene.root / "sub").unlink()
            (self.scene.root / "was").rename(self.scene.root / "sub")
