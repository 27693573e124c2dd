"""--max-connections: a connection over the limit is answered `busy` and closed."""

import os
import signal
import socket

import servers
from client import Client
from programs import Program
from scene import SceneTest, for_each
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
