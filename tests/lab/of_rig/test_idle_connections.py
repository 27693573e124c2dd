"""Connections that log in and then ask for nothing, at a server that answers as it is told."""

import socket
import threading
import unittest
from collections.abc import Callable
from dataclasses import replace
from unittest import mock

from rig import idle_connections
from rig.idle_connections import Idle, LogIn
from rig.processes import Address

NATIVE = LogIn.natively("ann", "secret")


class IdleConnectionsTest(unittest.TestCase):
    def server(self, answer: Callable[[int], bytes]) -> Address:
        """Answers each connection by its number. b"" closes it."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.accepted: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    connection = listening.accept()[0]
                except OSError:
                    return
                self.accepted.append(connection)
                connection.recv(1000)
                said = answer(len(self.accepted))
                if said:
                    connection.sendall(said)
                else:
                    connection.close()

        thread = threading.Thread(target=serve)
        thread.start()

        def stop() -> None:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            listening.close()
            for one in self.accepted:
                one.close()

        self.addCleanup(stop)
        return Address("127.0.0.1", listening.getsockname()[1])

    def test_they_are_there_until_the_end_of_the_block(self):
        wanted = Idle(self.server(lambda _: b"OK\n"), NATIVE, 5)
        with idle_connections.held(wanted) as held:
            self.assertEqual((held.open_now(), held.refused), (5, ""))
            self.assertEqual(len(self.accepted), 5)
        self.assertEqual({one.recv(1) for one in self.accepted}, {b""})

    def test_more_than_one_address_has_ports_for_come_from_several(self):
        wanted = Idle(self.server(lambda _: b"OK\n"), NATIVE, 5)
        with (
            mock.patch.object(idle_connections, "_FROM_ONE_ADDRESS", 2),
            idle_connections.held(wanted) as held,
        ):
            self.assertEqual(held.open_now(), 5)
            sources = [one.getpeername()[0] for one in self.accepted]
        self.assertEqual(sources, [f"127.0.0.{last}" for last in (1, 1, 2, 2, 3)])

    def test_one_that_the_server_closes_is_not_counted(self):
        wanted = Idle(self.server(lambda _: b"OK\n"), NATIVE, 3)
        with idle_connections.held(wanted) as held:
            self.accepted[1].close()
            self.assertEqual(held.open_now(), 2)

    def test_a_refusal_ends_it_and_gives_up_the_others(self):
        address = self.server(lambda number: b"OK\n" if number < 3 else b"ERR busy too many\n")
        with idle_connections.held(Idle(address, NATIVE, 9)) as held:
            self.assertEqual(held.refused, "the server refused one after 2: ERR busy too many")
            self.assertEqual(held.open_now(), 0)
            self.assertEqual(self.accepted[0].recv(1), b"")

    def test_a_connection_that_is_closed_is_a_refusal(self):
        with idle_connections.held(Idle(self.server(lambda _: b""), NATIVE, 2)) as held:
            self.assertEqual(held.refused, "the server refused one after 0: it was closed")

    def test_no_server_is_a_refusal_too(self):
        with socket.create_server(("127.0.0.1", 0)) as gone:
            address = Address("127.0.0.1", gone.getsockname()[1])
        with idle_connections.held(Idle(address, NATIVE, 2)) as held:
            self.assertIn("refused one after 0: ", held.refused)

    def test_an_answer_of_http_ends_with_its_head(self):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        log_in = LogIn.by_http("ann", "secret", "1KB1.txt")
        with idle_connections.held(Idle(self.server(lambda _: head), log_in, 2)) as held:
            self.assertEqual((held.open_now(), held.refused), (2, ""))

    def test_another_status_of_http_is_a_refusal(self):
        head = b"HTTP/1.1 401 Unauthorized\r\n\r\n"
        wanted = Idle(self.server(lambda _: head), LogIn.by_http("ann", "secret", "x"), 1)
        with idle_connections.held(wanted) as held:
            self.assertIn("401 Unauthorized", held.refused)

    def test_none_are_held_where_none_are_wanted(self):
        wanted = replace(Idle(Address("127.0.0.1", 1), NATIVE, 2), count=0)
        with idle_connections.held(wanted) as held:
            self.assertEqual((held.open_now(), held.refused), (0, ""))
