"""--read-size and --read-ahead: how files are read from disk."""

import ctypes
import mmap
import os
from pathlib import Path

from client import grant
from http_client import FLAG, HttpClient
from programs import Program
from scene import SceneTest

SIZE = 1_000_000


def pages_in_memory(path: Path) -> int:
    """How many pages of the file the system keeps."""
    libc = ctypes.CDLL(None, use_errno=True)
    size = path.stat().st_size
    found = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
    with path.open("rb") as file, mmap.mmap(file.fileno(), size, mmap.MAP_PRIVATE) as mapped:
        begin = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        if libc.mincore(ctypes.c_void_p(begin), ctypes.c_size_t(size), found):
            raise OSError(ctypes.get_errno(), "mincore")
    return sum(page & 1 for page in found.raw)


def forget(path: Path) -> None:
    """Throws the file out of memory, if its file system can."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class FileReadsTest(SceneTest):
    def setUp(self) -> None:
        super().setUp()
        self.authserver = self.scene.authserver_of_alice("--password-scheme", "plain")
        self.path = self.scene.write("file", os.urandom(SIZE))
        os.utime(self.path, (1, 1))

    def fileserver(self, *flags: str) -> Program:
        return self.scene.fileserver(self.authserver, *FLAG, "--debuggable", *flags)

    def reads_of_one_get(self, *flags: str) -> int:
        server = self.fileserver(*flags)
        client = self.scene.client(server)
        grant(client)
        before = self.reads(server)
        client.send("file\n")
        self.assertEqual(client.take(client.begin_file()), self.path.read_bytes())
        return self.reads(server) - before

    def reads(self, server: Program) -> int:
        lines = Path(f"/proc/{server.pid}/io").read_text(encoding="ascii").splitlines()
        return int(dict(line.split(": ") for line in lines)["syscr"])

    def test_read_size_is_what_one_read_asks_for(self) -> None:
        for flags in (("--files", "disk"), ("--memory-limit", "0")):
            small = self.reads_of_one_get(*flags, "--read-size", "1000")
            large = self.reads_of_one_get(*flags, "--read-size", "1M")
            self.assertGreaterEqual(small, SIZE // 1000)
            self.assertLess(large, 100)

    def test_without_read_ahead_only_what_is_asked_for_is_read(self) -> None:
        kept = {}
        for ahead in ("on", "off"):
            server = self.fileserver("--files", "disk", "--read-size", "4K", "--read-ahead", ahead)
            forget(self.path)
            if pages_in_memory(self.path):
                self.skipTest("this file system cannot throw a file out of memory")
            client = HttpClient(server, "alice", "wonderland")
            self.addCleanup(client.close)
            self.assertEqual(client.ask("/file", "Range: bytes=0-99").status, 206)
            kept[ahead] = pages_in_memory(self.path)
        self.assertEqual(kept["off"], 1)
        self.assertGreater(kept["on"], 1)
