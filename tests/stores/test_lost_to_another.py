"""A `new` on MySQL that loses to another transaction, as on two nodes of a Galera cluster."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import e2e_path  # noqa: F401
from client import Address
from peers import Listening
from store_scene import PATIENT, PLAIN, StoreTest, start_authserver

DEADLOCK, LOCK_WAIT, NOT_READY = 1213, 1205, 1047
COM_STMT_EXECUTE = 0x17


def _packets(data: bytes) -> Iterator[bytes]:
    """Each with its header. The client sends them whole."""
    while data:
        size = 4 + int.from_bytes(data[:3], "little")
        yield data[:size]
        data = data[size:]


class RefusingRelay(Listening):
    """Forwards to MariaDB, but answers statements about `user` with `errors`, one each.

    `executed` counts the statements about the user, refused or forwarded.
    """

    def __init__(self, store: Address) -> None:
        self.user = b""
        self.errors: list[int] = []
        self.executed = 0
        self._store = store
        super().__init__()

    def refuse(self, user: str, errors: tuple[int, ...]) -> None:
        self.user, self.errors, self.executed = user.encode(), list(errors), 0

    def serve(self, connection: socket.socket) -> None:
        with socket.create_connection(self._store) as store:
            back = threading.Thread(target=self._answers, args=(store, connection), daemon=True)
            back.start()
            with contextlib.suppress(OSError):
                while data := connection.recv(1 << 16):
                    for packet in _packets(data):
                        error = self._error_for(packet)
                        if error is None:
                            store.sendall(packet)
                        else:
                            connection.sendall(error)
                store.shutdown(socket.SHUT_WR)
            back.join()

    def _answers(self, store: socket.socket, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := store.recv(1 << 16):
                connection.sendall(data)

    def _error_for(self, packet: bytes) -> bytes | None:
        if not self.user or packet[4] != COM_STMT_EXECUTE or self.user not in packet:
            return None
        self.executed += 1
        if not self.errors:
            return None
        payload = b"\xff" + self.errors.pop(0).to_bytes(2, "little") + b"#40001another one won"
        return len(payload).to_bytes(3, "little") + b"\1" + payload


class LostToAnotherTest(StoreTest):
    kinds = ("mysql",)

    def test_a_new_that_loses_is_told_what_has_become_of_the_name(self) -> None:
        database = self.databases["mysql"]
        relay = RefusingRelay(("127.0.0.1", database.port))
        self.addCleanup(relay.close)
        port = {str(database.port): str(relay.address[1])}
        flags = [port.get(flag, flag) for flag in database.authserver_flags]
        server = start_authserver(self.scene, None, *flags, *PATIENT, *PLAIN)
        for number, (errors, is_taken, answer, executed) in enumerate(
            (
                ((DEADLOCK,), False, "OK", 2),
                ((DEADLOCK,), True, "exists", 2),
                ((DEADLOCK, DEADLOCK), True, "exists", 3),
                ((DEADLOCK, DEADLOCK), False, "unavailable", 3),
                ((LOCK_WAIT,), True, "exists", 2),
                ((LOCK_WAIT,), False, "unavailable", 2),
                ((NOT_READY,), False, "unavailable", 1),
            )
        ):
            with self.subTest(errors=errors, is_taken=is_taken):
                user = f"loser{number}"
                if is_taken:
                    database.ask(f"INSERT INTO turnstile.accounts VALUES ('{user}', '$plain$won')")
                relay.refuse(user, errors)
                client = self.client(server)
                self.assertEqual(client.ask(f"new:{user}:lost"), answer)
                self.assertEqual(relay.executed, executed)
                relay.refuse("", ())
                may_log_in = client.ask(f"auth:{user}:lost")
                self.assertEqual(may_log_in, "OK" if answer == "OK" else "denied")
                client.close()
