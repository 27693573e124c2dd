"""People work in a folder that rclone or davfs2 has mounted: git, a compiler, an editor."""

import itertools
import json
import os
import shutil
import subprocess
import threading
import unittest
from pathlib import Path
from urllib.parse import quote

import shared_path  # noqa: F401
from http_client import HttpClient
from judge_scene import FILES, PASSWORD, USER, environment, needs, write_files
from rclone_scene import RcloneTest
from waiting import LONG_S, eventually

MANY = 10_000  # files in one folder
LISTINGS = 4
SOURCES = {
    "hello.h": b"int hello();\n",
    "hello.cpp": b'#include "hello.h"\nint hello() { return 42; }\n',
    "main.cpp": b'#include "hello.h"\nint main() { return hello() - 42; }\n',
    "Makefile": b"hello: main.o hello.o\n\tg++ -o $@ $^\n%.o: %.cpp hello.h\n\tg++ -c -o $@ $<\n",
    ".gitignore": b"*.o\nhello\n",
    **{f"docs/{number % 7}/page {number}": b"%d\n" % number for number in range(100)},
}


def _has_fuse() -> bool:
    return os.geteuid() == 0 and os.access("/dev/fuse", os.R_OK | os.W_OK)


def _is_removed(folder: Path) -> bool:
    """Tries to remove it. A client may still be about to delete what was in it."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _is_dirty(about: Path) -> bool:
    try:
        return bool(json.loads(about.read_bytes())["Dirty"])
    except (FileNotFoundError, ValueError):  # it is deleted, or written just now
        return about.exists()


@unittest.skipUnless(_has_fuse(), "mounting needs root and /dev/fuse")
class MountTest(RcloneTest):
    def setUp(self) -> None:
        super().setUp()
        self.mounted, self.cache = self.work / "mounted", self.work / "cache"
        for folder in (self.mounted, self.cache):
            folder.mkdir()

    def is_sent(self) -> bool:
        """Whether rclone has had the answers to all that was written. For davfs2, always true.

        A file that is deleted before that is only forgotten, and stays on the server.
        """
        return not any(
            _is_dirty(path) for path in self.cache.glob("vfsMeta/**/*") if path.is_file()
        )

    def seen_on_server(self, name: str, content: bytes) -> None:
        served = self.scene.root / name
        eventually(lambda: served.exists() and served.read_bytes() == content, f"{name} is there")

    def gone_on_server(self, name: str) -> None:
        eventually(lambda: not (self.scene.root / name).exists(), f"{name} is gone")

    def work_in_folder(self) -> None:
        """Lists, reads, writes and deletes."""
        self.assertEqual(sorted(os.listdir(self.mounted / "sub")), ["deep", "empty", "page.html"])
        self.assertEqual((self.mounted / "large.bin").read_bytes(), FILES["large.bin"])
        made = self.mounted / f"made-{self.work.name}"
        made.mkdir()
        (made / "a").write_bytes(FILES["large.bin"])
        self.seen_on_server(f"{made.name}/a", FILES["large.bin"])
        eventually(self.is_sent, "all is sent")
        (made / "a").unlink()
        eventually(lambda: _is_removed(made), "removed")
        self.gone_on_server(made.name)

    def edit(self) -> None:
        """Saves as editors do: a new file takes the place of the old one."""
        text = self.mounted / f"text-{self.work.name}"
        text.write_bytes(b"first\n")
        eventually(self.is_sent, "all is sent")
        for content in (b"second, which is longer\n", b"third\n"):
            beside = text.with_name(f".{text.name}.swp")
            with beside.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(text)
            self.assertEqual(text.read_bytes(), content)
            self.seen_on_server(text.name, content)
            self.gone_on_server(beside.name)
            eventually(self.is_sent, "all is sent")

    def clone_and_build(self) -> None:
        source = self.work / "source"
        write_files(source, SOURCES)
        for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm one"):
            self.run_judge("git", "-C", source, *command.split())
        clone = self.mounted / f"clone-{self.work.name}"
        self.run_judge("git", "clone", "-q", f"file://{source}", clone)
        self.run_judge("make", "-C", clone, "hello")
        eventually(self.is_sent, "all is sent")
        self.run_judge(clone / "hello")
        (clone / "docs" / "0" / "page 0").write_text("changed\n")
        changed = self.run_judge("git", "-C", clone, "status", "--porcelain").stdout
        self.assertEqual(changed, ' M "docs/0/page 0"\n')
        self.run_judge("git", "-C", clone, "fsck", "--strict")
        self.seen_on_server(f"{clone.name}/docs/0/page 0", b"changed\n")
        eventually(self.is_sent, "all is sent")
        for name in ("hello", ".git/HEAD", "main.cpp"):
            self.seen_on_server(f"{clone.name}/{name}", (clone / name).read_bytes())

    def list_while_others_change(self) -> None:
        """Another client adds and removes names. Those that stay are in each listing, once."""
        stay = {f"{number:05} stays" for number in range(MANY)}
        write_files(self.scene.root / "many", dict.fromkeys(stay, b"x"))
        come, gone, ended = set[str](), set[str](), threading.Event()

        def change() -> None:
            client = HttpClient(self.server, USER, PASSWORD)
            for number in itertools.count():
                if ended.is_set():
                    break
                name = f"comes {number}"
                client.ask(f"/many/{quote(name)}", method="PUT", body=b"y")
                come.add(name)
                if number % 3:
                    client.ask(f"/many/{quote(name)}", method="DELETE")
                    gone.add(name)
            client.close()

        changing = threading.Thread(target=change)
        changing.start()
        try:
            for number in range(LISTINGS):
                eventually(lambda: len(gone) > 20 * number, "others change the folder")
                listed = os.listdir(self.mounted / "many")
                self.assertEqual(len(listed), len(set(listed)))
                self.assertEqual(stay - set(listed), set())
                self.assertLessEqual(set(listed), stay | come | {f"comes {len(come)}"})
        finally:
            ended.set()
            changing.join()
        left = stay | (come - gone)
        eventually(lambda: sorted(os.listdir(self.mounted / "many")) == sorted(left), "all names")

    def work_on(self) -> None:
        self.work_in_folder()
        self.edit()
        if all(map(shutil.which, ("git", "make", "g++"))):
            self.clone_and_build()


class RcloneMountTest(MountTest):
    @needs("rclone", "fusermount")
    def test_a_mount_of_rclone(self) -> None:
        self.start_judge(
            *("rclone", *self.rclone_flags(), "mount", ":webdav:", self.mounted),
            *("--vfs-cache-mode", "full", "--vfs-write-back", "100ms"),
            *("--dir-cache-time", "1s"),
            *("--cache-dir", self.cache, "--file-perms", "755"),
        )
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.mounted)], check=False)
        eventually(lambda: os.path.ismount(self.mounted), "mounted")
        self.work_on()
        self.list_while_others_change()


class DavfsMountTest(MountTest):
    """With the event model, because each mount takes long and one of each model is enough."""

    model = "event"

    @needs("mount.davfs")
    def test_a_mount_of_davfs2(self) -> None:
        os.chmod(self.scene.folder, 0o755)
        os.chmod(self.work, 0o755)
        shutil.chown(self.cache, group="davfs2")
        os.chmod(self.cache, 0o775)
        secrets, settings = self.work / "secrets", self.work / "settings"
        secrets.write_text(f"{self.url}/ {USER} {PASSWORD}\n")
        secrets.chmod(0o600)
        settings.write_text(
            f"secrets {secrets}\ncache_dir {self.cache}\ndelay_upload 0\nbuf_size 256\n"
        )
        conf = f"conf={settings}"
        mount = ["mount", "-t", "davfs", "-o", conf, f"{self.url}/", str(self.mounted)]
        subprocess.run(mount, env=environment(self.work), timeout=LONG_S, check=True)
        unmount = ["umount", str(self.mounted)]
        self.addCleanup(subprocess.run, unmount, timeout=LONG_S, check=True)
        self.work_on()


del MountTest  # Without this, unittest would run the base class too.
