"""A `new` whose connection to the store breaks before the answer is not sent a second time."""

import contextlib
import socket
import threading

import e2e_path  # noqa: F401
from client import Address
from peers import Listening
from store_scene import PATIENT, PLAIN, StoreTest, combinations, flags_of
from waiting import eventually


class CuttingRelay(Listening):
    """Forwards to a store. After bytes that hold `marker` it cuts off the side that sent them.

    `passed` counts how often `marker` came. The store gets it, but its reply reaches nobody.
    """

    def __init__(self, store: Address, marker: bytes) -> None:
        self.passed = 0
        self._store = store
        self._marker = marker
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with socket.create_connection(self._store) as store:
            back = threading.Thread(target=self._forward, args=(store, connection), daemon=True)
            back.start()
            self._forward(connection, store)
            with contextlib.suppress(OSError):
                store.shutdown(socket.SHUT_WR)
            back.join()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self._marker in data:
                    self.passed += 1
                    source.shutdown(socket.SHUT_RDWR)
                sink.sendall(data)


class NewIsNotRepeatedTest(StoreTest):
    def test_a_connection_that_breaks_behind_the_request(self) -> None:
        for kind, database in self.databases.items():
            for combination in combinations():
                with self.subTest(kind=kind, combination=combination):
                    user = "-".join(combination)
                    relay = CuttingRelay(("127.0.0.1", database.port), user.encode())
                    self.addCleanup(relay.close)
                    port = {str(database.port): str(relay.address[1])}
                    flags = [port.get(flag, flag) for flag in database.authserver_flags]
                    server = self.scene.authserver(*flags, *flags_of(combination), *PATIENT, *PLAIN)
                    client = self.client(server)
                    self.assertEqual(client.ask("ping"), "OK")  # the connection is a kept one
                    self.assertEqual(client.ask(f"new:{user}:pw"), "unavailable")
                    self.assertEqual(relay.passed, 1)
                    eventually(
                        lambda: database.record_of(user) == "$plain$pw", "the store has the account"
                    )
