"""A file system of FUSE that hangs: hung_fuse.py FOLDER MARK. It needs root, and no library.

At FOLDER it has one file, `large`, of 1 MiB. Its answers to requests of a kind wait as long as the
file MARK.KIND is there; KIND is read, open, look or close. It prints `mounted`, and a line for the
first request of each kind that waits. When it ends, whoever waits for it gets an error.
"""

import ctypes
import errno
import os
import select
import stat
import struct
import sys
from pathlib import Path

SIZE = 1 << 20
_LARGE = b"large"
_ROOT_ID, _FILE_ID = 1, 2
_HEAD = struct.Struct("<IIQQIIII")
_BUFFER = 1 << 18  # at least what may be written at once, and some more
_MOST_WRITE = 1 << 17
# The numbers of the kernel's include/uapi/linux/fuse.h.
_LOOKUP, _FORGET, _GETATTR, _OPEN, _READ, _STATFS, _RELEASE = 1, 2, 3, 14, 15, 17, 18
_FLUSH, _INIT, _OPENDIR, _READDIR, _RELEASEDIR, _BATCH_FORGET = 25, 26, 27, 28, 29, 42
_KINDS = {_READ: "read", _OPEN: "open", _LOOKUP: "look", _GETATTR: "look", _FLUSH: "close"}


def attributes(node: int) -> bytes:
    kind, size, links = (stat.S_IFDIR, 0, 2) if node == _ROOT_ID else (stat.S_IFREG, SIZE, 1)
    times = (0, 1_600_000_000, 1_600_000_000, 0, 0, 0)
    return struct.pack("<6Q10I", node, size, size // 512, *times, kind | 0o755, links, *(0,) * 5)


def folder_entry(node: int, at: int, name: bytes, kind: int) -> bytes:
    entry = struct.pack("<QQII", node, at, len(name), kind >> 12) + name
    return entry + bytes(-len(entry) % 8)


def answer(opcode: int, node: int, body: bytes) -> bytes | int:
    """The body of the answer, or the number of an error. Nothing is kept by the kernel."""
    if opcode == _INIT:
        return struct.pack("<4I2H2I2H8I", 7, 31, _MOST_WRITE, 0, 12, 9, _MOST_WRITE, 1, *(0,) * 10)
    if opcode == _LOOKUP:
        if body.rstrip(b"\0") != _LARGE:
            return errno.ENOENT
        return struct.pack("<4Q2I", _FILE_ID, 0, 0, 0, 0, 0) + attributes(_FILE_ID)
    if opcode == _GETATTR:
        return bytes(16) + attributes(node)
    if opcode in (_OPEN, _OPENDIR):
        return bytes(16)
    if opcode == _READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        return bytes(min(size, max(SIZE - offset, 0)))
    if opcode == _READDIR:
        (offset,) = struct.unpack_from("<Q", body, 8)
        return folder_entry(_FILE_ID, 1, _LARGE, stat.S_IFREG) if offset == 0 else b""
    if opcode == _STATFS:
        return bytes(40) + struct.pack("<10I", 512, 255, 512, *(0,) * 7)
    return b"" if opcode in (_FLUSH, _RELEASE, _RELEASEDIR) else errno.ENOSYS


def mount(folder: str) -> int:
    """Returns the descriptor by which the kernel asks."""
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"hung", folder.encode(), b"fuse", 0, options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"mount: {os.strerror(ctypes.get_errno())}")
    return device


class Server:
    def __init__(self, device: int, mark: str) -> None:
        self.device, self.mark = device, mark
        self.waiting: list[bytes] = []
        self.told: set[str] = set()

    def hangs(self, request: bytes) -> bool:
        kind = _KINDS.get(_HEAD.unpack_from(request)[1])
        if kind is None or not Path(f"{self.mark}.{kind}").exists():
            return False
        if kind not in self.told:
            print(kind, flush=True)
            self.told.add(kind)
        return True

    def reply(self, request: bytes) -> None:
        _, opcode, unique, node, *_ = _HEAD.unpack_from(request)
        if opcode in (_FORGET, _BATCH_FORGET):
            return
        done = answer(opcode, node, request[_HEAD.size :])
        error, body = (done, b"") if isinstance(done, int) else (0, done)
        try:
            os.write(self.device, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
        except FileNotFoundError:  # who asked was interrupted
            return

    def serve(self) -> None:
        while True:
            if select.select([self.device], [], [], 0.01)[0]:
                try:
                    self.waiting.append(os.read(self.device, _BUFFER))
                except FileNotFoundError:  # the same
                    continue
            waiting, self.waiting = self.waiting, []
            for request in waiting:
                self.waiting.append(request) if self.hangs(request) else self.reply(request)


if __name__ == "__main__":
    server = Server(mount(sys.argv[1]), sys.argv[2])
    print("mounted", flush=True)
    try:
        server.serve()
    except OSError as error:
        if error.errno != errno.ENODEV:  # it is not mounted any more
            raise
