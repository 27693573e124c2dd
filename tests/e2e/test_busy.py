"""--max-connections: a connection over the limit is answered `busy` and closed."""

import contextlib
import os
import select
import signal
import socket

import servers
from client import Client, ConnectionEndedError
from http_client import FLAG as HTTP
from http_client import HttpClient, request
from programs import Program
from scene import SceneTest, for_each
from telemetry import FLAG, scrape
from waiting import eventually

# The state of a connection whose peer has closed it in good order.
TCP_CLOSE_WAIT = 8


class BusyTest(SceneTest):
    LIMIT = 3

    def fill(self, kind: str) -> tuple[Program, list[Client]]:
        server = servers.start(self.scene, kind, "--max-connections", self.LIMIT)
        clients = [self.scene.client(server) for _ in range(self.LIMIT)]
        for client in clients:
            self.assertEqual(client.ask("ping"), "OK")
        return server, clients

    def has_room(self, server: Program) -> bool:
        client = Client(server.address)
        client.send("ping\n")
        reply = client.reply()
        client.close()
        self.assertIn(reply, ("OK", "busy"))
        return reply == "OK"

    @for_each(servers.KINDS)
    def test_one_more_is_told_so_at_once_and_closed(self, kind: str) -> None:
        server, clients = self.fill(kind)
        for _ in range(10):
            refused = self.scene.client(server)
            self.assertEqual(refused.reply(), "busy")
            self.assertTrue(refused.is_ended())
        self.assertEqual([client.ask("ping") for client in clients], ["OK"] * self.LIMIT)

    @for_each(servers.KINDS)
    def test_one_more_reads_it_even_when_it_has_sent_lines_already(self, kind: str) -> None:
        server, _ = self.fill(kind)
        for _ in range(20):
            refused = self.scene.client(server)
            refused.send("get:alice:wonderland\na.txt\n")
            self.assertEqual(refused.reply(), "busy")

    def test_one_more_whose_lines_wait_already_is_not_reset(self) -> None:
        """A reset could overtake the answer on its way."""
        server, _ = self.fill("authserver with threads")
        os.kill(server.pid, signal.SIGSTOP)
        refused = [self.scene.client(server) for _ in range(20)]
        for client in refused:
            client.send("ping\n" * 100)
        os.kill(server.pid, signal.SIGCONT)
        for client in refused:
            self.assertEqual(client.reply(), "busy")
            self.assertTrue(client.is_ended())
        info = [c.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) for c in refused]
        self.assertEqual({state for (state,) in info}, {TCP_CLOSE_WAIT})

    def test_nothing_that_a_refused_connection_asks_is_carried_out(self) -> None:
        server, clients = self.fill("authserver with threads")
        refused = self.scene.client(server)
        refused.send("new:refused:pw\n")
        self.assertEqual(refused.reply(), "busy")
        self.assertTrue(refused.is_ended())
        self.assertEqual(clients[0].ask("new:refused:pw"), "OK")

    @for_each(servers.KINDS)
    def test_there_is_room_again_when_one_leaves(self, kind: str) -> None:
        server, clients = self.fill(kind)
        for leaver in clients:
            self.assertFalse(self.has_room(server))
            leaver.close()
            eventually(lambda: self.has_room(server), "there is room again")
            eventually(lambda: self.takes_a_place(server), "a new connection takes the place")
        self.assertFalse(self.has_room(server))

    def takes_a_place(self, server: Program) -> bool:
        client = self.scene.client(server)
        client.send("ping\n")
        return client.reply() == "OK"

    @for_each(servers.KINDS)
    def test_a_limit_of_one_serves_one_after_the_other(self, kind: str) -> None:
        server = servers.start(self.scene, kind, "--max-connections", "1")
        for _ in range(20):
            eventually(lambda: self.has_room(server), "there is room")

    @for_each(servers.KINDS)
    def test_hundreds_that_come_at_once_are_each_served_or_told_busy(self, kind: str) -> None:
        server = servers.start(self.scene, kind, "--max-connections", "20")
        clients = [self.scene.client(server) for _ in range(200)]
        replies = []
        for client in clients:
            client.send("ping\n")
            replies.append(client.reply())
        self.assertEqual(replies.count("OK"), 20)
        self.assertEqual(replies.count("busy"), 180)
        for client in clients:
            client.close()
        eventually(lambda: self.has_room(server), "there is room again")


def is_served(client: Client) -> bool:
    """Whether the server has not closed the connection, and answers."""
    try:
        return client.ask("ping") == "OK"
    except (ConnectionEndedError, OSError):
        return False


def has_ended(client: Client) -> bool:
    """Whether the server has ended the connection, on which it says nothing. Does not wait."""
    return bool(select.select([client.socket], [], [], 0)[0])


class GivesWayTest(SceneTest):
    """A newcomer takes the place of one without an account, if its address has over a quarter."""

    LIMIT = 8
    CROWD = ("127.0.0.1",) * LIMIT

    def fill(self, kind: str, sources: tuple[str, ...] = CROWD, *flags: object) -> list[Client]:
        """Silent connections that take all places."""
        limit = ("--max-connections", self.LIMIT)
        self.server = servers.start(self.scene, kind, *limit, *FLAG, *flags)
        silent = [self.client(source) for source in sources]
        self.wait_for("turnstile_connections_open", len(silent))
        return silent

    def client(self, source: str) -> Client:
        return self.scene.keep(Client(self.server.address, source=source))

    def let_in(self, source: str) -> Client:
        """A newcomer that was served.

        The parent of processes may say busy until it has seen the end of the one that gave way.
        """
        tries: list[Client] = []

        def is_let_in() -> bool:
            tries.append(self.client(source))
            if is_served(tries[-1]):
                return True
            tries[-1].close()
            return False

        eventually(is_let_in, "one gives way")
        return tries[-1]

    def wait_for(self, metric: str, value: float) -> None:
        eventually(lambda: scrape(self.server).value(metric) == value, f"{metric} is {value}")

    @for_each(servers.KINDS)
    def test_one_of_an_address_that_fills_the_server_gives_way_to_others(self, kind: str) -> None:
        silent = self.fill(kind)
        for number in range(2, 5):
            self.assertEqual(self.let_in(f"127.0.0.{number}").ask("ping"), "OK")
        self.assertEqual([is_served(client) for client in silent].count(True), self.LIMIT - 3)

    @for_each(servers.KINDS)
    def test_who_gives_way_is_ended_without_another_connection(self, kind: str) -> None:
        silent = self.fill(kind)
        for _ in range(10):  # some processes wait then, and the last one wakes nobody
            self.assertEqual(self.client("127.0.0.1").reply(), "busy")
        self.let_in("127.0.0.2")
        eventually(lambda: any(has_ended(client) for client in silent), "one has ended")

    @for_each(servers.KINDS)
    def test_it_does_not_for_more_of_the_same_address(self, kind: str) -> None:
        silent = self.fill(kind)
        for _ in range(3):
            self.assertEqual(self.client("127.0.0.1").reply(), "busy")
        self.assertTrue(all(is_served(client) for client in silent))

    @for_each(servers.KINDS)
    def test_who_has_begun_a_request_gives_way_last(self, kind: str) -> None:
        clients = self.fill(kind)
        begun, silent = clients[: self.LIMIT // 2], clients[self.LIMIT // 2 :]
        for client in begun:
            client.send("pi")
        self.wait_for("turnstile_received_bytes_total", 2 * len(begun))
        for number in range(2, 2 + len(silent)):
            self.let_in(f"127.0.0.{number}")
        for client in silent:
            self.assertTrue(client.is_ended())
        for client in begun:
            client.send("ng\n")
            self.assertEqual(client.reply(), "OK")

    @for_each(servers.KINDS)
    def test_nobody_gives_way_who_was_let_in(self, kind: str) -> None:
        clients = self.fill(kind)
        line = "ping"
        if kind.startswith("fileserver"):
            self.assertIn(clients[0].ask("new:alice:wonderland"), ("OK", "exists"))
            line = "get:alice:wonderland"
        for client in clients:
            self.assertEqual(client.ask(line), "OK")
        self.assertEqual(self.client("127.0.0.2").reply(), "busy")
        self.assertTrue(all(is_served(client) for client in clients))

    @for_each([kind for kind in servers.KINDS if kind.startswith("fileserver")])
    def test_who_asks_without_an_account_gives_way_between_requests(self, kind: str) -> None:
        clients = self.fill(kind)
        self.assertTrue(all(is_served(client) for client in clients))
        self.assertTrue(is_served(self.let_in("127.0.0.2")))
        self.assertEqual([is_served(client) for client in clients].count(True), self.LIMIT - 1)

    @for_each([kind for kind in servers.KINDS if kind in ("fileserver", "fileserver with loops")])
    def test_by_http_neither_does_who_has_an_account(self, kind: str) -> None:
        self.fill(kind, (), *HTTP)
        user = ("alice", "wonderland")
        maker = self.client("127.0.0.1")
        self.assertIn(maker.ask(f"new:{user[0]}:{user[1]}"), ("OK", "exists"))
        maker.close()
        self.wait_for("turnstile_connections_open", 0)
        clients = [HttpClient(self.server, *user, source="127.0.0.1") for _ in range(self.LIMIT)]
        for client in clients:
            self.assertEqual(self.scene.keep(client).ask("/no-file").status, 404)
        self.assertEqual(self.client("127.0.0.2").reply(), "busy")
        for client in clients:
            self.assertEqual(client.ask("/no-file").status, 404)

    @for_each(servers.KINDS)
    def test_addresses_with_a_quarter_give_way_to_nobody(self, kind: str) -> None:
        silent = self.fill(kind, tuple(f"127.0.0.{1 + i // 2}" for i in range(self.LIMIT)))
        self.assertEqual(self.client("127.0.0.9").reply(), "busy")
        self.assertTrue(all(is_served(client) for client in silent))

    @for_each([kind for kind in servers.KINDS if kind in ("fileserver", "fileserver with loops")])
    def test_an_account_whose_body_does_not_come_is_no_request_yet(self, kind: str) -> None:
        self.fill(kind, (), *HTTP)
        head = request("/-/accounts", "Content-Length: 9", method="POST")
        for _ in range(self.LIMIT):
            self.scene.keep(HttpClient(self.server, source="127.0.0.1")).send(head)
        self.wait_for("turnstile_received_bytes_total", self.LIMIT * len(head))

        def is_let_in() -> bool:
            newcomer = self.scene.keep(HttpClient(self.server, source="127.0.0.2"))
            with contextlib.suppress(ConnectionEndedError, OSError):
                return newcomer.ask("/").status == 401  # a server that is full answers /-/live too
            return False

        eventually(is_let_in, "one that waits for its body gives way")
