"""Prefetched files follow the served folder: every change of a file is seen."""

import os

from prefetch_scene import PrefetchScene
from telemetry import FLAG, scrape
from waiting import eventually


class PrefetchFollowsTest(PrefetchScene):
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
        self.flags = FLAG
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
        eventually(
            lambda: (
                scrape(self.fileserver).value("turnstile_files_in_memory") == len({"kept", "a"})
            ),
            "it is in memory",
        )
        (self.scene.root / "a").write_bytes(b"written again")
        self.assert_soon(client, {"a": b"written again"})
        (self.scene.root / "a").unlink()
        self.assert_soon(client, {"a": "not-found"})

    def test_a_file_that_was_never_open_for_writing_is_served(self) -> None:
        client = self.serve()
        os.mknod(self.scene.root / "a", 0o644)
        self.assert_soon(client, {"a": b""})

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
