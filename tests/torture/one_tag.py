"""Every version of a file has an entity tag of its own, so nothing that clients do by it is lost.

Clients count with If-Match: who was told that its upload replaced the number has counted. And two
clients put bytes of one size at the same moment. The clocks of file systems are fine, or have
ticks, or keep whole seconds.
"""

import base64
import http.client
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mount_namespace import NoMount, mounted_on, whole_seconds_on
from promise import Bench, Figure, Promise, broken
from threads import run_threads
from tree import Mutation

from rig import servers
from rig.processes import Address
from rig.servers import Server

_DISKS = ("build folder", "tmpfs", "ramfs", "ext4 of whole seconds")
_MODES = ("prefetch", "disk")
_CLIENTS = 4
_TIMEOUT_S = 60.0  # of a reply, and until somebody counts
_USER, _PASSWORD = "amy", "secret"
_CREDENTIALS = "Basic " + base64.b64encode(f"{_USER}:{_PASSWORD}".encode()).decode()


class _Client:
    """Asks on one connection."""

    def __init__(self, address: Address) -> None:
        self._connection = http.client.HTTPConnection(*address, timeout=_TIMEOUT_S)

    def ask(
        self, method: str, name: str, body: bytes | None = None, **conditions: str
    ) -> tuple[int, str, bytes]:
        """The status, the tag, and the body."""
        fields = {"Authorization": _CREDENTIALS, **conditions}
        self._connection.request(method, f"/{name}", body, fields)
        with self._connection.getresponse() as response:
            return response.status, response.getheader("ETag", ""), response.read()

    def put(self, name: str, body: bytes, **conditions: str) -> tuple[int, str]:
        status, tag, _ = self.ask("PUT", name, body, **conditions)
        if status not in (201, 204, 412):
            raise AssertionError(f"PUT was answered with {status}")
        return status, tag

    def close(self) -> None:
        self._connection.close()


@dataclass
class _Counted:
    """What the clients were told while they counted."""

    goal: int
    acknowledged: int = 0
    refused: int = 0
    found: int = 0
    slowest_s: float = 0.0
    mutex: threading.Lock = field(default_factory=threading.Lock)
    last_s: float = field(default_factory=time.monotonic)

    def is_over(self) -> bool:
        return self.acknowledged >= self.goal or time.monotonic() - self.last_s > _TIMEOUT_S

    def note(self, is_done: bool) -> None:
        with self.mutex:
            self.refused += not is_done
            if not is_done:
                return
            self.acknowledged += 1
            now = time.monotonic()
            self.slowest_s = max(self.slowest_s, now - self.last_s)
            self.last_s = now

    def is_right(self) -> bool:
        return self.found == self.acknowledged >= self.goal


def _number(value: int) -> bytes:
    return b"%020d" % value


def _count(address: Address, counted: _Counted, _: threading.Event) -> None:
    with closing(_Client(address)) as client:
        while not counted.is_over():
            status, tag, body = client.ask("GET", "number")
            assert status == 200, f"GET was answered with {status}"
            told = client.put("number", _number(int(body) + 1), **{"If-Match": tag})
            counted.note(told[0] == 204)


def _count_together(address: Address, goal: int) -> _Counted:
    with closing(_Client(address)) as client:
        client.put("number", _number(0))
    counted = _Counted(goal)
    run_threads([partial(_count, address, counted)] * _CLIENTS)
    with closing(_Client(address)) as client:
        counted.found = int(client.ask("GET", "number")[2])
    return counted


def _put_together(address: Address, rounds: int) -> int:
    """In how many rounds the tags of two clients were equal, or have been there before."""
    tags: list[list[str]] = [[], []]
    meet = threading.Barrier(2)

    def put(number: int, _: threading.Event) -> None:
        with closing(_Client(address)) as client:
            for _round in range(rounds):
                meet.wait(_TIMEOUT_S)
                tags[number].append(client.put("tag", b"%020d" % number)[1])

    run_threads([partial(put, 0), partial(put, 1)])
    seen: set[str] = set()
    equal = 0
    for pair in zip(*tags):
        equal += len(seen.union(pair)) != len(seen) + 2
        seen.update(pair)
    return equal


@contextmanager
def _serving(bench: Bench, disk: str, mode: str) -> Iterator[Address]:
    """Raises NoMount."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as name:
        folder = Path(name)
        root = folder / "files"
        root.mkdir()
        wrapper: list[str] = []
        if disk == "ext4 of whole seconds":
            wrapper = whole_seconds_on(root, folder / "image")
        elif disk != "build folder":
            wrapper = mounted_on(root, "-t", disk, "none")
        flags = ["--http-listen", "127.0.0.1:0", "--uploads", "folder", "--files", mode]
        store = ["--sqlite-path", str(folder / "accounts.db"), "--password-scheme", "plain"]
        with servers.running(
            bench.programs,
            store_flags=store,
            root=root,
            logs=folder,
            fileserver=Server(
                [*bench.model_flags, *flags, "--log-level", "error"], wrapper=wrapper
            ),
        ) as pair:
            servers.make_account(pair.address, _USER, _PASSWORD)
            yield pair.fileserver.further_address("http")


def _measure(bench: Bench, disks: tuple[str, ...] = _DISKS) -> Figure:
    count = bench.scaled(10_000, 100)
    is_kept = True
    texts = []
    for disk in disks:
        for mode in _MODES:
            try:
                with _serving(bench, disk, mode) as address:
                    counted = _count_together(address, count)
                    equal = _put_together(address, count)
            except NoMount as reason:
                texts.append(f"{disk} was left out: {reason}")
                break
            is_kept = is_kept and counted.is_right() and equal == 0
            texts.append(
                f"{disk}, {mode}: {counted.acknowledged:,} counted, {counted.found:,} found,"
                f" {counted.refused:,} refused, at most {counted.slowest_s:.2f} s for one;"
                f" {equal} of {count:,} rounds with equal tags"
            )
    return Figure(is_kept, "; ".join(texts))


def measure(bench: Bench) -> Figure:
    return _measure(bench)


_ONE_TAG = Mutation(
    "tags-of-uploads-are-not-unique",
    "fileserver/files/uploads.cpp",
    "upload.has_asked_time_ || times_.give(file.fd(), name, replaced.modified_ns);",
    "replaced.modified_ns >= 0;",
)


def control(bench: Bench) -> Figure:
    """A server whose uploads have the times that the file system gives them."""
    return _measure(broken(bench, _ONE_TAG, "fileserver"), _DISKS[:1])


PROMISE = Promise("a version has one name", measure, control)
