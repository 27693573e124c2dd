"""No file name leads out of the served folder, however it is spelt and whatever is in it."""

import itertools
import os
import random
import re
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig import servers
from rig.processes import Address
from rig.servers import Server

CANARY = b"canary-0f3b1c9a77-outside"
INSIDE = b"inside"
_USER, _PASSWORD = "visitor", "a-password"
_MODES = ("prefetch", "disk")
_REPLY_TIMEOUT_S = 60.0
_MAX_NAME_BYTES = 511

_DOTS = (
    *("..", "%2e%2e", "%2E%2E", ".%2e", "%2e.", "%252e%252e", "..%00", "...", "....", ". .", ".. "),
    *("\uff0e\uff0e", "\u2025", "..;", "..\\", "\\..", "..%c0%af", "%c0%ae%c0%ae", "./..", "../."),
)
_SLASHES = ("/", "//", "\\", "%2f", "%2F", "%5c", "%c0%af", "/./", "\\/", "\u2215", "/.//", "%252f")
_TARGETS = ("secret", "files-beside/secret", "etc/passwd", "proc/self/environ", "secret\\")
_PREFIXES = ("", "/", "./", "sub/", "sub/deep/", "//", "file:///", "~/", "sub//", "C:\\")
_LINKS = (
    *("link-to-file", "link-to-folder/secret", "absolute-link", "absolute-folder/secret"),
    *("sub/out/secret", "out-and-in/sub/a", "link-to-proc/self/environ", "link-to-proc/version"),
    *("chain", "link-to-root/etc/passwd", "sub/link-to-dev/zero", "link-to-fd/0", "fifo", "zero"),
    *("socket", "link-to-fifo", "loop", "hard/../../secret", "sub", "sub/", "", "."),
)


@dataclass
class _Seen:
    """What clients received."""

    asked: int = 0
    canary_bytes: int = 0
    leaked: list[bytes] = field(default_factory=list)  # the names

    def add(self, name: bytes, body: bytes | None) -> None:
        self.asked += 1
        if body is None or body == INSIDE:
            return
        self.canary_bytes += len(body)
        self.leaked.append(name)


class _Client:
    def __init__(self, address: Address) -> None:
        self._socket = socket.create_connection(address, timeout=_REPLY_TIMEOUT_S)
        self._replies = self._socket.makefile("rb")
        self._socket.sendall(f"get:{_USER}:{_PASSWORD}\n".encode())
        reply = self._replies.readline()
        assert reply == b"OK\n", reply

    def ask(self, names: list[bytes]) -> Iterator[bytes | None]:
        """The body for each of the names, or None for an error."""
        self._socket.sendall(b"".join(name + b"\n" for name in names))
        for name in names:
            line = self._replies.readline()
            if sized := re.fullmatch(rb"OK (\d+)\n", line):
                yield self._replies.read(int(sized[1]))
            else:
                assert re.match(rb"ERR (not-found|syntax) ", line), (name, line)
                yield None

    def close(self) -> None:
        self._replies.close()
        self._socket.close()


def _names(count: int) -> list[bytes]:
    """Ways to spell a path out of the folder: those through links first, then random ones."""
    spelt = [name.encode() for name in _LINKS]
    chance = random.Random(7)
    ways = list(itertools.product(_PREFIXES, _DOTS, _SLASHES, range(1, 7), _TARGETS))
    chance.shuffle(ways)
    for prefix, dots, slash, depth, target in ways:
        name = (prefix + (dots + slash) * depth + target).encode()
        if chance.random() < 0.2:  # a byte that is changed or put in
            at = chance.randrange(len(name))
            name = name[:at] + bytes([chance.choice((0, 0x2E, 0x2F, 0x5C, 0xC0, 0xFF))]) + name[at:]
        spelt.append(name[:_MAX_NAME_BYTES].replace(b"\n", b""))
        if len(spelt) >= count:
            break
    return spelt


def _make_folder(folder: Path) -> Path:
    """A served folder with every way out that a file system offers, and canaries outside of it."""
    root = folder / "files"
    beside = folder / "files-beside"
    for made in (root / "sub" / "deep", beside):
        made.mkdir(parents=True)
    for outside in (folder / "secret", beside / "secret"):
        outside.write_bytes(CANARY)
    (root / "sub" / "a").write_bytes(INSIDE)
    (root / "turned").write_bytes(INSIDE)
    (root / "turned-folder").mkdir()
    (root / "turned-folder" / "secret").write_bytes(INSIDE)
    for name, target in {
        "link-to-file": "../secret",
        "link-to-folder": "../files-beside",
        "absolute-link": str(folder / "secret"),
        "absolute-folder": str(beside),
        "sub/out": "../..",
        "out-and-in": "../files",
        "link-to-proc": "/proc",
        "link-to-root": "/",
        "sub/link-to-dev": "/dev",
        "link-to-fd": "/proc/self/fd",
        "link-to-fifo": "fifo",
        "loop": "loop",
        "chain": "chain2",
        "chain2": "sub/out/secret",
    }.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as unix, suppress(OSError):  # the path may be too long
        unix.bind(str(root / "socket"))
    with suppress(PermissionError):  # without root there is no device
        os.mknod(root / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    return root


def _turn(root: Path, is_over: threading.Event) -> None:
    """Puts links that lead out in the place of a file and of a folder, and back, all the time."""
    file, link = root.parent / "turning-file", root.parent / "turning-link"
    folder, away = root / "turned-folder", root.parent / "turned-away"
    folder_link = root.parent / "folder-link"
    while not is_over.is_set():
        link.symlink_to("../secret")
        link.rename(root / "turned")
        folder.rename(away)
        folder_link.symlink_to("../files-beside")
        folder_link.rename(folder)
        file.write_bytes(INSIDE)
        file.rename(root / "turned")
        folder.unlink()
        away.rename(folder)


def _ask_turned(address: Address, count: int, seen: _Seen) -> None:
    names = [b"turned", b"turned-folder/secret", b"sub/../turned", b"sub/a"] * 25
    client = _Client(address)
    for _ in range(count // len(names)):
        for name, body in zip(names, client.ask(names), strict=True):
            seen.add(name, body)
    client.close()


def _visit(bench: Bench, mode: str, seen: _Seen, turned: _Seen) -> None:
    folder = bench.folder / f"{mode}-{bench.programs.folder.name}"
    root = _make_folder(folder)
    with servers.running(
        bench.programs,
        store_flags=["--sqlite-path", str(folder / "accounts.db"), "--password-scheme", "plain"],
        root=root,
        logs=folder / "logs",
        fileserver=Server([*bench.model_flags, "--files", mode]),
    ) as pair:
        servers.make_account(pair.address, _USER, _PASSWORD)
        names = _names(bench.scaled(5000, 5000))
        client = _Client(pair.address)
        for begin in range(0, len(names), 100):
            some = names[begin : begin + 100]
            for name, body in zip(some, client.ask(some), strict=True):
                seen.add(name, body)
        client.close()
        is_over = threading.Event()
        turning = threading.Thread(target=_turn, args=(root, is_over))
        turning.start()
        try:
            _ask_turned(pair.address, bench.scaled(100_000, 5000), turned)
        finally:
            is_over.set()
            turning.join()


def measure(bench: Bench) -> Figure:
    """In both file modes."""
    seen, turned = _Seen(), _Seen()
    for mode in _MODES:
        _visit(bench, mode, seen, turned)
    leaked = seen.canary_bytes + turned.canary_bytes
    examples = b", ".join([*seen.leaked[:3], *turned.leaked[:3]])
    return Figure(
        leaked == 0,
        f"{leaked} bytes from outside, in {seen.asked} names and {turned.asked} gets of files that"
        f" become links{f'; with {examples!r}' if leaked else ''}",
    )


_OPEN_FENCE = Mutation(
    "fence-follows-links-out",
    "fileserver/files/fence.cpp",
    "how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve;",
    "how.resolve = resolve;",
)


def control(bench: Bench) -> Figure:
    """A fence that lets links lead out of the folder."""
    return measure(broken(bench, _OPEN_FENCE, "fileserver"))


PROMISE = Promise("no way out of the folder", measure, control)
