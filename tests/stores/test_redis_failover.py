"""Redis with sentinels: the primary is lost, or is no primary any more."""

import shutil
import tempfile
import time
import unittest
from pathlib import Path

import e2e_path  # noqa: F401
from account_load import Load
from history import wrong_answers
from programs import Program
from redis_group import Group
from scene import Scene
from store_scene import PLAIN
from waiting import eventually

FIRST_OK_S = 15.0  # on a loaded machine; docs/stores.md has what it takes else
LATER = "another server is the primary of the accounts now"


class FailoverTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="turnstile-db-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.group = Group(folder)
        self.addCleanup(self.group.close)
        self.scene = Scene()
        self.addCleanup(self.scene.close)

    def start(self, *flags: object) -> Program:
        return self.scene.authserver(*self.group.flags(), *PLAIN, *flags)

    def load(self, server: Program) -> Load:
        load = Load(lambda: self.scene.client(server))
        self.addCleanup(load.stop)
        eventually(lambda: len(load.acknowledged()) > 200, "accounts are made")
        return load

    def lost(self, server: Program, accounts: dict[str, str]) -> list[str]:
        """The accounts that cannot log in."""
        client = self.scene.client(server)
        eventually(lambda: client.ask("ping") == "OK", "the store is reached")
        return [
            name for name, secret in accounts.items() if client.ask(f"auth:{name}:{secret}") != "OK"
        ]

    def kill_the_primary_under_load(self, model: str) -> None:
        server = self.start("--redis-wait", 1, "--model", model)
        load = self.load(server)
        self.group.primary.kill()
        killed = time.monotonic()
        first = eventually(lambda: load.first_ok_after(killed + 0.5), "an OK", 2 * FIRST_OK_S)
        assert first is not None  # so that the type is known
        time.sleep(0.5)
        load.stop()
        made = len(load.acknowledged())
        print(f"{model}: first OK {first - killed:.1f} s after the kill, {made} accounts")
        self.assertLess(first - killed, FIRST_OK_S)
        self.assertEqual(list(wrong_answers(load.operations))[:5], [])
        self.assertEqual(self.lost(server, load.acknowledged()), [])
        self.assertGreaterEqual(server.log().count(LATER), 1, server.log())

    def test_a_primary_that_is_killed_under_load_with_threads(self) -> None:
        self.kill_the_primary_under_load("thread")

    def test_a_primary_that_is_killed_under_load_with_processes(self) -> None:
        self.kill_the_primary_under_load("process")

    def test_a_primary_that_was_replaced_while_it_was_stopped(self) -> None:
        """For seconds it takes accounts again, until the sentinels make it a replica."""
        server = self.start("--redis-wait", 1)
        idle = [self.scene.client(server) for _ in range(4)]
        for client in idle:  # connected to what is the primary now
            eventually(lambda: client.ask("ping") == "OK", "the primary is reached")
        load = self.load(server)
        self.group.primary.pause()
        try:
            eventually(self.group.has_failed_over, "another primary", 4 * FIRST_OK_S)
        finally:
            self.group.primary.resume()
        answers = {}
        for turn in range(2):  # the second time each has asked the sentinels
            for number, client in enumerate(idle):
                name = f"late{turn}.{number}"
                answers[name] = client.ask(f"new:{name}:pw")
                self.assertIn(answers[name], ("OK", "unavailable"))
        eventually(self.group.is_primary_a_replica, "a replica", 4 * FIRST_OK_S)
        load.stop()
        accounts = load.acknowledged()
        accounts |= {name: "pw" for name, answer in answers.items() if answer == "OK"}
        self.assertEqual(self.lost(server, accounts), [])
