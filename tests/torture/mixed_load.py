"""Clients that make accounts, log in and fetch files, and record every answer.

They contend for the same names, each with a password of its own.
"""

from __future__ import annotations

import contextlib
import marshal
import random
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import children
from history import LOST, Operation, version_of

from rig.processes import Address

_PROCESSES = 2
_BATCH = 24
_WINDOW = 60  # names that are contended for at the same time
_REPLY_TIMEOUT_S = 60.0
_PAUSE_S = 0.02  # after a failure, so that failures do not make up the numbers


class _Client(threading.Thread):
    """One client of one server. Connects again whenever its connection ended."""

    def __init__(self, load: _Shared, number: int, address: Address) -> None:
        super().__init__(daemon=True)
        self._load = load
        self._number = number
        self._address = address
        self._random = random.Random(number)
        self._own: list[tuple[str, str]] = []  # accounts whose password works
        self.recorded: list[tuple[Any, ...]] = []
        self.failure = ""

    def run(self) -> None:
        try:
            while not self._load.is_ending.is_set():
                with contextlib.suppress(OSError), self._connect() as connection:
                    self._talk(connection)
                time.sleep(_PAUSE_S)
        except Exception as error:  # told by the parent
            self.failure = repr(error)

    def _connect(self) -> socket.socket:
        connection = socket.create_connection(self._address, timeout=_REPLY_TIMEOUT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _talk(self, connection: socket.socket) -> None:
        """Until an answer is lost."""
        granted = "denied"
        with connection.makefile("rb") as replies:
            while not self._load.is_ending.is_set():
                batch = list(self._batch())
                granted, words = self._exchange(connection, replies, batch, granted)
                self._load.count(self._number, words)
                if LOST in words:
                    return
                if "unavailable" in words:
                    time.sleep(_PAUSE_S)

    def _batch(self) -> Iterator[tuple[str, str, str]]:
        """Kind, name and password of requests."""
        first = self._load.next_names()
        choose = self._random
        for _ in range(_BATCH):
            name = f"n{first + choose.randrange(_WINDOW)}"
            what = choose.random()
            if what < 0.25:
                yield "new", name, f"p{self._number}"
            elif what < 0.45:
                # A name that most likely exists: to refuse an unknown one takes a hash.
                older = f"n{max(0, first - choose.randrange(_WINDOW))}"
                yield "get", older, f"p{choose.randrange(self._load.clients)}"
            elif what < 0.6 and self._own:
                yield "get", *choose.choice(self._own)
            else:
                yield "file", choose.choice(self._load.files), ""

    def _exchange(
        self, connection: socket.socket, replies: Any, batch: Sequence[Any], granted: str
    ) -> tuple[str, list[str]]:
        lines = [
            f"{name}\n" if kind == "file" else f"{kind}:{name}:{password}\n"
            for kind, name, password in batch
        ]
        invoked = time.monotonic()
        with contextlib.suppress(OSError):
            connection.sendall("".join(lines).encode())
        words: list[str] = []
        for kind, name, password in batch:
            answer = LOST if LOST in words[-1:] else _answer(replies, name)
            secret = granted if kind == "file" else password
            self.recorded.append(
                (kind, name, secret, invoked, time.monotonic(), answer, self._number)
            )
            words.append(answer)
            if kind == "get":
                granted = answer
            if answer == "OK":
                self._own = [*self._own[-20:], (name, password)]
        return granted, words


def _answer(replies: Any, name: str) -> str:
    try:
        line = replies.readline(1024)
        if not line.endswith(b"\n"):
            return LOST
        words = line.decode(errors="replace").split()
        if words == ["OK"]:
            return "OK"
        if len(words) == 2 and words[0] == "OK" and words[1].isdigit():
            body = replies.read(int(words[1]))
            return version_of(name, body) if len(body) == int(words[1]) else LOST
        return words[1] if len(words) > 2 and words[0] == "ERR" else f"nonsense {line!r}"
    except OSError:
        return LOST


class _Shared:
    """What all clients of all processes have in common."""

    def __init__(self, files: Sequence[str], clients: int) -> None:
        self.files = files
        self.clients = clients
        self.is_ending = children.CONTEXT.Event()
        self._first_name = children.CONTEXT.Value("q", 0)
        self._answers = children.CONTEXT.Array("q", clients, lock=False)
        self._oks = children.CONTEXT.Array("q", clients, lock=False)

    def next_names(self) -> int:
        """Moves the window on, by about one name for each client and batch."""
        with self._first_name:
            self._first_name.value += 1
            return int(self._first_name.value)

    def count(self, client: int, words: Sequence[str]) -> None:
        self._answers[client] += len(words) - words.count(LOST)
        self._oks[client] += words.count("OK")

    def answers(self) -> int:
        return sum(self._answers)

    def oks(self, chain: int, chains: int) -> int:
        return sum(self._oks[chain::chains])


class MixedLoad:
    """Runs from construction until stop(). Client number n uses the address n % len(addresses)."""

    def __init__(
        self, addresses: Sequence[Address], files: Sequence[str], folder: Path, clients: int
    ) -> None:
        self._chains = len(addresses)
        self._shared = _Shared(files, clients)
        self._folder = folder
        self._processes = [
            children.start(self._run_clients, addresses, part) for part in range(_PROCESSES)
        ]

    def answers(self) -> int:
        """How many complete answers there were."""
        return self._shared.answers()

    def oks(self, chain: int) -> int:
        """How many requests by the address of this number were answered with OK."""
        return self._shared.oks(chain, self._chains)

    def stop(self) -> list[Operation]:
        """Returns all operations. AssertionError if a client failed."""
        self._shared.is_ending.set()
        recorded: list[Operation] = []
        for part, process in enumerate(self._processes):
            process.join(2 * _REPLY_TIMEOUT_S)
            with open(self._record(part), "rb") as file:
                failures, operations = marshal.load(file)
            assert not failures, f"a client failed: {failures}"
            recorded += map(Operation._make, operations)
        return recorded

    def close(self) -> None:
        """Ends what stop() has not ended."""
        for process in self._processes:
            children.end(process)

    def _record(self, part: int) -> Path:
        return self._folder / f"operations.{part}"

    def _run_clients(self, addresses: Sequence[Address], part: int) -> None:
        clients = [
            _Client(self._shared, number, addresses[number % self._chains])
            for number in range(self._shared.clients)
            if number // self._chains % _PROCESSES == part  # some of each address
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        recorded = [one for client in clients for one in client.recorded]
        failures = [client.failure for client in clients if client.failure]
        with open(self._record(part), "wb") as file:
            marshal.dump((failures, recorded), file)
