"""A PUT that was answered stays, and every file is whole, after crashes and power cuts.

Each sender replaces files of its own, version after version. Each version says its number in every
line, so a file shows which version it is, and whether it is one version and whole.
"""

import base64
import contextlib
import http.client
import random
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from attacked import Restartable, on_a_free_port
from client import Client
from power_cut import PowerCut
from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig.processes import Address

_SENDERS = 20
_NAMES = 2  # of each sender
_LINES = (1, 500, 20_000)  # of a version
_REPLY_TIMEOUT_S = 60.0
_PAUSE_S = 0.02
_HIDDEN = ".turnstile-upload-"  # files that are no upload yet
_USER, _PASSWORD = "amy", "secret"
_CREDENTIALS = "Basic " + base64.b64encode(f"{_USER}:{_PASSWORD}".encode()).decode()
_UNCONFINED = {"FILESERVER_SANDBOX": "off"}  # power_cut.c writes beside the served folder


def _version(name: str, number: int) -> bytes:
    line = f"{name} {number}\n".encode()
    return line * _LINES[number % len(_LINES)]


@dataclass
class _File:
    """What was done to one name: 0 is no version."""

    sent: int = 0
    acknowledged: int = 0

    def found(self, name: str, content: bytes | None) -> str:
        """What is wrong with the file, or nothing."""
        number = 0
        if content is not None:
            words = content.partition(b"\n")[0].split()
            number = int(words[1]) if len(words) == 2 and words[1].isdigit() else -1
            if number < 1 or content != _version(name, number):
                return "not whole"
        return "" if self.acknowledged <= number <= self.sent else "lost"


@dataclass
class _Sender:
    """Puts versions of its files until stop(). Connects again when it has to."""

    address: Address
    names: list[str]
    files: dict[str, _File] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_ending.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                self._talk()
            time.sleep(_PAUSE_S)

    def _talk(self) -> None:
        connection = http.client.HTTPConnection(*self.address, timeout=_REPLY_TIMEOUT_S)
        with contextlib.closing(connection):
            while not self._is_ending.is_set():
                name = random.choice(self.names)
                file = self.files.setdefault(name, _File())
                file.sent += 1
                body = _version(name, file.sent)
                connection.request("PUT", f"/{name}", body, {"Authorization": _CREDENTIALS})
                with connection.getresponse() as response:
                    response.read()
                if response.status not in (201, 204):
                    raise AssertionError(f"PUT was answered with {response.status}")
                file.acknowledged = file.sent

    def stop(self) -> None:
        self._is_ending.set()
        self._thread.join()


@dataclass
class _Tally:
    rounds: int = 0
    uploads: int = 0
    not_whole: int = 0
    lost: int = 0
    left: int = 0

    def is_kept(self) -> bool:
        return not (self.not_whole or self.lost or self.left)

    def __str__(self) -> str:
        return (
            f"{self.rounds}, {self.uploads:,} uploads: {self.not_whole} not whole, "
            f"{self.lost} lost, {self.left} left over"
        )


class _HttpFront(Restartable):
    """A fileserver whose HTTP front keeps its port too."""

    def __init__(self, bench: Bench, folder: Path, root: Path, auth: Address, **options) -> None:
        log = folder / "fileserver.log"

        def start(http: Address) -> None:
            self.http = http
            flags = ["--auth", str(auth), "--root", str(root), *bench.model_flags]
            flags += ["--http-listen", str(http), "--uploads", "folder"]
            super(_HttpFront, self).__init__(bench.programs, "fileserver", flags, log, **options)

        on_a_free_port(start)


@contextmanager
def _authserver(bench: Bench, folder: Path) -> Iterator[Address]:
    flags = ["--sqlite-path", str(folder / "accounts.db"), "--password-scheme", "plain"]
    server = Restartable(bench.programs, "authserver", flags, folder / "authserver.log")
    try:
        client = Client(server.address)
        assert client.ask(f"new:{_USER}:{_PASSWORD}".encode()) == "OK"
        client.close()
        yield server.address
    finally:
        server.close()


def _round(
    server: _HttpFront, files: dict[str, _File], tally: _Tally, root: Path, power: PowerCut | None
) -> None:
    """Senders put until the server is killed, and perhaps the power is cut."""
    senders = []
    for number in range(_SENDERS):
        names = [f"{number}.{letter}" for letter in "abcdefgh"[:_NAMES]]
        senders.append(
            _Sender(server.http, names, {name: files.setdefault(name, _File()) for name in names})
        )
    before = sum(file.acknowledged for file in files.values())
    while sum(file.acknowledged for file in files.values()) == before:
        time.sleep(_PAUSE_S)
    time.sleep(random.uniform(0, 0.4))
    server.kill()
    for sender in senders:
        sender.stop()
    if power:
        power.cut()
    server.start()
    for name, file in files.items():
        path = root / name
        wrong = file.found(name, path.read_bytes() if path.exists() else None)
        tally.not_whole += wrong == "not whole"
        tally.lost += wrong == "lost"
        # What is there now is what the next round builds on.
        file.acknowledged = 0 if wrong else file.acknowledged
    tally.rounds += 1
    tally.left = sum(path.name.startswith(_HIDDEN) for path in root.rglob("*"))


def _rounds(bench: Bench, rounds: int, *, has_power_cuts: bool) -> _Tally:
    folder = Path(tempfile.mkdtemp(prefix="uploads", dir=bench.folder))
    power = PowerCut(folder) if has_power_cuts else None
    root = power.root if power else folder / "files"
    root.mkdir(exist_ok=True)
    files: dict[str, _File] = {}
    tally = _Tally()
    with _authserver(bench, folder) as auth:
        environment = power.variables() | _UNCONFINED if power else None
        server = _HttpFront(bench, folder, root, auth, environment=environment)
        try:
            for _ in range(rounds):
                _round(server, files, tally, root, power)
        finally:
            server.close()
    tally.uploads = sum(file.sent for file in files.values())
    return tally


def measure(bench: Bench) -> Figure:
    killed = _rounds(bench, bench.scaled(100, 5), has_power_cuts=False)
    cut = _rounds(bench, bench.scaled(20, 3), has_power_cuts=True)
    return Figure(
        killed.is_kept() and cut.is_kept(),
        f"{_SENDERS} senders; kills {killed}; power cuts {cut}",
    )


_NOT_SYNCED = Mutation(
    "upload-is-named-before-it-is-on-disk",
    "fileserver/files/uploads.cpp",
    "if (!upload.file_.sync())",
    "if (false)",
)


def control(bench: Bench) -> Figure:
    """Without the sync of its bytes, a file has its name and not its content."""
    cut = _rounds(broken(bench, _NOT_SYNCED, "fileserver"), 2, has_power_cuts=True)
    return Figure(cut.is_kept(), f"without a sync: power cuts {cut}")


PROMISE = Promise("uploads survive", measure, control)
