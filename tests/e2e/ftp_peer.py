"""A replacement for an FTP server, which answers as a test wants."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from client import Address
from peers import HangUp, Listening

FILE = b"the file"
REPLIES = {
    "": b"220 ready\r\n",  # the greeting
    "USER": b"331 and now the password\r\n",
    "PASS": b"230 logged in\r\n",
    "TYPE": b"200 binary\r\n",
    "RETR": b"150 here it comes\r\n",
    "STOR": b"150 let it come\r\n",
    "DONE": b"226 that was it\r\n",  # after the file
    "QUIT": b"221 bye\r\n",
}


@dataclass
class _Data:
    """The data connection that a session has announced."""

    listener: socket.socket | None = None

    def announce(self) -> int:
        self.close()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        return self.listener.getsockname()[1]

    def send(self, content: bytes) -> None:
        if self.listener is None:
            return
        with contextlib.suppress(OSError), self.listener.accept()[0] as connection:
            connection.sendall(content)
        self.close()

    def reset(self, content: bytes) -> None:
        """Sends the content, and then ends the connection as a program that crashes does."""
        assert self.listener is not None
        with self.listener.accept()[0] as connection:
            connection.sendall(content)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def receive(self, at_most: int | None) -> bytes:
        if self.listener is None:
            return b""
        received = bytearray()
        with contextlib.suppress(OSError), self.listener.accept()[0] as connection:
            while (at_most is None or len(received) < at_most) and (
                some := connection.recv(1 << 16)
            ):
                received += some
        self.close()
        return bytes(received)

    def close(self) -> None:
        if self.listener is not None:
            self.listener.close()
        self.listener = None


@dataclass(kw_only=True)
class Script:
    """What the peer says and sends.

    `replies` replaces those of REPLIES, by command; None closes the connection instead. SIZE, EPSV
    and PASV have a right reply unless one is given. RETR sends the file and DONE only if its reply
    begins with 1 and `data` is not None; with None the data connection is never taken. STOR takes a
    file and says DONE, but hangs up after `takes` bytes. A reply comes after its pause.
    """

    replies: Mapping[str, bytes | None] = field(default_factory=dict)
    data: bytes | None = FILE
    size: int | None = None  # that SIZE announces; None: that of the data
    resets: bool = False  # the data connection is reset behind the data
    takes: int | None = None
    pauses_s: Mapping[str, float] = field(default_factory=dict)


class FtpPeer(Listening):
    """`commands` is what was received on all control connections, without line endings, and `files`
    is what STOR has brought, by name.
    """

    def __init__(self, script: Script | None = None, at: Address = ("127.0.0.1", 0)) -> None:
        self.commands: list[str] = []
        self.files: dict[str, bytes] = {}
        self._script = script or Script()
        self._lock = threading.Lock()
        super().__init__(at)

    def verbs(self) -> list[str]:
        return [command.partition(" ")[0] for command in self.commands]

    def serve(self, connection: socket.socket) -> None:
        data = _Data()
        with contextlib.suppress(HangUp), connection.makefile("rb") as lines:
            self._say(connection, "")
            for line in lines:
                command = line.decode().removesuffix("\r\n")
                with self._lock:
                    self.commands.append(command)
                self._answer(connection, command, data)
        data.close()

    def _answer(self, connection: socket.socket, command: str, data: _Data) -> None:
        verb, _, name = command.partition(" ")
        said = self._say(connection, verb, data)
        if verb == "RETR" and said.startswith(b"1") and self._script.data is not None:
            if self._script.resets:
                data.reset(self._script.data)
            else:
                data.send(self._script.data)
            self._say(connection, "DONE")
        if verb == "STOR" and said.startswith(b"1"):
            self.files[name] = data.receive(self._script.takes)
            self._say(connection, "DONE")
        if verb == "QUIT":
            raise HangUp

    def _say(self, connection: socket.socket, verb: str, data: _Data | None = None) -> bytes:
        if verb in self._script.replies:
            reply = self._script.replies[verb]
        else:
            reply = REPLIES.get(verb) or self._found_out(verb, data)
        if reply is None:
            raise HangUp
        time.sleep(self._script.pauses_s.get(verb, 0))
        connection.sendall(reply)
        return reply

    def _found_out(self, verb: str, data: _Data | None) -> bytes:
        """PASV names an address that is not the peer's, as servers behind a router do."""
        if verb == "SIZE":
            size = self._script.size
            return b"213 %d\r\n" % (len(self._script.data or b"") if size is None else size)
        if verb in ("EPSV", "PASV") and data is not None:
            port = data.announce()
            if verb == "EPSV":
                return b"229 Extended passive (|||%d|)\r\n" % port
            return b"227 Passive (192,0,2,1,%d,%d).\r\n" % divmod(port, 256)
        return b"500 not understood\r\n"
