"""Clients of a stack, inside its network: they repeat what failed, and record every answer.

    swarm_clients.py FOLDER COUNT PREFIX

A client asks any address of the name `fileserver`. It keeps its connection for some requests, or
until an answer is lost, and then asks another address.

This runs in a container with FOLDER. It writes `progress` there again and again, and `history`
after somebody has made the file `stop`. PREFIX begins the names of users.
"""

import contextlib
import itertools
import json
import os
import random
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from history import LOST, Operation, version_of

SERVER = ("fileserver", 9000)
FILES = [f"file-{number}.txt" for number in range(20)]
CONNECT_S, REPLY_S = 0.5, 2.0
SKIPPED_S = 5.0  # how long an address that failed is not asked, if there are others
GIVEN_UP_S = 120.0  # nodes on a loaded machine replace a server late
PAUSE_S = 0.05  # after a failure
THINK_S = 0.003
REQUESTS_OF_A_CONNECTION = 100  # for every second client; the others keep theirs
CONTENDED = 8  # names that clients compete for at the same time


class Client(threading.Thread):
    """One client, with one connection at a time."""

    failed_at: dict[str, float] = {}  # addresses, shared by all clients
    is_ending = threading.Event()
    names = itertools.count()

    def __init__(self, number: int, prefix: str) -> None:
        super().__init__(daemon=True)
        self._random = random.Random(number)
        self._number = number
        self._prefix = prefix
        self._connection: socket.socket | None = None
        self._replies: BinaryIO | None = None
        self._address = ""
        self._left = 0
        self.operations: list[Operation] = []
        self.acknowledged: list[tuple[str, str]] = []
        self.oks = self.repeated = self.most_repeats = 0
        self.given_up: list[str] = []
        self.slowest_s = 0.0

    def run(self) -> None:
        while not self.is_ending.is_set():
            self._make_account()
            for _ in range(4):
                if self.acknowledged:
                    self._get_a_file(*self._random.choice(self.acknowledged))

    def check_accounts(self) -> None:
        """All accounts that were acknowledged are still there."""
        for name, password in self.acknowledged:
            self._until_answered(f"get {name}", partial(self._ask, "get", name, password))

    def _make_account(self) -> None:
        number = next(self.names) // CONTENDED  # each name is taken by one of several
        name, password = f"{self._prefix}{number}", f"p{self._number}"
        answer = self._until_answered(f"new {name}", partial(self._ask, "new", name, password))
        if answer == "OK":
            self.acknowledged.append((name, password))

    def _get_a_file(self, name: str, password: str) -> None:
        file = self._random.choice(FILES)

        def get_both() -> str:
            granted = self._ask("get", name, password)
            return self._ask("file", file, granted) if granted == "OK" else granted

        self._until_answered(f"get {name} and {file}", get_both)

    def _until_answered(self, what: str, attempt: Callable[[], str]) -> str:
        """Repeats the attempt as it is, which any client could do."""
        began, repeats = time.monotonic(), 0
        while (answer := attempt()) in (LOST, "unavailable", "busy"):
            self.repeated, repeats = self.repeated + 1, repeats + 1
            if time.monotonic() - began > GIVEN_UP_S:
                self.given_up.append(f"{what}: {answer}")
                return answer
            time.sleep(PAUSE_S)
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)
        self.most_repeats = max(self.most_repeats, repeats)
        self.oks += 1
        time.sleep(THINK_S)
        return answer

    def _ask(self, kind: str, name: str, secret: str) -> str:
        """One attempt, which is recorded once it can have been sent. Returns the answer."""
        line = f"{name}\n" if kind == "file" else f"{kind}:{name}:{secret}\n"
        if self._left == 0 and kind != "file":
            self._drop()
        if not self._connection and not self._connect():
            return LOST
        self._left -= self._left > 0
        invoked = time.monotonic()
        answer = self._exchange(line.encode(), name)
        times = (invoked, time.monotonic())
        self.operations.append(Operation(kind, name, secret, *times, answer, self._number))
        if answer == LOST:
            self.failed_at[self._address] = time.monotonic()
            self._drop()
        return answer

    def _exchange(self, line: bytes, name: str) -> str:
        assert self._connection and self._replies
        try:
            self._connection.sendall(line)
            reply = self._replies.readline(1024)
            words = reply.decode(errors="replace").split()
            if not reply.endswith(b"\n"):
                return LOST
            if len(words) == 2 and words[0] == "OK" and words[1].isdigit():
                body = self._replies.read(int(words[1]))
                return version_of(name, body) if len(body) == int(words[1]) else LOST
            if words == ["OK"]:
                return "OK"
            return words[1] if len(words) > 2 and words[0] == "ERR" else f"nonsense {reply!r}"
        except OSError:
            return LOST

    def _connect(self) -> bool:
        """To an address that has not failed lately, if there is one."""
        for address in self._addresses():
            with contextlib.suppress(OSError):
                connection = socket.create_connection((address, SERVER[1]), CONNECT_S)
                connection.settimeout(REPLY_S)
                self._connection, self._address = connection, address
                self._replies = connection.makefile("rb")
                self._left = REQUESTS_OF_A_CONNECTION if self._number % 2 else -1
                return True
            self.failed_at[address] = time.monotonic()
        return False

    def _addresses(self) -> list[str]:
        found: list[tuple[Any, ...]] = []
        with contextlib.suppress(OSError):
            found = socket.getaddrinfo(*SERVER, socket.AF_INET, socket.SOCK_STREAM)
        addresses = sorted({str(one[4][0]) for one in found})
        self._random.shuffle(addresses)
        lately = time.monotonic() - SKIPPED_S
        return sorted(addresses, key=lambda at: self.failed_at.get(at, 0.0) > lately)

    def _drop(self) -> None:
        if self._connection and self._replies:
            self._replies.close()
            self._connection.close()
        self._connection = self._replies = None


def progress_of(clients: list[Client]) -> dict[str, Any]:
    return {
        "answered": sum(client.oks for client in clients),
        "repeated": sum(client.repeated for client in clients),
        "given_up": [what for client in clients for what in client.given_up],
        "most_repeats": max(client.most_repeats for client in clients),
        "slowest_s": max(client.slowest_s for client in clients),
        "acknowledged": sum(len(client.acknowledged) for client in clients),
    }


def write(path: Path, content: object) -> None:
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(content), encoding="utf-8")
    os.replace(draft, path)


def main() -> None:
    folder, count, prefix = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    clients = [Client(number, prefix) for number in range(count)]
    for client in clients:
        client.start()
    while not (folder / "stop").exists():
        write(folder / "progress", progress_of(clients))
        time.sleep(0.2)
    Client.is_ending.set()
    for client in clients:
        client.join()
    for client in clients:
        client.check_accounts()
    write(folder / "progress", progress_of(clients))
    write(folder / "history", [one for client in clients for one in client.operations])


if __name__ == "__main__":
    main()
