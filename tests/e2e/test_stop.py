"""SIGTERM and SIGINT: requests under way are finished, waiting lines are not carried out."""

import contextlib
import itertools
import signal
import sqlite3
import subprocess
import threading

import servers
from client import Client, ConnectionEndedError, grant, refuses_connections
from peers import Peer
from processes import sleep_count
from programs import BUILD, Program, environment
from scene import SceneTest, for_each
from waiting import LONG_S, eventually, time_s

BIG = 32_000_000
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopTest(SceneTest):
    @for_each(itertools.product(servers.KINDS, STOP_SIGNALS))
    def test_idle_connections_are_closed_without_a_line(
        self, kind_and_signal: tuple[str, signal.Signals]
    ) -> None:
        kind, number = kind_and_signal
        server = servers.start(self.scene, kind, "--drain-seconds", LONG_S)
        clients = [self.scene.client(server) for _ in range(5)]
        for client in clients[1:]:
            self.assertEqual(client.ask("ping"), "OK")
        clients[2].send("an unfinished li")
        server.signal(number)
        self.assertLess(time_s(lambda: self.assertEqual(server.wait(), 0)), LONG_S / 2)
        for client in clients:
            self.assertTrue(client.is_ended())
        self.assertTrue(refuses_connections(server.address))
        self.assertEqual(server.output_at_end(), "")

    @for_each(servers.KINDS)
    def test_a_server_that_nobody_talks_to_stops_at_once(self, kind: str) -> None:
        server = servers.start(self.scene, kind, "--drain-seconds", LONG_S)
        self.assertLess(time_s(lambda: self.assertEqual(server.stop(), 0)), LONG_S / 2)

    @for_each(servers.KINDS)
    def test_its_address_can_be_taken_again_at_once(self, kind: str) -> None:
        server = servers.start(self.scene, kind)
        self.assertEqual(self.scene.client(server).ask("ping"), "OK")
        self.assertEqual(server.stop(), 0)
        again = servers.start(self.scene, kind, "--listen", server)
        self.assertEqual(self.scene.client(again).ask("ping"), "OK")


class StopFileserverTest(SceneTest):
    def serve(self, *flags: object) -> Program:
        self.scene.write("big", b"1" * BIG)
        self.authserver = self.scene.authserver_of_alice()
        return self.scene.fileserver(self.authserver, *flags)

    def begin_transfer(self, fileserver: Program, lines_behind: str = "") -> Client:
        client = self.scene.client(fileserver, receive_buffer=1 << 16)
        grant(client)
        client.send("big\n" + lines_behind)
        self.assertEqual(client.begin_file(), BIG)
        return client

    @for_each(((), ("--files", "disk"), ("--spare-threads", "0")))
    def test_a_transfer_under_way_is_finished_and_waiting_lines_are_not_carried_out(
        self, flags: tuple[str, ...]
    ) -> None:
        fileserver = self.serve("--drain-seconds", LONG_S, *flags)
        client = self.begin_transfer(fileserver, "new:waiting:pw\nping\n")
        fileserver.signal(signal.SIGTERM)
        eventually(
            lambda: refuses_connections(fileserver.address), "no connection is accepted any more"
        )
        self.assertEqual(client.take(BIG), b"1" * BIG)
        self.assertTrue(client.is_ended())
        self.assertEqual(fileserver.wait(), 0)
        self.assertEqual(self.scene.client(self.authserver).ask("auth:waiting:pw"), "denied")

    def test_a_request_that_waits_for_the_authserver_is_finished(self) -> None:
        may_answer = threading.Event()
        self.addCleanup(may_answer.set)
        peer = self.scene.keep(Peer(lambda line, _: b"OK\n" if may_answer.wait(LONG_S) else None))
        fileserver = self.scene.fileserver(
            peer, "--drain-seconds", LONG_S, "--auth-timeout", LONG_S
        )
        clients = [self.scene.client(fileserver) for _ in range(3)]
        for client in clients:
            client.send("new:bob:pw\nping\n")
        peer.wait_for_lines(3)
        fileserver.signal(signal.SIGTERM)
        eventually(
            lambda: refuses_connections(fileserver.address), "no connection is accepted any more"
        )
        may_answer.set()
        for client in clients:
            self.assertEqual(client.reply(), "OK")
            self.assertTrue(client.is_ended())
        self.assertEqual(fileserver.wait(), 0)
        self.assertEqual(peer.lines, [b"new:bob:pw\n"] * 3)

    @for_each(((), ("--spare-threads", "0")))
    def test_what_is_not_finished_in_time_is_cut_with_a_line_in_the_log(
        self, flags: tuple[str, ...]
    ) -> None:
        fileserver = self.serve("--drain-seconds", "0.3", *flags)
        client = self.begin_transfer(fileserver)
        self.assertLess(time_s(lambda: self.assertEqual(fileserver.stop(), 0)), LONG_S / 2)
        self.assertIn("cut", fileserver.log())
        with self.assertRaises(ConnectionEndedError):
            client.take(BIG)

    def test_a_request_that_nobody_answers_is_cut_too(self) -> None:
        peer = self.scene.keep(Peer(lambda line, _: None))
        fileserver = self.scene.fileserver(peer, "--drain-seconds", "0.3", "--auth-timeout", "1000")
        client = self.scene.client(fileserver)
        client.send("get:bob:pw\n")
        peer.wait_for_lines(1)
        self.assertLess(time_s(lambda: self.assertEqual(fileserver.stop(), 0)), LONG_S / 2)
        self.assertIn("cut", fileserver.log())
        self.assertTrue(client.is_ended())

    def test_nothing_is_cut_when_all_is_finished_in_time(self) -> None:
        fileserver = self.serve()
        client = self.scene.client(fileserver)
        grant(client)
        self.assertEqual(fileserver.stop(), 0)
        self.assertNotIn("cut", fileserver.log())


class StopAuthserverTest(SceneTest):
    """A lock on the accounts file keeps a request under way as long as a test needs."""

    def begin_request(
        self, kind: str, *flags: object
    ) -> tuple[Program, Client, sqlite3.Connection]:
        server = servers.start(self.scene, kind, "--store-timeout", LONG_S, *flags)
        client = self.scene.client(server)
        self.assertEqual(client.ask("ping"), "OK")
        lock = self.scene.keep(sqlite3.connect(self.scene.accounts, isolation_level=None))
        lock.execute("BEGIN IMMEDIATE")
        before = sleep_count(server.pid)
        client.send("new:late:pw\nnew:waiting:pw\n")
        eventually(lambda: sleep_count(server.pid) > before + 10, "the request waits for the lock")
        return server, client, lock

    @for_each(servers.AUTHSERVER_KINDS)
    def test_a_request_under_way_is_finished_and_waiting_lines_are_not_carried_out(
        self, kind: str
    ) -> None:
        self.scene.accounts.unlink(missing_ok=True)
        server, client, lock = self.begin_request(kind, "--drain-seconds", LONG_S)
        with contextlib.closing(lock):
            server.signal(signal.SIGTERM)
            eventually(
                lambda: refuses_connections(server.address), "no connection is accepted any more"
            )
            lock.execute("ROLLBACK")
            self.assertEqual(client.reply(), "OK")
            self.assertTrue(client.is_ended())
            self.assertEqual(server.wait(), 0)
            users = [bytes(name) for (name,) in lock.execute("SELECT name FROM accounts")]
            self.assertEqual(users, [b"late"])

    @for_each(servers.AUTHSERVER_KINDS)
    def test_a_request_that_takes_too_long_is_cut_with_a_line_in_the_log(self, kind: str) -> None:
        server, client, lock = self.begin_request(kind, "--drain-seconds", "0.3")
        with contextlib.closing(lock):
            self.assertLess(time_s(lambda: self.assertEqual(server.stop(), 0)), LONG_S / 2)
            self.assertIn("cut", server.log())
            self.assertTrue(client.is_ended())


class StopImportTest(SceneTest):
    def users(self) -> list[bytes]:
        with (
            contextlib.closing(sqlite3.connect(self.scene.accounts)) as store,
            contextlib.suppress(sqlite3.OperationalError),
        ):
            return [bytes(name) for (name,) in store.execute("SELECT name FROM accounts")]
        return []  # there is no table yet

    @for_each(STOP_SIGNALS)
    def test_an_import_ends_at_once(self, number: signal.Signals) -> None:
        accounts = str(self.scene.accounts)
        command = [str(BUILD / "authserver"), "--import", "-", "--sqlite-path", accounts]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
        ) as importing:
            importing.stdin.write(f'"{number.name}","$plain$x"\n'.encode())
            importing.stdin.flush()
            eventually(
                lambda: number.name.encode() in self.users(), "the first account is imported"
            )
            importing.send_signal(number)
            self.assertEqual(importing.wait(LONG_S), -number)
