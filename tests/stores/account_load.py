"""Clients that make accounts and log in all the time, and what they were answered."""

import itertools
import threading
import time
from collections.abc import Callable

import e2e_path  # noqa: F401
from client import Client
from history import LOST, Operation

SHARED = 50  # names that all clients want


class Load:
    """Each client makes accounts of its own, wants names that the others want too, and logs in.

    It runs until stop(). The operations may be read then.
    """

    def __init__(self, connect: Callable[[], Client], clients: int = 4) -> None:
        self.operations: list[Operation] = []
        self._connect = connect
        self._ends = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, args=(number,), daemon=True)
            for number in range(clients)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join(60)

    def acknowledged(self) -> dict[str, str]:
        """The password of each account that was made. Any time."""
        with self._lock:
            return {
                one.name: one.secret
                for one in self.operations
                if one.kind == "new" and one.answer == "OK"
            }

    def first_ok_after(self, moment: float) -> float | None:
        """When the first account was made that was asked for after the moment. Any time."""
        with self._lock:
            ends = [
                one.completed
                for one in self.operations
                if one.kind == "new" and one.answer == "OK" and one.invoked > moment
            ]
        return min(ends, default=None)

    def _run(self, number: int) -> None:
        client = self._connect()
        for turn in itertools.count():
            if self._ends.is_set():
                return
            own = f"own.{number}.{turn}"
            self._ask(client, number, "new", own, f"pw{number}")
            self._ask(client, number, "get", own, f"pw{number}")
            self._ask(client, number, "new", f"shared.{turn % SHARED}", f"pw{number}")
            self._ask(client, number, "get", f"shared.{turn % SHARED}", f"pw{number}")

    def _ask(self, client: Client, number: int, kind: str, name: str, secret: str) -> None:
        words = {"new": "new", "get": "auth"}
        invoked = time.monotonic()
        try:
            answer = str(client.ask(f"{words[kind]}:{name}:{secret}"))
        except (AssertionError, OSError):
            if not self._ends.is_set():
                raise
            answer = LOST
        operation = Operation(kind, name, secret, invoked, time.monotonic(), answer, number)
        with self._lock:
            self.operations.append(operation)
        if answer == "unavailable":
            self._ends.wait(0.02)  # so that the failures do not fill the history
