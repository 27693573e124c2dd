"""The store is killed under load again and again. No answer is wrong, no account is lost.

TURNSTILE_SOAK=1 does it 20 times for every store, model and way to connect.
"""

import os
import threading

import e2e_path  # noqa: F401
from client import Client
from databases import Database
from programs import Program
from store_scene import CONNECTIONS, MODELS, PATIENT, PLAIN, StoreTest, combinations, flags_of
from waiting import LONG_S, eventually

SOAK = os.environ.get("TURNSTILE_SOAK") == "1"
ROUNDS = 20 if SOAK else 3
COMBINATIONS = combinations() if SOAK else list(zip(MODELS, CONNECTIONS))


class Load(threading.Thread):
    """Makes accounts and checks old ones, with right and wrong passwords, until stop().

    Keeps every wrong reply.
    """

    def __init__(self, server: Program, name: str) -> None:
        super().__init__(daemon=True)
        self._client = Client(server.address)
        self._name = name
        self._ending = threading.Event()
        self.acknowledged: list[str] = []
        self.wrong: list[str] = []
        self.failure: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            for number in range(1_000_000):
                if self._ending.is_set():
                    return
                self._make(f"{self._name}.{number}")
                self._look_up(
                    self.acknowledged[number // 2] if number // 2 < len(self.acknowledged) else None
                )
        except BaseException as failure:  # told by stop(), in the test's own thread
            self.failure = failure

    def _make(self, user: str) -> None:
        may_be_there = False
        while not self._ending.is_set():
            reply = self._client.ask(f"new:{user}:pw-{user}")
            if reply == "OK" or (reply == "exists" and may_be_there):
                self.acknowledged.append(user)
                return
            if reply != "unavailable":
                self.wrong.append(f"new:{user} {reply!r}")
            may_be_there = True

    def _look_up(self, user: str | None) -> None:
        for name, password, right in (
            (user, f"pw-{user}", "OK"),
            (user, "wrong", "denied"),
            (f"{self._name}.none", "pw", "denied"),
        ):
            if name:
                reply = self._client.ask(f"auth:{name}:{password}")
                if reply not in (right, "unavailable"):
                    self.wrong.append(f"auth:{name}:{password} {reply!r}")

    def count(self) -> int:
        return len(self.acknowledged)

    def stop(self) -> None:
        self._ending.set()
        self.join(2 * LONG_S)
        self._client.close()
        if self.failure:
            raise self.failure


class StoreCrashTest(StoreTest):
    kinds = ("redis",)

    def test_killed_under_load(self) -> None:
        for kind, database in self.databases.items():
            for combination in COMBINATIONS:
                with self.subTest(kind=kind, combination=combination):
                    self.kill_under_load(database, combination)

    def kill_under_load(self, database: Database, combination: tuple[str, str]) -> None:
        server = self.authserver(database.kind, *flags_of(combination), *PLAIN)
        loads = [Load(server, f"{'.'.join(combination)}.{number}") for number in range(4)]
        try:
            for _ in range(ROUNDS):
                self.wait_for_progress(loads)
                database.kill()
                database.start()
            self.wait_for_progress(loads)
        finally:
            for load in loads:
                load.stop()
        self.assertEqual(server.stop(), 0)
        # Of the store: a busy machine may have no time for so many at once.
        client = self.client(self.authserver(database.kind, *PLAIN, *PATIENT))
        for load in loads:
            self.assertEqual(load.wrong, [])
            self.assert_all_there(client, load.acknowledged)

    @staticmethod
    def wait_for_progress(loads: list[Load]) -> None:
        before = [load.count() for load in loads]
        eventually(
            lambda: all(
                load.count() > start + 20 or load.failure for load, start in zip(loads, before)
            ),
            "everybody makes accounts",
            2 * LONG_S,
        )

    def assert_all_there(self, client: Client, users: list[str]) -> None:
        for first in range(0, len(users), 100):
            some = users[first : first + 100]
            self.assertEqual(
                client.ask_all([f"auth:{user}:pw-{user}".encode() for user in some]),
                ["OK"] * len(some),
            )
            self.assertEqual(
                client.ask_all([f"new:{user}:x".encode() for user in some]), ["exists"] * len(some)
            )
