"""Prefetched files follow the served folder: folders, links, and many changes at once."""

import os
import shutil
import signal
from pathlib import Path

from prefetch_scene import SOON_S, PrefetchScene
from waiting import eventually


class PrefetchFoldersTest(PrefetchScene):
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
