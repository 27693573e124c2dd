"""Which names can be requested as files, with prefetching and from disk."""

import contextlib
import os
import random
import socket
import stat
from pathlib import Path

from client import Client, grant
from fifo_openers import Openers
from scene import SharedSceneTest

# Around the sizes of buffers and pages.
_AROUND = [near for size in (512, 4096, 16384, 65536) for near in (size - 1, size, size + 1)]
SIZES = (0, 1, *_AROUND, 8191, 8192, 1_000_003)
PLAIN_NAMES = (
    *b"a.txt sub/b.txt sub/deep/er/c .hidden ... ..a a.. sub/..x".split(),
    *(b" ", b" lead", b"trail ", b"two words", b"OK 5"),
    *b"a:b newspaper getaway pingpong new".split(),
    *rb"back\slash -flag ~ * %00 %2e%2e".split(),
    *("größe.txt".encode(), "файл/имя".encode()),
    *(b"latin\xe9", b"\xff\xfe\x80", b"sub\xff/\x80"),
    *(b"n" * 255, b"/".join([b"d" * 100] * 5) + b"/f"),
)


class FileNamesTest(SharedSceneTest):
    mode = "prefetch"

    @classmethod
    def prepare(cls) -> None:
        generator = random.Random(3)
        cls.contents = {b"size/%d" % size: generator.randbytes(size) for size in SIZES}
        cls.contents |= {name: b"<" + name + b">" for name in PLAIN_NAMES}
        for name, content in cls.contents.items():
            cls.scene.write(name, content)
        outside = cls.scene.folder / "outside"
        outside.mkdir()
        (outside / "secret").write_bytes(b"secret")
        cls.make_links(cls.scene.root, outside)
        cls.make_special_files(cls.scene.root)
        authserver = cls.scene.authserver_of_alice()
        cls.fileserver = cls.scene.fileserver(authserver, "--files", cls.mode)

    @classmethod
    def make_links(cls, root: Path, outside: Path) -> None:
        targets: dict[str, str | Path] = {
            "to-file": "a.txt",
            "to-link": "to-file",
            "to-folder": "sub",
            "sub/up": "../a.txt",
            "sub/deep/around": "../../sub/b.txt",
            "sub/self": "../sub/./b.txt",
            "absolute": root / "a.txt",
            "absolute-folder": root / "sub",
            "etc": "/etc/passwd",
            "proc": "/proc/self/exe",
            "outside": outside / "secret",
            "above": "../outside/secret",
            "above-folder": "../outside",
            "back": "../files/a.txt",
            "back-folder": "../files/sub",
            "sub/back": "../../files/a.txt",
            "to-absolute": "absolute",
            "dangling": "nothing",
            "loop": "loop",
            "to-root": ".",
            "to-fifo": "fifo",
            "to-above": "..",
        }
        for name, target in targets.items():
            (root / name).symlink_to(target)

    @classmethod
    def make_special_files(cls, root: Path) -> None:
        os.mkfifo(root / "fifo")
        os.mkfifo(root / "sub" / "fifo")
        cls.openers = cls.scene.keep(Openers(root / "fifo", root / "sub" / "fifo"))
        listener = cls.scene.keep(socket.socket(socket.AF_UNIX))
        # A socket path is limited to 108 bytes, so it is given relative to an open folder.
        folder = os.open(root, os.O_PATH)
        listener.bind(f"/proc/self/fd/{folder}/socket")
        os.close(folder)
        with contextlib.suppress(PermissionError):
            # /dev/zero, which never ends.
            os.mknod(root / "device", stat.S_IFCHR | 0o666, os.makedev(1, 5))

    def setUp(self) -> None:
        self.client: Client = self.connect(self.fileserver)
        grant(self.client)

    def assert_not_found(self, *names: bytes) -> None:
        for name in names:
            self.assertEqual(self.client.ask(name), "not-found", name)
        self.assertEqual(self.client.ask(b"a.txt"), b"<a.txt>")

    def test_every_file_is_sent_whole_whatever_its_name_and_size(self) -> None:
        for name, content in self.contents.items():
            self.assertEqual(self.client.ask(name), content, name)

    def test_an_empty_file_is_ok_with_size_0(self) -> None:
        self.client.send(b"size/0\n")
        self.assertEqual(self.client.reply_line(), b"OK 0")

    def test_many_files_asked_for_at_once_come_in_order(self) -> None:
        names = list(self.contents) * 3
        self.assertEqual(self.client.ask_all(names), [self.contents[name] for name in names])

    def test_links_that_stay_inside_are_followed(self) -> None:
        for name, target in (
            (b"to-file", b"a.txt"),
            (b"to-link", b"a.txt"),
            (b"to-folder/b.txt", b"sub/b.txt"),
            (b"to-folder/deep/er/c", b"sub/deep/er/c"),
            (b"sub/up", b"a.txt"),
            (b"sub/deep/around", b"sub/b.txt"),
            (b"sub/self", b"sub/b.txt"),
            (b"to-folder/up", b"a.txt"),
            (b"to-root/a.txt", b"a.txt"),
            (b"to-root/to-root/to-link", b"a.txt"),
        ):
            self.assertEqual(self.client.ask(name), self.contents[target], name)

    def test_links_that_are_absolute_or_leave_are_not_found(self) -> None:
        self.assert_not_found(
            *b"absolute absolute-folder/b.txt etc proc outside above above-folder/secret".split(),
            *b"to-absolute to-root/outside to-above/outside/secret to-folder/../outside".split(),
        )

    def test_links_that_leave_and_come_back_are_not_found(self) -> None:
        self.assert_not_found(
            b"back", b"back-folder/b.txt", b"sub/back", b"to-folder/back", b"to-above/files/a.txt"
        )

    def test_links_to_nothing_are_not_found(self) -> None:
        self.assert_not_found(
            b"dangling", b"loop", b"loop/a.txt", b"to-fifo", b"to-folder", b"to-root"
        )

    def test_names_that_are_not_plain_relative_paths_are_not_found(self) -> None:
        self.assert_not_found(
            *b". .. / // ..// sub/.. sub/. size/0/".split(),
            *b"./a.txt /a.txt //a.txt a.txt/ a.txt// a.txt/. sub//b.txt sub/./b.txt".split(),
            *b"sub/../a.txt ../files/a.txt ../outside/secret".split(),
            *b"/etc/passwd ../../../../../../etc/passwd".split(),
            *(bytes(self.scene.root) + b"/a.txt", b"/" * 511),
        )

    def test_folders_are_not_found(self) -> None:
        self.assert_not_found(b"sub", b"sub/", b"sub/deep", b"sub\xff", b"size")

    def test_missing_files_are_not_found(self) -> None:
        self.assert_not_found(
            *b"nothing A.TXT sub/nothing nothing/b.txt a.txt/b size/00".split(),
            *(b"n" * 256, b"n" * 511, b"/".join([b"x"] * 256), b"a.txt ", b"\xff"),
        )

    def test_fifos_sockets_and_devices_are_not_found(self) -> None:
        self.assert_not_found(
            b"fifo", b"sub/fifo", b"to-folder/fifo", b"socket", b"device", b"fifo/x"
        )

    def test_a_fifo_is_never_opened(self) -> None:
        self.assert_not_found(b"fifo", b"sub/fifo", b"to-fifo", b"to-root/fifo")
        self.assertEqual(self.openers.opened, [])

    def test_every_not_found_has_the_same_text(self) -> None:
        names = [*b"nothing outside sub fifo ../outside/secret back etc /".split(), b"n" * 256]
        self.client.send(b"".join(name + b"\n" for name in names))
        self.assertEqual(len({self.client.reply_line() for _ in names}), 1)

    def test_every_name_is_denied_alike_before_a_granted_get(self) -> None:
        stranger = self.connect(self.fileserver)
        names = [*b"a.txt nothing fifo ../outside/secret sub / size/1000003".split(), b"\xff"]
        stranger.send(b"".join(name + b"\n" for name in names))
        lines = {stranger.reply_line() for _ in names}
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines.pop().startswith(b"ERR denied "))

    def test_a_file_named_like_a_request_is_the_request(self) -> None:
        for name in ("ping", "new:bob:pw", "get:alice:wrong"):
            self.scene.write(name, b"a file")
        self.assertEqual(self.client.ask("ping"), "OK")
        self.assertIn(self.client.ask("new:bob:pw"), ("OK", "exists"))
        self.assertEqual(self.client.ask("get:alice:wrong"), "denied")


class FileNamesFromDiskTest(FileNamesTest):
    mode = "disk"


class FileNamesOverTheMemoryLimitTest(FileNamesTest):
    """Prefetching with a memory limit of 0, so that every file is served from disk."""

    @classmethod
    def prepare(cls) -> None:
        super().prepare()
        cls.fileserver.stop()
        authserver = cls.scene.authserver()
        cls.fileserver = cls.scene.fileserver(authserver, "--memory-limit", "0")


class LinkedRootTest(SharedSceneTest):
    """The served folder is named by a symbolic link."""

    @classmethod
    def prepare(cls) -> None:
        cls.scene.write("a.txt", b"content")
        cls.scene.write("sub/b.txt", b"below")
        (cls.scene.root / "link").symlink_to("sub/b.txt")
        cls.linked_root = cls.scene.folder / "linked"
        cls.linked_root.symlink_to("files")
        cls.auth = cls.scene.authserver_of_alice()

    def test_its_files_and_links_are_served(self) -> None:
        for mode in ("prefetch", "disk"):
            with self.subTest(mode):
                client = self.connect(
                    self.scene.fileserver(self.auth, "--files", mode, "--root", self.linked_root)
                )
                grant(client)
                self.assertEqual(
                    client.ask_all([b"a.txt", b"sub/b.txt", b"link"]),
                    [b"content", b"below", b"below"],
                )
