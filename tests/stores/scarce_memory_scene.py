"""Lets allocations fail while a store is asked: afterwards the authserver works as before.

faults.c of the end-to-end tests, which is loaded into it, lets them fail.
"""

import itertools
import os
import subprocess
import unittest
from collections.abc import Callable
from pathlib import Path

import e2e_path  # noqa: F401
import processes
import programs
from client import Client, ConnectionEndedError
from databases import Database
from faults import MEMORY, Faults
from programs import SANITIZED, Program
from store_scene import MODELS, PLAIN, StoreTest, start_authserver
from waiting import LONG_S, eventually

# Each with its answer if no allocation fails.
REQUESTS = (
    ("new:{}:pw", "OK"),
    ("auth:first:pw", "OK"),
    ("auth:first:wrong", "denied"),
    ("ping", "OK"),
)
# More than a server that is connected to its store allocates for one request.
ALLOCATIONS = 60
CLIENTS = 24
# A change by hand is a whole program, with thousands of allocations. Of these so many fail, one in
# each run, or all of them if the variable is set.
CHANGES = None if os.environ.get("SCARCE_MEMORY_ALL") else 12

FAILURES = ("unavailable", "internal", "busy", "ended")


def forget_accounts(database: Database) -> None:
    """So that the next server begins without any."""
    if database.kind == "redis":
        database.ask("flushall")
    else:
        database.ask("DELETE FROM turnstile.accounts")


def answer_of(server: Program, line: str, prepare: Callable[[Client], None] | None = None) -> str:
    """The reply on a new connection, or "ended" if there is none.

    `prepare` may do something with the connection before.
    """
    try:
        client = Client(server.address)
    except OSError:
        return "ended"
    try:
        if prepare:
            prepare(client)
        return str(client.ask(line))
    except (ConnectionEndedError, OSError):
        return "ended"
    finally:
        client.close()


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
class ScarceMemoryScene(StoreTest):
    def tearDown(self) -> None:
        """Other tests have the same servers."""
        self.faults.stop()
        for kind in self.databases:
            forget_accounts(self.databases[kind])

    def setUp(self) -> None:
        super().setUp()
        self.faults = Faults(self.scene.folder)
        self.acknowledged: list[str] = []

    def start(self, kind: str, model: str, *flags: str) -> Program:
        always = (*PLAIN, "--model", model, "--store-timeout", "5", "--debuggable")
        database = self.databases.get(kind)
        server = start_authserver(self.scene, database, *always, *flags, env=self.faults.env)
        server.children_may_crash = True  # in MariaDB's library: docs/stores.md
        return server

    def works(self, server: Program, line: str) -> None:
        """A store that failed is asked again after a moment. Its answer may have been lost."""
        eventually(lambda: answer_of(server, line) in ("OK", "exists"), f"{line} works")

    def check_all_is_well(self, server: Program) -> None:
        for number in range(CLIENTS):  # more than one request for each thread that was used
            self.works(server, f"new:after{number}:pw")
            self.acknowledged.append(f"after{number}")
        for user in self.acknowledged:
            self.works(server, f"auth:{user}:pw")

    def answer_without(self, number: int, server: Program, line: str, pings: int) -> str:
        """The reply behind so many pings, while the allocation of this number fails."""

        def ping_and_fail(client: Client) -> None:
            for _ in range(pings):
                self.assertEqual(client.ask("ping"), "OK")
            self.faults.fail(MEMORY, number)

        if pings:
            return answer_of(server, line, ping_and_fail)
        self.faults.fail(MEMORY, number)
        return answer_of(server, line)

    def each_allocation_of_a_request(
        self, server: Program, request: str, allowed: str, pings: int, spare: int
    ) -> None:
        for number in itertools.count(1):
            user = f"user{number}-{pings}"
            line = request.format(user)
            for _ in range(pings if spare else 0):
                self.works(server, "ping")
            before = self.faults.failed()
            answer = self.answer_without(number, server, line, 0 if spare else pings)
            self.faults.stop()
            self.assertIn(answer, {allowed, *FAILURES}, (line, number))
            if answer == "OK" and line.startswith("new"):
                self.acknowledged.append(user)
            # With spare ones, it may have been connected, so that it allocated less.
            if self.faults.failed() == before and (not spare or number >= ALLOCATIONS):
                return

    def each_allocation_fails_once(self, kind: str, model: str, spare: int) -> None:
        """In a request that connects to the store, and in one behind others on its connection.

        With spare ones, two threads or processes serve by turns. So behind two pings both are
        connected. Without, nothing may be left of a request.
        """
        server = self.start(kind, model, "--spare-workers", str(spare))
        self.acknowledged = ["first"]
        self.assertEqual(answer_of(server, "new:first:pw"), "OK")
        before = processes.held(server.pid)
        for (line, answer), pings in itertools.product(REQUESTS, (2, 0)):
            self.each_allocation_of_a_request(server, line, answer, pings, spare)
        self.assertGreater(self.faults.failed(), 0)
        self.check_all_is_well(server)
        if not spare:
            eventually(
                lambda: not processes.holds_more(server.pid, before),
                f"it holds no more than {before}",
            )
        server.stop()

    def change(self, kind: str, *flags: str) -> subprocess.CompletedProcess[str]:
        """A change of accounts by hand."""
        where = ("--sqlite-path", self.scene.accounts)
        if kind in self.databases:
            where = self.databases[kind].authserver_flags
        return subprocess.run(
            [programs.BUILD / "authserver", *PLAIN, *where, *flags],
            env=programs.environment(self.faults.env),
            input="pw\n",
            capture_output=True,
            text=True,
            timeout=2 * LONG_S,
            check=False,
        )

    def each_allocation_of_a_change_fails_once(self, kind: str, server: Program) -> None:
        export = str(self.scene.folder / "export.csv")
        for flags in (
            ("--set-password", "amy"),
            ("--export", export),
            ("--remove-account", "bob"),
        ):
            many = 10**9
            self.faults.fail(MEMORY, many)
            self.assertEqual(self.change(kind, *flags).returncode, 0)
            allocations = many - self.faults.left()
            for number in range(1, allocations, allocations // (CHANGES or allocations)):
                self.works(server, "new:bob:pw")
                self.faults.fail(MEMORY, number)
                done = self.change(kind, *flags)
                self.faults.stop()
                self.works(server, "auth:amy:pw")
                if done.returncode == 0 and "bob" in flags:
                    self.assertEqual(answer_of(server, "auth:bob:pw"), "denied")
                if done.returncode == 0 and export in flags:
                    self.assertIn("amy", Path(export).read_text())

    def each_allocation_of_a_request_fails(self, *kinds: str) -> None:
        for kind, model, spare in itertools.product(kinds, MODELS, (2, 0)):
            if (kind, model) == ("mysql", "thread"):
                continue  # MariaDB's library crashes without memory for a connection
            with self.subTest(kind=kind, model=model, spare=spare):
                self.each_allocation_fails_once(kind, model, spare)
                self.tearDown()
                self.scene.accounts.unlink(missing_ok=True)

    def allocations_of_a_change_fail(self, *kinds: str) -> None:
        for kind in kinds:
            with self.subTest(kind):
                server = self.start(kind, "thread")
                self.works(server, "new:amy:pw")
                self.works(server, "new:bob:pw")
                self.each_allocation_of_a_change_fails_once(kind, server)
                self.check_all_is_well(server)
                server.stop()
