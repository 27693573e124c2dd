"""Files change in every way while clients fetch them, and a disk returns errors."""

import contextlib
import itertools
import re
import socket
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from promise import Bench, Figure, Promise, broken
from threads import run_threads
from tree import Mutation

from rig import servers
from rig.errors import Failed
from rig.processes import Address
from rig.servers import Pair, Server

_USER, _PASSWORD = "reader", "a-password"
_MODES = ("prefetch", "disk")
_NAMES = ("rewritten", "overwritten", "replaced", "truncated", "unlinked", "linked", "chmodded")
_MOUNTED = "mounted"  # by root only
_RECORD = 16  # bytes; each says which version of the file it belongs to
_BYTES = 1 << 20
_READING_PAUSES_S = (0.0, 0.0, 0.02, 0.02)  # of each reader, in the middle of a file
_RECEIVE_BUFFER = 1 << 14  # so that the server waits with the rest of the file meanwhile
_PAUSE_S = 0.005  # between two changes, so that some files settle
_SOON_S = 2.0  # the protocol's promise
_TIMEOUT_S = 60.0


def _content(version: int, size: int = _BYTES) -> bytes:
    return b"%015d\n" % version * (size // _RECORD)


def _version_of(body: bytes) -> int | None:
    """The one version that all of the body is of. None for a mixed or padded body."""
    if not body:
        return 0  # a file that was just made, or truncated
    record = body[:_RECORD]
    whole = re.fullmatch(rb"\d{15}\n", record) and body == record * (len(body) // _RECORD)
    return int(record) if whole else None


class _Writer:
    """Changes one file again and again, in its own way. `version` is the last complete one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version = 0
        self._change: Callable[[bytes], None] = getattr(self, f"_{path.name}")
        self.change()

    def change(self) -> None:
        self._change(_content(self.version + 1))
        self.version += 1

    def _rewritten(self, content: bytes) -> None:
        self.path.write_bytes(content)

    def _overwritten(self, content: bytes) -> None:
        if not self.path.exists():
            self.path.touch()
        with self.path.open("r+b", buffering=0) as file:
            file.write(content)  # at once: what is between two writes is a version, too

    def _replaced(self, content: bytes) -> None:
        fresh = self.path.parent.parent / f"fresh-{self.path.name}"
        fresh.write_bytes(content)
        fresh.rename(self.path)

    def _truncated(self, content: bytes) -> None:
        self.path.touch()
        with self.path.open("r+b", buffering=0) as file:
            file.truncate(0)
            file.write(content)
            file.truncate(_BYTES // 4)

    def _unlinked(self, content: bytes) -> None:
        self.path.unlink(missing_ok=True)
        self.path.write_bytes(content)

    def _linked(self, content: bytes) -> None:
        other = self.path.parent.parent / "other-name"
        self.path.touch()
        other.unlink(missing_ok=True)
        other.hardlink_to(self.path)
        self._overwritten(content)
        other.unlink()

    def _chmodded(self, content: bytes) -> None:
        self.path.touch()
        self.path.chmod(0o600)
        self._overwritten(content)
        self.path.chmod(0o400)
        self.path.chmod(0o644)

    def _mounted(self, content: bytes) -> None:
        """A new file is mounted in the place of the last one."""
        fresh = self.path.parent.parent / f"mounted-{self.version}"
        fresh.write_bytes(content)
        self.path.touch()
        _umount(self.path)
        _mount(fresh, self.path)
        (fresh.parent / f"mounted-{self.version - 1}").unlink(missing_ok=True)

    def close(self) -> None:
        while self.path.name == _MOUNTED and _umount(self.path):
            continue


def _mount(source: Path, target: Path) -> None:
    subprocess.run(["mount", "--bind", str(source), str(target)], check=True, capture_output=True)


def _umount(target: Path) -> bool:
    command = ["umount", "--lazy", str(target)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _can_mount(folder: Path) -> bool:
    try:
        _mount(folder, folder)
    except (OSError, subprocess.CalledProcessError):
        return False
    return _umount(folder)


@dataclass
class _Seen:
    """What all readers received. Threads: any."""

    counts: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    wrong: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, body: bytes | str) -> None:
        with self._lock:
            if isinstance(body, str):
                self.counts[body] += 1
            elif _version_of(body) is None:
                self.wrong.append(f"{name}: {len(body)} bytes of {sorted(set(_records(body)))[:3]}")
            else:
                self.counts["whole"] += 1


def _records(body: bytes) -> Iterator[bytes]:
    return (body[at : at + _RECORD] for at in range(0, len(body), 1 << 16))


class _Reader:
    """Fetches files, on a new connection after each one that was cut."""

    def __init__(self, address: Address, pause_s: float = 0.0) -> None:
        self._address = address
        self._pause_s = pause_s
        self._socket: socket.socket | None = None

    def fetch(self, name: str) -> bytes | str:
        """The body, the error, or `cut` if the connection ended early."""
        if self._socket is None:
            self._connect()
        assert self._socket is not None
        try:
            self._socket.sendall(f"{name}\n".encode())
            line = self._replies.readline()
            if error := re.match(rb"ERR ([a-z-]+) ", line):
                if error[1] == b"internal":
                    self.close()
                return error[1].decode()
            if not (sized := re.fullmatch(rb"OK (\d+)\n", line)):
                assert not line.endswith(b"\n"), line
                raise ConnectionResetError
            time.sleep(self._pause_s)
            body = self._replies.read(int(sized[1]))
            if len(body) < int(sized[1]):
                raise ConnectionResetError
            return body
        except (ConnectionResetError, BrokenPipeError):
            self.close()
            return "cut"

    def _connect(self) -> None:
        self._socket = socket.socket()
        self._socket.settimeout(_TIMEOUT_S)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        self._socket.connect(self._address)
        self._replies = self._socket.makefile("rb")
        self._socket.sendall(f"get:{_USER}:{_PASSWORD}\n".encode())
        reply = self._replies.readline()
        assert reply == b"OK\n", reply

    def close(self) -> None:
        if self._socket is not None:
            self._replies.close()
            self._socket.close()
        self._socket = None


def _read(
    address: Address, names: list[str], pause_s: float, seen: _Seen, is_over: threading.Event
) -> None:
    reader = _Reader(address, pause_s)
    for name in itertools.cycle(names):
        if is_over.is_set():
            break
        seen.add(name, reader.fetch(name))
    reader.close()


def _change_all(writers: list[_Writer], is_over: threading.Event) -> None:
    for writer in itertools.cycle(writers):
        if is_over.is_set():
            break
        writer.change()
        time.sleep(_PAUSE_S)


def _wait_for_truth(address: Address, writers: list[_Writer], seen: _Seen) -> None:
    """After a last change of each file: how long until what is true is served."""
    reader = _Reader(address)
    for writer in writers:
        writer.change()
        begun = time.monotonic()
        wanted = writer.path.read_bytes()
        while reader.fetch(writer.path.name) != wanted:
            if time.monotonic() - begun > _TIMEOUT_S:
                seen.wrong.append(f"{writer.path.name} stays old")
                break
            time.sleep(0.005)
        seen.slowest_s = max(seen.slowest_s, time.monotonic() - begun)
    reader.close()


@contextlib.contextmanager
def _running(
    bench: Bench, folder: Path, mode: str, wrapper: list[str]
) -> Iterator[tuple[Address, list[_Writer]]]:
    root = folder / "files"
    root.mkdir(parents=True)
    is_mounting = _can_mount(root)
    writers = [_Writer(root / name) for name in (*_NAMES, *([_MOUNTED] if is_mounting else []))]
    with contextlib.ExitStack() as stack:
        for writer in writers:
            stack.callback(writer.close)
        pair = stack.enter_context(_servers(bench, folder, mode, wrapper))
        servers.make_account(pair.address, _USER, _PASSWORD)
        yield pair.address, writers


def _servers(
    bench: Bench, folder: Path, mode: str, wrapper: list[str]
) -> contextlib.AbstractContextManager[Pair]:
    return servers.running(
        bench.programs,
        store_flags=["--sqlite-path", str(folder / "accounts.db"), "--password-scheme", "plain"],
        root=folder / "files",
        logs=folder / "logs",
        fileserver=Server(
            [*bench.model_flags, "--files", mode, "--log-level", "error"], wrapper=wrapper
        ),
    )


def _bad_disk(bench: Bench, root: Path) -> list[str]:
    """A command prefix: reads of files in this folder fail now and then."""
    source = Path(__file__).with_name("bad_disk.c")
    library = bench.folder / "bad_disk.so"
    if not library.exists():
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise Failed(f"cc: {made.stderr}")
    return ["env", f"LD_PRELOAD={library}", f"BAD_DISK={root}"]


def _measure(bench: Bench, modes: tuple[str, ...] = _MODES) -> Figure:
    """Changing files on a good disk and on a bad one, in both file modes."""
    seen, bad = _Seen(), _Seen()
    seconds = bench.scaled(30, 2)
    for mode, counts in itertools.product(modes, (seen, bad)):
        folder = bench.folder / f"{mode}-{counts is bad}-{bench.programs.folder.name}"
        wrapper = _bad_disk(bench, folder / "files") if counts is bad else []
        with _running(bench, folder, mode, wrapper) as (address, writers):
            names = [writer.path.name for writer in writers]
            readers = [partial(_read, address, names, one, counts) for one in _READING_PAUSES_S]
            run_threads([partial(_change_all, writers), *readers], seconds)
            if counts is seen:
                _wait_for_truth(address, writers, counts)
    wrong = seen.wrong + bad.wrong
    gets = sum(seen.counts.values()) + sum(bad.counts.values()) + len(wrong)
    mounts = "with" if _can_mount(bench.folder) else "without"
    is_tested = seen.counts["whole"] > 0 and bad.counts["whole"] > 0 and bad.counts["cut"] > 0
    return Figure(
        not wrong and is_tested and seen.slowest_s <= _SOON_S,
        f"{len(wrong)} wrong bodies in {gets} gets ({dict(seen.counts)}, with read errors"
        f" {dict(bad.counts)}); what is true is served within {seen.slowest_s:.2f} s;"
        f" {mounts} mounts" + (f"; {wrong[:3]}" if wrong else ""),
    )


def measure(bench: Bench) -> Figure:
    return _measure(bench)


_BLIND = Mutation(
    "disk-does-not-compare-versions",
    "fileserver/files/opened_file.cpp",
    "(left > 0 || is_still(file))",
    "(left > 0 || is_still(file) || true)",
)


def control(bench: Bench) -> Figure:
    """A fileserver that does not look whether a file has changed while it was sent."""
    return _measure(broken(bench, _BLIND, "fileserver"), ("disk",))


PROMISE = Promise("files change under it", measure, control)
