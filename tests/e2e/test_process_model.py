"""--model process: each connection has a process, and its failure does not affect the others."""

import contextlib
import os
import signal
import sqlite3
import unittest

import servers
from client import Client
from processes import children, server_of, sleep_count, state, threads
from programs import Program
from scene import SceneTest, for_each
from test_direct_io import why_not_traced
from waiting import eventually


def is_gone(pid: int) -> bool:
    return state(pid) in ("", "Z")  # a zombie is gone too: only its parent has not yet noticed


class ProcessModelTest(SceneTest):
    kind = "authserver with processes"

    def start(self, *flags: object, **options) -> Program:
        return servers.start(self.scene, self.kind, *flags, **options)

    def ask_on_a_new_connection(self, server: Program, line: str = "ping") -> str | bytes:
        client = Client(server.address)
        reply = client.ask(line)
        client.close()
        return reply

    def test_each_connection_has_a_process_of_its_own(self) -> None:
        server = self.start()
        clients = [self.scene.client(server) for _ in range(10)]
        self.assertEqual([client.ask("ping") for client in clients], ["OK"] * 10)
        owners = {server_of(client, server.pid) for client in clients}
        self.assertEqual(len(owners), 10)
        self.assertNotIn(server.pid, owners)

    def test_the_parent_has_one_thread(self) -> None:
        server = self.start()
        self.assertEqual(self.ask_on_a_new_connection(server, "new:bob:pw"), "OK")
        self.assertEqual(threads(server.pid), 1)

    def test_no_zombie_stays(self) -> None:
        server = self.start()
        for _ in range(60):
            self.assertEqual(self.ask_on_a_new_connection(server), "OK")
        clients = [Client(server.address) for _ in range(60)]
        self.assertEqual([client.ask("ping") for client in clients], ["OK"] * 60)
        for client in clients:
            client.close()
        eventually(
            lambda: all(state(child) != "Z" for child in children(server.pid)), "no zombie is left"
        )
        eventually(lambda: len(children(server.pid)) <= 33, "at most 32 children are idle")

    def test_a_killed_child_does_not_affect_other_connections(self) -> None:
        server = self.start()
        victim, other = (self.scene.client(server) for _ in range(2))
        self.assertEqual([victim.ask("ping"), other.ask("ping")], ["OK", "OK"])
        os.kill(server_of(victim, server.pid), signal.SIGKILL)
        self.assertTrue(victim.is_ended())
        self.assertEqual(other.ask("ping"), "OK")
        self.assertEqual(self.ask_on_a_new_connection(server), "OK")
        self.assertTrue(server.is_running())

    def test_killed_children_free_their_places(self) -> None:
        server = self.start("--max-connections", "2")
        for _ in range(8):
            eventually(lambda: self.kill_the_server_of_a_client(server), "there is room")
        clients = [self.scene.client(server) for _ in range(2)]
        eventually(lambda: self.ask_again(server, clients) == ["OK", "OK"], "both places are free")
        self.assertEqual(self.scene.client(server).reply(), "busy")

    def kill_the_server_of_a_client(self, server: Program) -> bool:
        client = self.scene.client(server)
        client.send("ping\n")
        if client.reply() != "OK":
            return False
        os.kill(server_of(client, server.pid), signal.SIGKILL)
        self.assertTrue(client.is_ended())
        return True

    def ask_again(self, server: Program, clients: list[Client]) -> list:
        """Returns the replies of the clients, and replaces each client that was answered `busy`."""
        replies = []
        for number, client in enumerate(clients):
            client.send("ping\n")
            replies.append(client.reply())
            if replies[-1] != "OK":
                clients[number] = self.scene.client(server)
        return replies

    def test_when_all_children_are_killed_the_next_connection_is_served(self) -> None:
        server = self.start()
        for _ in range(5):
            self.assertEqual(self.ask_on_a_new_connection(server), "OK")
            self.kill_all_children(server)
        self.assertEqual(self.ask_on_a_new_connection(server), "OK")
        eventually(
            lambda: all(state(child) != "Z" for child in children(server.pid)), "no zombie is left"
        )

    def kill_all_children(self, server: Program) -> None:
        victims = children(server.pid)
        for child in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        eventually(lambda: all(map(is_gone, victims)), "the children are dead")

    def test_a_child_that_is_told_to_terminate_goes_on_serving(self) -> None:
        # A terminal signals the whole process group, but the parent decides when a child ends.
        server = self.start()
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(server_of(client, server.pid), number)
            self.assertEqual(client.ask("ping"), "OK")

    def test_a_drain_signal_that_the_parent_did_not_send_is_ignored(self) -> None:
        server = self.start()
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")
        for child in children(server.pid):
            with contextlib.suppress(ProcessLookupError):  # an idle child may have ended by itself
                os.kill(child, signal.SIGUSR1)
        self.assertEqual(client.ask("ping"), "OK")
        for _ in range(3):
            self.assertEqual(self.ask_on_a_new_connection(server), "OK")
        self.assertEqual(server.stop(), 0)
        self.assertTrue(client.is_ended())

    def test_when_the_parent_is_killed_idle_children_end_and_the_address_is_free(self) -> None:
        server = self.start()
        clients = [self.scene.client(server) for _ in range(5)]
        self.assertEqual([client.ask("ping") for client in clients], ["OK"] * 5)
        orphans = children(server.pid)
        self.assertGreaterEqual(len(orphans), 5)
        server.kill()
        for client in clients:
            self.assertTrue(client.is_ended())
        eventually(lambda: all(map(is_gone, orphans)), "the children have ended")
        again = self.scene.authserver("--listen", server)
        self.assertEqual(self.ask_on_a_new_connection(again), "OK")
        again.stop()


class ProcessModelWithoutIdleChildrenTest(ProcessModelTest):
    kind = "authserver with processes, none idle"

    def test_a_process_ends_with_its_connection(self) -> None:
        server = self.start()
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")
        self.assertEqual(len(children(server.pid)), 1)
        client.close()
        eventually(lambda: children(server.pid) == [], "the child has ended")

    @unittest.skipIf(why_not_traced(), why_not_traced() or "")
    def test_a_child_that_has_ended_is_not_signalled(self) -> None:
        trace = self.scene.folder / f"trace-{self.kind}"
        strace = ["strace", "-D", "-qq", "-e", "trace=kill", "-o", str(trace)]
        server = self.start(prefix=strace)
        clients = [self.scene.client(server) for _ in range(2)]
        self.assertEqual([client.ask("ping") for client in clients], ["OK"] * 2)
        ended, served = (server_of(client, server.pid) for client in clients)
        clients[0].close()
        eventually(lambda: children(server.pid) == [served], "the child has ended")
        server.stop()
        self.assertIn(f"kill({served}, ", trace.read_text())
        self.assertNotIn(f"kill({ended}, ", trace.read_text())


class FileserverProcessesTest(ProcessModelTest):
    kind = "fileserver with processes"


class FileserverProcessesWithoutIdleChildrenTest(ProcessModelWithoutIdleChildrenTest):
    kind = "fileserver with processes, none idle"


class KilledParentTest(SceneTest):
    @for_each(kind for kind in servers.PROCESS_KINDS if kind in servers.AUTHSERVER_KINDS)
    def test_a_request_under_way_is_finished(self, kind: str) -> None:
        server = servers.start(self.scene, kind, "--store-timeout", "30")
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")
        orphan = server_of(client, server.pid)
        lock = self.scene.keep(sqlite3.connect(self.scene.accounts, isolation_level=None))
        lock.execute("BEGIN IMMEDIATE")
        before = sleep_count(orphan)
        late, waiting = (f"{word}{servers.KINDS.index(kind)}" for word in ("late", "waiting"))
        client.send(f"new:{late}:pw\nnew:{waiting}:pw\n")
        eventually(lambda: sleep_count(orphan) > before + 10, "the request waits for the lock")
        server.kill()
        lock.execute("ROLLBACK")
        self.assertEqual(client.reply(), "OK")
        self.assertTrue(client.is_ended())
        eventually(lambda: is_gone(orphan), "the child has ended")
        users = {name.decode() for (name,) in lock.execute("SELECT name FROM accounts")}
        self.assertIn(late, users)
        self.assertNotIn(waiting, users)
        lock.close()


class ThreadModelTest(SceneTest):
    def test_the_thread_model_has_no_children(self) -> None:
        for kind in set(servers.KINDS) - set(servers.PROCESS_KINDS):
            with self.subTest(kind):
                server = servers.start(self.scene, kind)
                clients = [self.scene.client(server) for _ in range(5)]
                self.assertEqual([client.ask("ping") for client in clients], ["OK"] * 5)
                self.assertEqual(children(server.pid), [])
