"""An account that was answered OK survives the crash of every process, and exists only once."""

import contextlib
import os
import signal
import threading

import servers
from client import Client, ConnectionEndedError
from processes import children
from programs import SANITIZED, Program
from scene import SceneTest
from waiting import eventually


def kill_everything(server: Program) -> None:
    """Kills the parent first, so that it cannot start more children."""
    pids = [server.pid, *children(server.pid)]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    server.wait()


class Creator(threading.Thread):
    """Makes one account after the other until the server is gone."""

    def __init__(self, server: Program, name: str) -> None:
        super().__init__()
        self._client = Client(server.address)
        self._name = name
        self.acknowledged: list[str] = []
        self.start()

    def run(self) -> None:
        try:
            for number in range(1_000_000):
                user = f"{self._name}.{number}"
                if self._client.ask(f"new:{user}:pw-{user}") == "OK":
                    self.acknowledged.append(user)
        except (ConnectionEndedError, OSError):
            self._client.close()


class DurabilityTest(SceneTest):
    def test_accounts_survive_the_death_of_every_process(self) -> None:
        for kind in servers.AUTHSERVER_KINDS:
            for scheme in ("plain", "argon2id"):
                with self.subTest(kind=kind, scheme=scheme):
                    self.kill_in_full_flight(kind, scheme)

    def kill_in_full_flight(self, kind: str, scheme: str) -> None:
        server = servers.start(
            self.scene, kind, "--password-scheme", scheme, "--store-timeout", "60"
        )
        tag = f"{servers.AUTHSERVER_KINDS.index(kind)}.{scheme}"
        creators = [Creator(server, f"{tag}.{number}") for number in range(4)]
        eventually(
            lambda: all(len(creator.acknowledged) > 3 for creator in creators), "accounts are made"
        )
        kill_everything(server)
        for creator in creators:
            creator.join()
        again = servers.start(self.scene, kind)
        client = self.scene.client(again)
        for creator in creators:
            sample = creator.acknowledged[-5:] + creator.acknowledged[:5]
            for user in sample:
                self.assertEqual(client.ask(f"auth:{user}:pw-{user}"), "OK", user)
                self.assertEqual(client.ask(f"new:{user}:other"), "exists", user)
        self.assertEqual(again.stop(), 0)

    def test_accounts_made_through_the_fileserver_survive_the_death_of_both(self) -> None:
        authserver = self.scene.authserver("--model", "process")
        fileserver = self.scene.fileserver(authserver)
        self.assertEqual(self.scene.client(fileserver).ask("new:bob:pw"), "OK")
        kill_everything(fileserver)
        kill_everything(authserver)
        fileserver = self.scene.fileserver(self.scene.authserver())
        self.assertEqual(self.scene.client(fileserver).ask("get:bob:pw"), "OK")


class OneWinnerTest(SceneTest):
    """Many clients make an account of the same name at the same time."""

    CLIENTS = 8
    NAMES = 4 if SANITIZED else 10
    # Long time-outs: no reply may be `unavailable`, however slow the disk is.
    PATIENT = ("--store-timeout", "60", "--password-scheme", "plain")

    def assert_one_winner_each(self, *servers_on_one_store: Program) -> None:
        clients = [
            self.scene.client(servers_on_one_store[number % len(servers_on_one_store)])
            for number in range(self.CLIENTS)
        ]
        for name in range(self.NAMES):
            for number, client in enumerate(clients):
                client.send(f"new:name{name}:pw{number}\n")
            replies = [client.reply() for client in clients]
            self.assertEqual(sorted(replies), ["OK"] + ["exists"] * (self.CLIENTS - 1))
            winner = replies.index("OK")
            self.assertEqual(clients[0].ask(f"{self.verb}:name{name}:pw{winner}"), "OK")
            self.assertEqual(
                clients[0].ask(f"{self.verb}:name{name}:pw{(winner + 1) % self.CLIENTS}"), "denied"
            )

    verb = "auth"

    def test_exactly_one_is_told_ok(self) -> None:
        for kind in servers.AUTHSERVER_KINDS:
            with self.subTest(kind):
                server = servers.start(self.scene, kind, *self.PATIENT)
                self.assert_one_winner_each(server)
                server.stop()
                self.scene.accounts.unlink()

    def test_exactly_one_is_told_ok_by_two_authservers_on_one_store(self) -> None:
        self.assert_one_winner_each(
            self.scene.authserver(*self.PATIENT),
            self.scene.authserver("--model", "process", *self.PATIENT),
        )

    def test_exactly_one_is_told_ok_by_two_fileservers(self) -> None:
        self.verb = "get"
        authserver = self.scene.authserver("--model", "process", *self.PATIENT)
        flags = ("--auth-timeout", "60")
        self.assert_one_winner_each(
            self.scene.fileserver(authserver, *flags),
            self.scene.fileserver(authserver, "--auth-connection", "per-request", *flags),
        )
