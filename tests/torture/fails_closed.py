"""The authserver is away: no byte of a file leaves without its OK, and clients are told at once."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from attacked import on_a_free_port
from client import Client, Reply
from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig import servers
from rig.processes import Address, Program

_USER, _PASSWORD, _NAME, _CONTENT = "known", "known-password", "canary", b"canary" * 100
_GET = f"get:{_USER}:{_PASSWORD}"
_CLIENTS = 8
_AUTH_TIMEOUT_S = 1
_AT_ONCE_S = 0.05
_GENEROUS_S = 10  # of the short form, which runs beside other things


@dataclass
class _Seen:
    """What clients saw while the authserver was away."""

    requests: int = 0
    file_bytes: int = 0
    late_s: list[float] = field(default_factory=list)  # beyond what the fileserver has to wait

    def add(self, reply: Reply) -> None:
        self.requests += 1
        self.file_bytes += len(reply) if isinstance(reply, bytes) else 0


class _Scene:
    """An authserver that comes and goes, and the fileserver in front of it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        root = bench.folder / "files"
        root.mkdir(exist_ok=True)
        (root / _NAME).write_bytes(_CONTENT)
        (bench.folder / "accounts.db").unlink(missing_ok=True)
        on_a_free_port(self._start_authserver_at)
        flags = [*servers.fileserver_flags(self._auth, root), *bench.model_flags]
        self._fileserver = self._start(
            "fileserver", [*flags, "--auth-timeout", str(_AUTH_TIMEOUT_S)]
        )
        self.address = self._fileserver.wait_ready(60)
        servers.make_account(self.address, _USER, _PASSWORD)

    def _start_authserver_at(self, address: Address) -> None:
        self._auth = address
        self.start_authserver()

    def start_authserver(self) -> Program:
        accounts = str(self._bench.folder / "accounts.db")
        flags = ["--listen", str(self._auth), "--sqlite-path", accounts]
        self.authserver = self._start("authserver", flags)
        self.authserver.wait_ready(60)
        return self.authserver

    def close(self) -> None:
        self.authserver.resume()
        self._fileserver.stop()
        self.authserver.stop()

    def _start(self, name: str, flags: list[str]) -> Program:
        log = self._bench.folder / f"{name}.log"
        return Program(name, [str(self._bench.programs.path(name)), *flags], log)


@contextmanager
def _scene(bench: Bench) -> Iterator[_Scene]:
    scene = _Scene(bench)
    try:
        yield scene
    finally:
        scene.close()


def _granted(address: Address) -> Client:
    client = Client(address)
    if client.ask(_GET) != "OK" or client.ask(_NAME) != _CONTENT:
        raise AssertionError("the file was not served while all was well")
    return client


def _visit(address: Address, client: Client, until: float, known_after_s: float) -> _Seen:
    """Logs in again and again: on a connection that was granted before, and on new ones."""
    seen = _Seen()
    while True:
        fresh = Client(address)
        for one in (client, fresh):
            start = time.monotonic()
            if (reply := one.ask(_GET)) != "unavailable":
                raise AssertionError(f"without an authserver, get: is answered with {reply!r}")
            seen.late_s.append(time.monotonic() - start - known_after_s)
            seen.add(one.ask(_NAME))
        fresh.send(f"{_GET}\n{_NAME}\n{_NAME}\n")
        for _ in range(3):
            seen.add(fresh.reply())
        fresh.close()
        if time.monotonic() > until:
            return seen


def _outage(address: Address, clients: list[Client], seconds: float, known_after_s: float) -> _Seen:
    """What clients see for this long. The authserver is away already."""
    until, total = time.monotonic() + seconds, _Seen()
    with ThreadPoolExecutor(_CLIENTS) as pool:
        visits = [pool.submit(_visit, address, client, until, known_after_s) for client in clients]
    for seen in (visit.result() for visit in visits):
        total.requests += seen.requests
        total.file_bytes += seen.file_bytes
        total.late_s += seen.late_s
    return total


def _wait_until_served(address: Address) -> float:
    start = time.monotonic()
    while servers.ask(address, _GET) != b"OK\n":
        if time.monotonic() - start > 30:
            raise AssertionError("no log-in works 30 s after the authserver is back")
    return time.monotonic() - start


def measure(bench: Bench) -> Figure:
    return _measure(bench, bench.scaled(30, 2))


def _measure(bench: Bench, seconds: float) -> Figure:
    figures, is_kept = [], True
    with _scene(bench) as scene:
        for cause in ("killed", "hanging"):
            clients = [_granted(scene.address) for _ in range(_CLIENTS)]
            if cause == "killed":
                scene.authserver.kill()
                seen = _outage(scene.address, clients, seconds, 0)
                scene.start_authserver()
            else:
                scene.authserver.pause()
                seen = _outage(scene.address, clients, seconds, _AUTH_TIMEOUT_S)
                scene.authserver.resume()
            back_s = _wait_until_served(scene.address)
            for client in clients:
                client.close()
            late_s = sorted(seen.late_s)[len(seen.late_s) * 99 // 100]
            is_kept &= seen.file_bytes == 0 and late_s <= (
                _GENEROUS_S if bench.is_short else _AT_ONCE_S
            )
            figures.append(
                f"{cause} for {seconds:g} s: {seen.file_bytes} file bytes without an OK in "
                f"{seen.requests} requests, p99 of `unavailable` {max(0.0, late_s) * 1000:.1f} ms "
                f"after it could be known, served {back_s:.2f} s after it was back"
            )
    return Figure(is_kept, "; ".join(figures))


_GRANTED_ANYWAY = Mutation(
    "an-unanswered-get-is-granted",
    "fileserver/session.cpp",
    "if (answer.status) let_in(",
    "if (answer.status || !answer.is_throttled) let_in(",
)


def control(bench: Bench) -> Figure:
    """A fileserver that takes silence for consent."""
    return _measure(broken(bench, _GRANTED_ANYWAY, "fileserver"), 1)


PROMISE = Promise("it fails closed", measure, control)
