"""Several hosts in --mysql-host: the next one is tried where one is gone, hangs or refuses."""

import contextlib
import socket

import e2e_path  # noqa: F401
import programs
from databases import MariaDb
from mysql_packets import GREETING, OK, Packets
from peers import Listening
from scene import for_each
from store_scene import CONNECTIONS, MODELS, PLAIN, StoreTest
from waiting import eventually

SHORT = ("--store-timeout", "4")
NOT_READY = b"\xff" + (1047).to_bytes(2, "little") + b"#08S01the node has lost the others"


class LostNode(Listening):
    """A node of Galera that has lost the others: it lets everybody in, and does nothing."""

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(EOFError), connection.makefile("rwb") as stream:
            packets = Packets(stream)
            packets.send(GREETING)
            packets.receive()  # who logs in
            packets.send(OK)
            while packets.receive():
                packets.send(NOT_READY)


class MysqlHostsTest(StoreTest):
    """Two servers on one port of two addresses. Each has its own accounts, to tell them apart."""

    kinds = ("mysql",)
    first: MariaDb
    second: MariaDb

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.first = cls.databases["mysql"]
        where = ("--bind-address=127.0.0.2", f"--port={cls.first.port}")
        cls.second = MariaDb(cls.first.folder.parent / "second", *where)
        cls.addClassCleanup(cls.second.close)
        cls.second.setup(password_file=cls.first.password_file)  # the same user

    def setUp(self) -> None:
        super().setUp()
        self.hosts = ("--mysql-host", "127.0.0.1,127.0.0.2", *PLAIN, *SHORT)
        for number, database in enumerate((self.first, self.second), 1):
            database.ask(
                "TRUNCATE turnstile.accounts;"
                f"INSERT INTO turnstile.accounts VALUES ('host{number}', '$plain$pw')"
            )

    def serves_from(self, client, host: int) -> bool:
        told = [client.ask(f"auth:host{number}:pw") for number in (1, 2)]
        return told == [("OK" if number == host else "denied") for number in (1, 2)]

    @for_each([(model, connection) for model in MODELS for connection in CONNECTIONS])
    def test_one_that_is_killed(self, how: tuple[str, str]) -> None:
        flags = ("--model", how[0], "--store-connection", how[1])
        server = self.authserver("mysql", *self.hosts, *flags)
        clients = [self.client(server) for _ in range(3)]
        for client in clients:
            self.assertTrue(self.serves_from(client, 1))
        self.first.kill()
        try:
            for number, client in enumerate(clients):
                self.assertTrue(self.serves_from(client, 2))
                self.assertEqual(client.ask(f"new:amy.{'.'.join(how)}{number}:pw"), "OK")
        finally:
            self.first.start()

    def test_one_that_hangs_takes_a_part_of_the_time_once(self) -> None:
        server = self.authserver("mysql", *self.hosts)
        clients = [self.client(server) for _ in range(3)]
        self.first.pause()
        try:
            for client in clients:
                self.assertTrue(self.serves_from(client, 2))
        finally:
            self.first.resume()

    def test_one_that_takes_no_changes(self) -> None:
        server = self.authserver("mysql", *self.hosts)
        client = self.client(server)
        self.assertTrue(self.serves_from(client, 1))
        self.first.ask("SET GLOBAL read_only = 1")
        self.addCleanup(self.first.ask, "SET GLOBAL read_only = 0")
        self.assertEqual(client.ask("new:amy:pw"), "unavailable")
        self.assertEqual(client.ask("new:amy:pw"), "OK")
        self.assertTrue(self.serves_from(client, 2))
        self.assertTrue(self.serves_from(self.client(server), 2))

    @for_each(MODELS)
    def test_the_one_that_worked_last_is_tried_first(self, model: str) -> None:
        self.first.kill()
        try:
            server = self.authserver("mysql", *self.hosts, "--model", model)
        finally:
            self.first.start()
        client = self.client(server)
        self.assertTrue(self.serves_from(client, 2))
        self.second.kill()
        try:
            self.assertTrue(self.serves_from(client, 1))
            self.first.kill()
            self.assertEqual(client.ask("auth:host1:pw"), "unavailable")
            where = f"at=mysql 127.0.0.1,127.0.0.2:{self.first.port} "
            self.assertIn(f"the store is unreachable {where}", server.log())
        finally:
            for database in (self.first, self.second):
                database.restart()
        told = "one of them is found again"
        eventually(lambda: self.serves_from(client, 1) or self.serves_from(client, 2), told)

    def test_a_start_beside_one_that_has_lost_the_others(self) -> None:
        self.first.kill()
        try:
            lost = self.scene.keep(LostNode(("127.0.0.1", self.first.port)))
            server = self.authserver("mysql", *self.hosts)
            self.assertTrue(self.serves_from(self.client(server), 2))
            self.assertEqual(lost.connections, 1)
            lost.close()
        finally:
            self.first.start()

    def test_a_list_with_an_empty_name_is_wrong_usage(self) -> None:
        done = programs.run("authserver", "--store", "mysql", "--mysql-host", "db1,,db2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not a host, or several with commas between them", done.stderr)
