"""The connection to the store ends in the middle of an answer, after each number of bytes."""

import contextlib
import socket

import e2e_path  # noqa: F401
from client import Address, Client
from databases import Database
from peers import Relay
from programs import Program
from store_scene import PATIENT, PLAIN, StoreTest
from waiting import eventually

_MOST_BYTES = 1 << 16


class CuttingRelay(Relay):
    """Forwards only `left` more bytes of answers, and then ends the connection that sent them."""

    def __init__(self, target: Address) -> None:
        self.left = _MOST_BYTES
        super().__init__(target)

    def _pump_back(self, onward: socket.socket, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while received := onward.recv(1 << 12)[: self.left]:
                self.left -= len(received)
                connection.sendall(received)
                if self.left == 0:
                    break
        self.left = _MOST_BYTES
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


class CutAnswerTest(StoreTest):
    def test_a_cut_answer_is_asked_again_or_unavailable_and_never_internal(self) -> None:
        for kind, database in self.databases.items():
            relay = CuttingRelay(("127.0.0.1", database.port))
            with self.subTest(kind), contextlib.closing(relay):
                client = self.client(self._authserver_behind(relay, database))
                self.assertEqual(client.ask("new:alice:pw"), "OK")
                for size in range(1, self._size_of_an_answer(relay, client)):
                    relay.left = size
                    self.assertIn(client.ask("auth:alice:pw"), ("OK", "unavailable"), size)
                    eventually(lambda: client.ask("auth:alice:pw") == "OK", "the store is back")

    def _authserver_behind(self, relay: CuttingRelay, database: Database) -> Program:
        ports = {str(database.port): str(relay.address[1])}
        flags = [ports.get(flag, flag) for flag in database.authserver_flags]
        return self.scene.authserver(*flags, *PLAIN, *PATIENT)

    def _size_of_an_answer(self, relay: CuttingRelay, client: Client) -> int:
        self.assertEqual(client.ask("auth:alice:pw"), "OK")
        before = relay.left
        self.assertEqual(client.ask("auth:alice:pw"), "OK")
        self.assertGreater(before - relay.left, 8)
        return before - relay.left
