"""A hostile MySQL server asks for a file of the authserver's host, or for its password."""

import contextlib
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

import e2e_path  # noqa: F401
import programs
from mysql_packets import GREETING, OK, Packets
from peers import Listening

PASSWORD = "Xyzzy-Plugh"
SECRET = b"what only the authserver's host may know"
SEND_THE_PASSWORD = b"\xfemysql_clear_password\0"
NO_SUCH_TABLE = b"\xff" + (1146).to_bytes(2, "little") + b"#42S02there is no such table"
COM_QUERY, COM_STMT_PREPARE = 0x03, 0x16
LOCAL_FILE = b"\xfb"


class GreedyMysql(Listening):
    """Lets everybody in and has no table; asked to make one, it asks for `wanted`."""

    def __init__(self, wanted: Path) -> None:
        self.asked = 0
        self.received = b""
        self._wanted = bytes(wanted)
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(EOFError), connection.makefile("rwb") as stream:
            packets = Packets(stream)
            packets.send(GREETING)
            packets.receive()  # who logs in
            packets.send(OK)
            while True:
                self._answer(packets)

    def _answer(self, packets: Packets) -> None:
        command = packets.receive()[:1]
        if command == bytes([COM_STMT_PREPARE]):
            packets.send(NO_SUCH_TABLE)
        elif command == bytes([COM_QUERY]):
            self.asked += 1
            packets.send(LOCAL_FILE + self._wanted)
            while piece := packets.receive():
                self.received += piece
            packets.send(OK)


class PasswordCatcher(Listening):
    """Asks everybody who logs in for the password in clear text."""

    def __init__(self) -> None:
        self.asked = 0
        self.received = b""
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(EOFError), connection.makefile("rwb") as stream:
            packets = Packets(stream)
            packets.send(GREETING)
            self.received += packets.receive()
            self.asked += 1  # before the client can end and the test look at it
            packets.send(SEND_THE_PASSWORD)
            self.received += packets.receive()


def start_on(
    server: Listening, *flags: object, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """An authserver that does not start, because this is its store."""
    host, port = server.address
    store = ("--store", "mysql", "--mysql-host", host, "--mysql-port", port)
    return programs.run("authserver", "--listen", "127.0.0.1:0", *store, *flags, env=env)


class HostileMysqlTest(unittest.TestCase):
    def test_no_file_of_the_host_is_handed_out(self) -> None:
        with tempfile.NamedTemporaryFile() as secret:
            secret.write(SECRET)
            secret.flush()
            with contextlib.closing(GreedyMysql(Path(secret.name))) as server:
                # The sandbox alone would keep the file from the server.
                done = start_on(server, "--sandbox", "off")
        self.assertGreater(server.asked, 0, done.stderr)
        self.assertNotIn(SECRET, server.received)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)

    def test_the_password_is_sent_in_clear_text_to_nobody(self) -> None:
        with tempfile.NamedTemporaryFile() as key:  # it is not read before the server asks for it
            for flags in ((), ("--mysql-server-public-key", key.name)):
                with self.subTest(flags), contextlib.closing(PasswordCatcher()) as server:
                    done = start_on(server, *flags, env={"AUTHSERVER_MYSQL_PASSWORD": PASSWORD})
                    self.assertGreater(server.asked, 0, done.stderr)
                    self.assertNotIn(PASSWORD.encode(), server.received)
                    self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
