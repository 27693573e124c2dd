"""A store that is down or hangs, and returns: `unavailable` in time, and never a wrong answer."""

import contextlib
import threading
import time
import unittest
from collections.abc import Iterator

import e2e_path  # noqa: F401
from client import Client
from heartbeat import Heartbeat
from programs import Program
from store_scene import PLAIN, StoreTest, combinations, flags_of
from waiting import LONG_S, eventually

TIMEOUT_S = 3
# Less than a second time-out on top of the first. A machine that stands still adds more.
SLACK_S = 2.5
TIMEOUT = ("--store-timeout", str(TIMEOUT_S))


class Users:
    """Accounts of one authserver, each with its own client, which must get its own answers only."""

    COUNT = 4

    def __init__(self, server: Program, tag: str, connect) -> None:
        self.server = server
        self.names = [f"{tag}.{number}" for number in range(self.COUNT)]
        self.clients: list[Client] = [connect(server) for _ in self.names]
        self._next_new = 0
        for client, name in zip(self.clients, self.names):
            eventually(
                lambda: client.ask(f"new:{name}:pw-{name}") in ("OK", "exists"),
                f"{name} has an account",
            )

    def send_all(self) -> None:
        """Every client asks something else."""
        lines = [
            f"auth:{self.names[0]}:pw-{self.names[0]}",
            f"auth:{self.names[1]}:wrong",
            f"new:{self.names[2]}.{self._next_new}:pw",
            "ping",
        ]
        self._next_new += 1
        for client, line in zip(self.clients, lines):
            client.send(line + "\n")

    def replies(self) -> list[str]:
        return [str(client.reply()) for client in self.clients]

    def check_verdicts(self, test: unittest.TestCase) -> bool:
        """Asks right and wrong in turn; true when every answer came from the store."""
        right, wrong, replies = {"OK", "unavailable"}, {"denied", "unavailable"}, []
        for turn in range(4):
            expected = []
            for number, (client, name) in enumerate(zip(self.clients, self.names)):
                is_right = (number + turn) % 2 == 0
                client.send(f"auth:{name}:{'pw-' + name if is_right else 'wrong'}\n")
                expected.append(right if is_right else wrong)
            got = self.replies()
            for reply, possible in zip(got, expected):
                test.assertIn(reply, possible)
            replies += got
        return "unavailable" not in replies


class StoreOutageTest(StoreTest):
    def everybody(self, kind: str) -> list[Users]:
        """On an authserver of each kind."""
        return [
            Users(
                self.authserver(kind, *flags_of(combination), *TIMEOUT, *PLAIN),
                ".".join(combination),
                self.client,
            )
            for combination in combinations()
        ]

    def assert_unavailable_in_time(self, everybody: list[Users]) -> None:
        with self.at_most(TIMEOUT_S + SLACK_S):
            for users in everybody:
                users.send_all()
            for users in everybody:
                self.assertEqual(users.replies(), ["unavailable"] * Users.COUNT)

    @contextlib.contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """What is inside takes no longer, and what this machine stood still meanwhile."""
        heartbeat, is_over = Heartbeat(self.scene.folder), threading.Event()
        beating = threading.Thread(target=heartbeat.live, args=(is_over,))
        beating.start()
        start = time.monotonic()
        try:
            yield
        finally:
            took_s = time.monotonic() - start
            is_over.set()
            beating.join()
        self.assertLess(took_s, heartbeat.lag_s(seconds))

    def assert_all_is_well(self, everybody: list[Users]) -> None:
        """Soon; until then, nothing is wrong."""
        with self.at_most(1 + SLACK_S):
            for users in everybody:
                eventually(
                    lambda: users.check_verdicts(self), "the store is asked again", 2 * LONG_S
                )
        for users in everybody:
            self.assertTrue(users.server.is_running())
            self.assertEqual(users.server.stop(), 0)

    def test_one_that_hangs(self) -> None:
        for kind, database in self.databases.items():
            with self.subTest(kind):
                everybody = self.everybody(kind)
                database.pause()
                try:
                    for _ in range(2):
                        self.assert_unavailable_in_time(everybody)
                finally:
                    database.resume()
                self.assert_all_is_well(everybody)

    def test_one_that_hangs_for_a_moment_is_waited_for(self) -> None:
        for kind, database in self.databases.items():
            with self.subTest(kind):
                everybody = [
                    Users(
                        self.authserver(
                            kind, *flags_of(combination), "--store-timeout", "60", *PLAIN
                        ),
                        "moment." + ".".join(combination),
                        self.client,
                    )
                    for combination in combinations()
                ]
                database.pause()
                try:
                    for users in everybody:
                        users.send_all()
                    time.sleep(0.3)
                finally:
                    database.resume()
                for users in everybody:
                    self.assertEqual(users.replies(), ["OK", "denied", "OK", "OK"])

    def test_one_that_is_down_is_told_once_and_found_again(self) -> None:
        for kind, database in self.databases.items():
            with self.subTest(kind):
                everybody = self.everybody(kind)
                database.kill()
                for _ in range(3):
                    self.assert_unavailable_in_time(everybody)
                database.start()
                self.assert_all_is_well(everybody)
                for users in everybody:
                    log = users.server.log().splitlines()
                    lines = [line for line in log if " the store is " in line]
                    self.assertEqual(len(lines), 2, lines)
                    where = f"at={kind} 127.0.0.1:{database.port}"
                    self.assertRegex(
                        lines[0], f' warning the store is unreachable {where} reason="'
                    )
                    self.assertRegex(
                        lines[1], rf" info the store is reachable again {where} outage_s=\d+\.\d"
                    )

    def test_an_authserver_that_finds_no_store_does_not_start(self) -> None:
        for kind, database in self.databases.items():
            with self.subTest(kind):
                database.stop()
                self.addCleanup(database.start)
                done = self.run_authserver(kind)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(str(database.port), done.stderr)
