"""Allocations that fail while SQLite is asked, and processes that cannot be forked."""

import itertools
import threading
import unittest

import e2e_path  # noqa: F401
import processes
import programs
from faults import CLONE, MEMORY, Faults
from programs import SANITIZED, Program
from scarce_memory_scene import CLIENTS, ScarceMemoryScene, answer_of
from store_scene import MODELS, PLAIN, StoreTest, start_authserver
from waiting import LONG_S, eventually


class ScarceMemoryTest(ScarceMemoryScene):
    kinds = ()

    def test_each_allocation_of_a_request_may_fail(self) -> None:
        self.each_allocation_of_a_request_fails("sqlite")

    def test_an_allocation_of_a_change_by_hand_may_fail(self) -> None:
        self.allocations_of_a_change_fail("sqlite")

    def create_until(self, server: Program, name: str, is_over: threading.Event) -> None:
        for number in itertools.count():
            if is_over.is_set():
                return
            user = f"{name}-{number}"
            if answer_of(server, f"new:{user}:pw") == "OK":
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
        before = self.faults.failed()
        self.faults.fail_one_in(MEMORY, 100)
        try:
            eventually(
                lambda: self.faults.failed() >= before + failures, "allocations fail", 4 * LONG_S
            )
        finally:
            self.faults.stop()
            is_over.set()
            for thread in threads:
                thread.join()

    def test_many_clients_create_accounts_while_allocations_fail(self) -> None:
        for model in MODELS:
            with self.subTest(model):
                self.acknowledged = []
                server = self.start("sqlite", model)
                self.crowd(server, 50)
                if model == "thread":
                    most = 2 * CLIENTS  # they wait for the next clients
                    eventually(lambda: processes.threads(server.pid) <= most, "threads end")
                    # Each thread has three files of SQLite open.
                    self.assertLessEqual(processes.descriptors(server.pid), 20 + 3 * most)
                self.check_all_is_well(server)
                removed = programs.run(
                    "authserver",
                    *("--sqlite-path", self.scene.accounts, "--remove-account", "after0"),
                )
                self.assertEqual(removed.returncode, 0, removed.stderr)
                self.assertEqual(answer_of(server, "auth:after0:pw"), "denied")
                server.stop()
                self.scene.accounts.unlink()

    def test_no_thread_process_and_descriptor_is_left_of_a_crowd(self) -> None:
        for model in MODELS:
            with self.subTest(model):
                server = self.start("sqlite", model, "--spare-workers", "0")
                self.works(server, "ping")
                before = processes.held(server.pid)
                self.crowd(server, 50)
                eventually(
                    lambda: not processes.holds_more(server.pid, before),
                    f"it holds no more than {before}",
                )
                server.stop()
                self.scene.accounts.unlink()


@unittest.skipIf(SANITIZED, "a sanitizer must be the first library that is loaded")
class NoProcessTest(StoreTest):
    kinds = ()

    def test_a_client_for_whom_no_process_can_be_forked_is_told_so_at_once(self) -> None:
        faults = Faults(self.scene.folder)
        flags = ("--model", "process", "--spare-workers", "1", "--idle-timeout", "0")
        server = start_authserver(self.scene, None, *PLAIN, *flags, env=faults.env)
        first = self.client(server)
        self.assertEqual(first.ask("ping"), "OK")
        eventually(lambda: len(processes.children(server.pid)) == 2, "one serves, one waits")
        faults.fail_one_in(CLONE, 1)
        last = self.client(server)
        self.assertEqual(last.ask("ping"), "OK")
        refused = [self.client(server) for _ in range(3)]
        self.assertEqual([client.reply() for client in refused], ["busy"] * 3)
        self.assertEqual([first.ask("ping"), last.ask("ping")], ["OK"] * 2)
        faults.stop()
        eventually(lambda: answer_of(server, "ping") == "OK", "a process is forked again")
        self.assertEqual(server.log().count("cannot fork"), 1)

    def test_a_client_for_whom_no_process_could_be_forked_keeps_no_place(self) -> None:
        faults = Faults(self.scene.folder)
        flags = ("--model", "process", "--spare-workers", "0", "--max-connections", "2")
        server = start_authserver(self.scene, None, *PLAIN, *flags, env=faults.env)
        faults.fail_one_in(CLONE, 1)
        for _ in range(3):
            self.assertEqual(self.client(server).reply(), "busy")
        faults.stop()
        clients = [self.client(server) for _ in range(2)]
        self.assertEqual([client.ask("ping") for client in clients], ["OK"] * 2)
