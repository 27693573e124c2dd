"""Allocations that fail while a store is asked: afterwards the authserver works as before.

A library that is loaded into it lets them fail (scarce_memory.c).
"""

import itertools
import mmap
import os
import struct
import subprocess
import threading
import unittest
from pathlib import Path

import e2e_path  # noqa: F401
import processes
import programs
from client import Client, ConnectionEndedError
from databases import Database
from programs import SANITIZED, Program
from store_scene import MODELS, PLAIN, StoreTest, start_authserver
from waiting import LONG_S, eventually

# More than the server allocates for one request. So each of its allocations has failed once.
ALLOCATIONS = 60
CLIENTS = 24
# A change by hand is a whole program, with thousands of allocations. Of these so many fail, one in
# each run, or all of them if the variable is set.
CHANGES = None if os.environ.get("SCARCE_MEMORY_ALL") else 12

FAILURES = ("unavailable", "internal", "busy", "ended")


class Memory:
    """The numbers that the library and the test have in common."""

    def __init__(self, folder: Path) -> None:
        self.library = folder / "scarce_memory.so"
        source = Path(__file__).with_name("scarce_memory.c")
        command = [os.environ.get("CC", "gcc").split()[-1], "-std=gnu11", "-shared", "-fPIC", "-O2"]
        subprocess.run([*command, "-o", self.library, source], check=True, timeout=2 * LONG_S)
        plan = folder / "scarce-memory"
        plan.write_bytes(bytes(32))
        with plan.open("r+b") as file:
            self._plan = mmap.mmap(file.fileno(), 32)
        self.env = {"LD_PRELOAD": str(self.library), "SCARCE_MEMORY": str(plan)}

    def _set(self, index: int, number: int) -> None:
        struct.pack_into("q", self._plan, 8 * index, number)

    def fail_at(self, number: int) -> None:
        """The allocation of this number fails, and no other; 0: none."""
        self._set(0, number)

    def fail_one_in(self, count: int) -> None:
        """One allocation in `count` fails; 0: none."""
        self._set(1, count)

    def allow_forks(self, are_allowed: bool) -> None:
        self._set(3, 0 if are_allowed else 1)

    def left(self) -> int:
        """Until the allocation of fail_at()."""
        return struct.unpack_from("q", self._plan)[0]

    def failed(self) -> int:
        return struct.unpack_from("q", self._plan, 16)[0]


def forget_accounts(database: Database) -> None:
    """So that the next server begins without any."""
    if database.kind == "redis":
        database.ask("flushall")
    else:
        database.ask("DELETE FROM turnstile.accounts")


def _answer(server: Program, line: str) -> str:
    """The reply on a new connection, or "ended" if there is none."""
    try:
        client = Client(server.address)
    except OSError:
        return "ended"
    try:
        return str(client.ask(line))
    except (ConnectionEndedError, OSError):
        return "ended"
    finally:
        client.close()


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
class ScarceMemoryTest(StoreTest):
    def tearDown(self) -> None:
        """Other tests have the same servers."""
        self.memory.fail_at(0)
        for kind in self.databases:
            forget_accounts(self.databases[kind])

    def setUp(self) -> None:
        super().setUp()
        self.memory = Memory(self.scene.folder)
        self.acknowledged: list[str] = []

    def start(self, kind: str, model: str, *flags: str) -> Program:
        always = (*PLAIN, "--model", model, "--store-timeout", "5")
        database = self.databases.get(kind)
        return start_authserver(self.scene, database, *always, *flags, env=self.memory.env)

    def works(self, server: Program, line: str) -> None:
        """A store that failed is asked again after a moment. Its answer may have been lost."""
        eventually(lambda: _answer(server, line) in ("OK", "exists"), f"{line} works")

    def check_all_is_well(self, server: Program) -> None:
        for number in range(CLIENTS):  # more than one request for each thread that was used
            self.works(server, f"new:after{number}:pw")
            self.acknowledged.append(f"after{number}")
        for user in self.acknowledged:
            self.works(server, f"auth:{user}:pw")

    def each_allocation_fails_once(self, kind: str, model: str) -> None:
        """Two threads or processes serve by turns. So behind two pings both are connected."""
        server = self.start(kind, model, "--spare-workers", "2")
        self.acknowledged = ["first"]
        self.assertEqual(_answer(server, "new:first:pw"), "OK")
        for number, pings in itertools.product(range(1, ALLOCATIONS), (2, 0)):
            user = f"user{number}-{pings}"
            for line, allowed in (
                (f"new:{user}:pw", {"OK"}),
                ("auth:first:pw", {"OK"}),
                ("auth:first:wrong", {"denied"}),
                ("ping", {"OK"}),
            ):
                for _ in range(pings):
                    self.works(server, "ping")
                self.memory.fail_at(number)
                answer = _answer(server, line)
                self.memory.fail_at(0)
                self.assertIn(answer, {*allowed, *FAILURES}, (line, number))
                if answer == "OK" and line.startswith("new"):
                    self.acknowledged.append(user)
        self.assertGreater(self.memory.failed(), 0)
        self.check_all_is_well(server)
        server.stop()

    def test_each_allocation_of_a_request_may_fail(self) -> None:
        for kind, model in itertools.product(("sqlite", *self.kinds), MODELS):
            if (kind, model) == ("mysql", "thread"):
                continue  # MariaDB's library crashes without memory for a connection
            with self.subTest(kind=kind, model=model):
                self.each_allocation_fails_once(kind, model)
                self.tearDown()
                self.scene.accounts.unlink(missing_ok=True)

    def change(self, kind: str, *flags: str) -> subprocess.CompletedProcess[str]:
        """A change of accounts by hand."""
        where = ("--sqlite-path", self.scene.accounts)
        if kind in self.databases:
            where = self.databases[kind].authserver_flags
        return subprocess.run(
            [programs.BUILD / "authserver", *PLAIN, *where, *flags],
            env=programs.environment(self.memory.env),
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
            self.memory.fail_at(many)
            self.assertEqual(self.change(kind, *flags).returncode, 0)
            allocations = many - self.memory.left()
            for number in range(1, allocations, allocations // (CHANGES or allocations)):
                self.works(server, "new:bob:pw")
                self.memory.fail_at(number)
                done = self.change(kind, *flags)
                self.memory.fail_at(0)
                self.works(server, "auth:amy:pw")
                if done.returncode == 0 and "bob" in flags:
                    self.assertEqual(_answer(server, "auth:bob:pw"), "denied")
                if done.returncode == 0 and export in flags:
                    self.assertIn("amy", Path(export).read_text())

    def test_an_allocation_of_a_change_by_hand_may_fail(self) -> None:
        for kind in ("sqlite", *self.kinds):
            with self.subTest(kind):
                server = self.start(kind, "thread")
                self.works(server, "new:amy:pw")
                self.works(server, "new:bob:pw")
                self.each_allocation_of_a_change_fails_once(kind, server)
                self.check_all_is_well(server)
                server.stop()

    def create_until(self, server: Program, name: str, is_over: threading.Event) -> None:
        for number in itertools.count():
            if is_over.is_set():
                return
            user = f"{name}-{number}"
            if _answer(server, f"new:{user}:pw") == "OK":
                self.acknowledged.append(user)

    def crowd(self, server: Program, failures: int) -> None:
        """Clients that create accounts at once, until so many allocations have failed."""
        is_over = threading.Event()
        threads = [
            threading.Thread(target=self.create_until, args=(server, f"crowd{number}", is_over))
            for number in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        before = self.memory.failed()
        self.memory.fail_one_in(300)
        try:
            eventually(lambda: self.memory.failed() >= before + failures, "allocations failed")
        finally:
            self.memory.fail_one_in(0)
            is_over.set()
            for thread in threads:
                thread.join()

    def test_many_clients_create_accounts_while_allocations_fail(self) -> None:
        for model in MODELS:
            with self.subTest(model):
                self.acknowledged = []
                server = self.start("sqlite", model)
                self.crowd(server, 50)
                self.check_all_is_well(server)
                removed = programs.run(
                    "authserver",
                    *("--sqlite-path", self.scene.accounts, "--remove-account", "after0"),
                )
                self.assertEqual(removed.returncode, 0, removed.stderr)
                self.assertEqual(_answer(server, "auth:after0:pw"), "denied")
                server.stop()
                self.scene.accounts.unlink()

    def test_no_thread_and_no_descriptor_is_left(self) -> None:
        server = self.start("sqlite", "thread")
        self.crowd(server, 10 * CLIENTS)
        most_threads = 2 * CLIENTS  # they wait for the next clients
        eventually(lambda: processes.threads(server.pid) <= most_threads, "threads end")
        # Each thread has three files of SQLite open.
        self.assertLessEqual(processes.descriptors(server.pid), 20 + 3 * most_threads)


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
class NoProcessTest(StoreTest):
    kinds = ()

    def test_a_client_for_whom_no_process_can_be_forked_is_told_so_at_once(self) -> None:
        memory = Memory(self.scene.folder)
        flags = ("--model", "process", "--spare-workers", "1", "--idle-timeout", "0")
        server = start_authserver(self.scene, None, *PLAIN, *flags, env=memory.env)
        first = self.client(server)
        self.assertEqual(first.ask("ping"), "OK")
        eventually(lambda: len(processes.children(server.pid)) == 2, "one serves, one waits")
        memory.allow_forks(False)
        last = self.client(server)
        self.assertEqual(last.ask("ping"), "OK")
        refused = [self.client(server) for _ in range(3)]
        self.assertEqual([client.reply() for client in refused], ["busy"] * 3)
        self.assertEqual([first.ask("ping"), last.ask("ping")], ["OK"] * 2)
        memory.allow_forks(True)
        eventually(lambda: _answer(server, "ping") == "OK", "a process is forked again")
        self.assertEqual(server.log().count("cannot fork"), 1)

    def test_a_client_for_whom_no_process_could_be_forked_keeps_no_place(self) -> None:
        memory = Memory(self.scene.folder)
        flags = ("--model", "process", "--spare-workers", "0", "--max-connections", "2")
        server = start_authserver(self.scene, None, *PLAIN, *flags, env=memory.env)
        memory.allow_forks(False)
        for _ in range(3):
            self.assertEqual(self.client(server).reply(), "busy")
        memory.allow_forks(True)
        clients = [self.client(server) for _ in range(2)]
        self.assertEqual([client.ask("ping") for client in clients], ["OK"] * 2)
