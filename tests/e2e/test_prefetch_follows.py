"""Prefetched files follow the served folder: every change is seen, and only whole versions."""

import os
import shutil
import signal
import threading
import unittest
from pathlib import Path

from client import Client, grant
from scene import SceneTest, create_account
from waiting import eventually

# The contract says two seconds. The rest is for a loaded machine.
SOON_S = 10.0


class PrefetchFollowsTest(SceneTest):
    flags: tuple = ()

    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver()
        create_account(self.authserver)
        self.scene.write("kept", b"kept")

    def serve(self) -> Client:
        self.fileserver = self.scene.fileserver(self.authserver, *self.flags)
        return self.granted_client()

    def granted_client(self, **options) -> Client:
        client = self.scene.client(self.fileserver, **options)
        grant(client)
        return client

    def assert_soon(self, client: Client, expected: dict[str, bytes | str]) -> None:
        """Each name gets its reply soon, and the file that never changes is still served."""
        for name, reply in expected.items():
            self.wait_for_reply(client, name, reply)
        self.assertEqual(client.ask("kept"), b"kept")

    def wait_for_reply(self, client: Client, name: str, reply: bytes | str) -> None:
        what = f"{name} is answered {reply[:40]!r}"
        eventually(lambda: client.ask(name) == reply, what, within_s=SOON_S)

    def test_a_file_that_is_written_again_is_seen(self) -> None:
        path = self.scene.write("a", b"first")
        client = self.serve()
        self.assertEqual(client.ask("a"), b"first")
        for content in (b"second", b"third is longer", b"", b"4", b"x" * 100_000, b"y" * 100_000):
            path.write_bytes(content)
            self.assert_soon(client, {"a": content})

    def test_a_file_that_is_appended_to_is_seen(self) -> None:
        path = self.scene.write("a", b"begin")
        client = self.serve()
        with path.open("ab") as file:
            file.write(b" end")
        self.assert_soon(client, {"a": b"begin end"})

    def test_a_file_that_is_cut_shorter_is_seen(self) -> None:
        path = self.scene.write("a", b"begin end")
        client = self.serve()
        with path.open("r+b") as file:
            file.truncate(5)
        self.assert_soon(client, {"a": b"begin"})

    def test_a_change_of_the_same_size_with_its_old_time_put_back_is_seen(self) -> None:
        path = self.scene.write("a", b"first")
        client = self.serve()
        times = path.stat()
        path.write_bytes(b"other")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assert_soon(client, {"a": b"other"})

    def test_a_change_with_its_old_time_put_back_is_seen_after_a_new_link(self) -> None:
        path = self.scene.write("a", b"first")
        client = self.serve()
        os.link(path, self.scene.folder / "backup")
        times = path.stat()
        path.write_bytes(b"other")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assert_soon(client, {"a": b"other"})

    def test_a_file_that_is_replaced_by_rename_is_seen(self) -> None:
        self.scene.write("a", b"first")
        client = self.serve()
        for round_number, folder in enumerate((self.scene.root, self.scene.folder)):
            fresh = folder / ".fresh"
            fresh.write_bytes(b"replaced %d" % round_number)
            fresh.rename(self.scene.root / "a")
            self.assert_soon(client, {"a": b"replaced %d" % round_number, ".fresh": "not-found"})

    def test_a_file_that_is_replaced_by_one_with_an_old_time_is_seen(self) -> None:
        self.scene.write("a", b"first")
        client = self.serve()
        old = self.scene.folder / "old"
        old.write_bytes(b"older")
        os.utime(old, (1, 1))
        old.rename(self.scene.root / "a")
        self.assert_soon(client, {"a": b"older"})

    def test_a_file_that_is_dated_in_the_future_is_served(self) -> None:
        path = self.scene.write("a", b"first")
        os.utime(path, (4_000_000_000, 4_000_000_000))
        client = self.serve()
        self.assertEqual(client.ask("a"), b"first")
        path.write_bytes(b"second")
        os.utime(path, (4_000_000_000, 4_000_000_000))
        self.assert_soon(client, {"a": b"second"})

    def test_a_file_that_is_removed_is_not_found(self) -> None:
        path = self.scene.write("sub/a", b"first")
        client = self.serve()
        path.unlink()
        self.assert_soon(client, {"sub/a": "not-found"})
        path.write_bytes(b"back")
        self.assert_soon(client, {"sub/a": b"back"})

    def test_a_new_file_is_seen(self) -> None:
        client = self.serve()
        self.assertEqual(client.ask("a"), "not-found")
        self.scene.write("a", b"new")
        self.assert_soon(client, {"a": b"new"})

    def test_a_file_that_is_published_by_a_link_is_served(self) -> None:
        client = self.serve()
        for folder in (self.scene.root, self.scene.folder):
            name = f"from-{folder.name}"
            temporary = folder / ".temporary"
            temporary.write_bytes(b"linked")
            os.link(temporary, self.scene.root / name)
            temporary.unlink()
            self.assert_soon(client, {name: b"linked", ".temporary": "not-found"})

    def test_a_file_that_had_no_name_while_it_was_written_is_served_and_followed(self) -> None:
        client = self.serve()
        try:
            descriptor = os.open(self.scene.root, os.O_TMPFILE | os.O_RDWR)
        except OSError as error:
            self.skipTest(f"O_TMPFILE: {error}")
        os.write(descriptor, b"published")
        # Python follows the link only if it is given a folder, although the path needs none.
        source = f"/proc/self/fd/{descriptor}"
        os.link(source, self.scene.root / "a", src_dir_fd=descriptor, follow_symlinks=True)
        os.close(descriptor)
        self.assert_soon(client, {"a": b"published"})
        (self.scene.root / "a").write_bytes(b"written again")
        self.assert_soon(client, {"a": b"written again"})
        (self.scene.root / "a").unlink()
        self.assert_soon(client, {"a": "not-found"})

    def test_a_file_that_was_never_open_for_writing_is_served(self) -> None:
        client = self.serve()
        os.mknod(self.scene.root / "a", 0o644)
        self.assert_soon(client, {"a": b""})

    def test_a_served_folder_that_is_removed_and_made_again_is_followed(self) -> None:
        self.scene.write("sub/a", b"first")
        client = self.serve()
        for number in range(3):
            shutil.rmtree(self.scene.root)
            eventually(lambda: client.ask("sub/a") == "not-found", "it is gone", within_s=SOON_S)
            self.scene.write("kept", b"kept")
            self.scene.write("sub/a", b"%d" % number)
            self.assert_soon(client, {"sub/a": b"%d" % number})
            self.scene.write("sub/a", b"changed %d" % number)
            self.assert_soon(client, {"sub/a": b"changed %d" % number})

    def test_links_are_followed_after_the_served_folder_was_renamed(self) -> None:
        self.scene.write("sub/a", b"content")
        (self.scene.root / "link").symlink_to("sub")
        client = self.serve()
        self.scene.root.rename(self.scene.folder / "renamed")
        self.assert_soon(client, {"link/a": b"content"})

    def test_a_second_name_of_a_file_is_seen(self) -> None:
        path = self.scene.write("a", b"content")
        client = self.serve()
        os.link(path, self.scene.root / "b")
        self.assert_soon(client, {"b": b"content"})
        path.unlink()
        self.assert_soon(client, {"a": "not-found", "b": b"content"})

    def test_a_change_through_one_name_of_a_file_is_seen_under_all_its_names(self) -> None:
        path = self.scene.write("a", b"first")
        os.link(path, self.scene.root / "known")
        client = self.serve()
        os.link(path, self.scene.root / "new")
        self.assert_soon(client, {"new": b"first"})
        for number, name in enumerate(("a", "known", "new")):
            (self.scene.root / name).write_bytes(b"%d" % number)
            self.assert_soon(client, dict.fromkeys(("a", "known", "new"), b"%d" % number))

    def test_files_of_new_folders_are_seen_however_early_they_come(self) -> None:
        client = self.serve()
        for number in range(10):
            self.scene.write(f"new{number}/x/y/z", b"%d" % number)
        self.assert_soon(client, {f"new{number}/x/y/z": b"%d" % number for number in range(10)})
        self.scene.write("new3/x/late", b"late")
        self.assert_soon(client, {"new3/x/late": b"late"})

    def test_a_folder_that_is_moved_takes_its_files_along(self) -> None:
        path = self.scene.write("old/sub/a", b"first")
        client = self.serve()
        (self.scene.root / "old").rename(self.scene.root / "moved")
        self.assert_soon(client, {"moved/sub/a": b"first", "old/sub/a": "not-found"})
        (self.scene.root / "moved/sub/a").write_bytes(b"second")
        self.assert_soon(client, {"moved/sub/a": b"second"})
        self.scene.write(str(path.relative_to(self.scene.root)), b"again")
        self.assert_soon(client, {"old/sub/a": b"again", "moved/sub/a": b"second"})

    def test_a_folder_that_is_moved_out_and_in_again_is_followed(self) -> None:
        self.scene.write("old/a", b"first")
        client = self.serve()
        away = self.scene.folder / "away"
        (self.scene.root / "old").rename(away)
        self.assert_soon(client, {"old/a": "not-found"})
        (away / "a").write_bytes(b"changed outside")
        self.assertEqual(client.ask("old/a"), "not-found")
        away.rename(self.scene.root / "in")
        self.assert_soon(client, {"in/a": b"changed outside"})
        (self.scene.root / "in/a").write_bytes(b"changed inside")
        self.assert_soon(client, {"in/a": b"changed inside"})

    def test_a_folder_that_is_removed_whole_and_made_again_is_followed(self) -> None:
        client = self.serve()
        for number in range(5):
            path = self.scene.write("sub/deep/a", b"%d" % number)
            self.assert_soon(client, {"sub/deep/a": b"%d" % number})
            path.unlink()
            (self.scene.root / "sub/deep").rmdir()
            (self.scene.root / "sub").rmdir()
            self.assert_soon(client, {"sub/deep/a": "not-found"})

    def test_a_file_that_becomes_a_folder_a_link_or_a_fifo_is_not_served_any_more(self) -> None:
        secret = self.scene.folder / "secret"
        secret.write_bytes(b"secret")
        makers = {
            "folder": Path.mkdir,
            "link": lambda path: path.symlink_to("../secret"),
            "fifo": os.mkfifo,
        }
        for name in makers:
            self.scene.write(name, b"file")
        client = self.serve()
        for name, make in makers.items():
            (self.scene.root / name).unlink()
            make(self.scene.root / name)
            self.assert_soon(client, {name: "not-found"})

    def test_a_folder_that_becomes_a_link_to_the_outside_is_not_served_any_more(self) -> None:
        outside = self.scene.folder / "outside"
        outside.mkdir()
        (outside / "a").write_bytes(b"secret")
        self.scene.write("sub/a", b"first")
        client = self.serve()
        (self.scene.root / "sub").rename(self.scene.folder / "was")
        (self.scene.root / "sub").symlink_to("../outside")
        self.assert_soon(client, {"sub/a": "not-found"})

    def test_a_link_that_is_made_or_moved_is_followed_at_once(self) -> None:
        self.scene.write("a", b"a")
        self.scene.write("b", b"b")
        client = self.serve()
        link = self.scene.root / "link"
        link.symlink_to("a")
        self.assert_soon(client, {"link": b"a"})
        fresh = self.scene.root / "fresh"
        fresh.symlink_to("b")
        fresh.rename(link)
        self.assert_soon(client, {"link": b"b"})
        (self.scene.root / "b").write_bytes(b"changed")
        self.assert_soon(client, {"link": b"changed"})

    def test_many_changes_at_once_are_all_seen(self) -> None:
        client = self.serve()
        for number in range(1000):
            self.scene.write(f"many/{number % 20}/{number}", b"%d" % number)
        self.assert_soon(
            client, {f"many/{number % 20}/{number}": b"%d" % number for number in range(1000)}
        )

    def test_more_changes_than_the_kernel_queues_are_all_seen(self) -> None:
        self.scene.write("gone/a", b"gone")
        self.scene.write("moved/a", b"moved")
        changed = self.scene.write("changed", b"first")
        client = self.serve()
        queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
        if queued > 100_000:
            self.skipTest(f"the kernel queues {queued} changes")
        self.fileserver.pause()
        try:
            filler = self.scene.root / "filler"
            for _ in range(queued // 2 + 1):
                filler.touch()
                filler.unlink()
            shutil.rmtree(self.scene.root / "gone")
            (self.scene.root / "moved").rename(self.scene.root / "here")
            changed.write_bytes(b"second")
            self.scene.write("new/sub/a", b"new")
        finally:
            self.fileserver.signal(signal.SIGCONT)
        self.assert_soon(
            client,
            {
                "gone/a": "not-found",
                "moved/a": "not-found",
                "here/a": b"moved",
                "changed": b"second",
                "new/sub/a": b"new",
                "filler": "not-found",
            },
        )
        for name in ("here/a", "new/sub/a", "new/b"):
            self.scene.write(name, b"later")
        self.assert_soon(client, {"here/a": b"later", "new/sub/a": b"later", "new/b": b"later"})

    def test_a_request_under_way_keeps_the_version_it_began_with(self) -> None:
        size = 20_000_000
        path = self.scene.write("a", b"1" * size)
        self.scene.write("removed", b"r" * size)
        client = self.serve()
        early, removed = (self.granted_client(receive_buffer=1 << 16) for _ in range(2))
        early.send(b"a\n")
        removed.send(b"removed\n")
        self.assertEqual([early.begin_file(), removed.begin_file()], [size, size])
        fresh = self.scene.folder / "fresh"
        fresh.write_bytes(b"2" * size)
        fresh.rename(path)
        (self.scene.root / "removed").unlink()
        self.assert_soon(client, {"a": b"2" * size, "removed": "not-found"})
        self.assertEqual(early.take(size), b"1" * size)
        self.assertEqual(removed.take(size), b"r" * size)
        self.assertEqual(early.ask("kept"), b"kept")

    def test_the_served_folder_stays_the_same_if_its_name_is_changed(self) -> None:
        linked_root = self.scene.folder / "linked"
        linked_root.symlink_to("files")
        self.flags = ("--root", linked_root)
        client = self.serve()
        elsewhere = self.scene.folder / "elsewhere"
        elsewhere.mkdir()
        linked_root.unlink()
        linked_root.symlink_to("elsewhere")
        (elsewhere / "kept").write_bytes(b"not this")
        self.scene.write("new/sub/a", b"new")
        self.assert_soon(client, {"new/sub/a": b"new"})


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


class NeverOldForLongTest(SceneTest):
    """A file that is replaced so often that it is hardly ever, or never, unchanged long enough."""

    ROUNDS = 4

    def check_replaced_every(self, pause_s: float) -> None:
        path = self.scene.write("a", b"0")
        authserver = self.scene.authserver()
        create_account(authserver)
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
    """A file that is always being written. A version is one digit repeated, so a mix would show."""

    SIZE = 400_000
    ROUNDS = 60

    def setUp(self) -> None:
        super().setUp()
        authserver = self.scene.authserver()
        create_account(authserver)
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
        problems: list[str] = []
        readers = [
            threading.Thread(target=self.read_until, args=(finished, name, problems))
            for name in self.servers
        ]
        for reader in readers:
            reader.start()
        try:
            for number in range(self.ROUNDS):
                write_version(b"%d" % (number % 10) * (self.SIZE + 1000 * (number % 3)))
        finally:
            finished.set()
            for reader in readers:
                reader.join()
        self.assertEqual(problems, [])

    def read_until(self, finished: threading.Event, name: str, problems: list[str]) -> None:
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
                    problems.append(
                        f"{name}: a mix of {len(content)} bytes: {sorted(set(content))}"
                    )
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


if __name__ == "__main__":
    unittest.main()
