"""A replacement for an FTP server with one file that is fetched in parts."""

import contextlib
import socket
import threading
from collections.abc import Callable

from peers import HangUp, Listening

_READY = {
    "": b"220 ready\r\n",
    "USER": b"331 and now the password\r\n",
    "PASS": b"230 logged in\r\n",
    "TYPE": b"200 binary\r\n",
}

# What a test does before a command is answered: it may wait, raise HangUp, or return the reply
# that is sent instead. It is given the verb and the connection.
Before = Callable[[str, socket.socket], bytes | None]


def at_once(verb: str, connection: socket.socket) -> bytes | None:
    return None


class FtpRangePeer(Listening):
    """`content` is the file and `date` what MDTM says; a test may change both at any time.

    `verbs` are those of all commands, `offsets` those of all parts, and `asked` the last part of
    each connection. Before the reply behind a part, `before` is called with "DONE".
    """

    def __init__(self, content: bytes, before: Before = at_once) -> None:
        self.content = content
        self.date = "20260101000000"
        self.verbs: list[str] = []
        self.offsets: list[int] = []
        self.asked: dict[socket.socket, int] = {}
        self._before = before
        self._lock = threading.Lock()
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(HangUp), contextlib.ExitStack() as opened:
            self._say(connection, "", _READY[""])
            offset, listener = 0, None
            for line in opened.enter_context(connection.makefile("rb")):
                verb, _, argument = line.decode().strip().partition(" ")
                with self._lock:
                    self.verbs.append(verb)
                if verb == "EPSV":
                    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
                    port = listener.getsockname()[1]
                    self._say(connection, verb, b"229 here (|||%d|)\r\n" % port)
                elif verb == "REST":
                    offset = int(argument)
                    self._say(connection, verb, b"350 there\r\n")
                elif verb == "RETR":
                    assert listener is not None
                    self._send_part(connection, listener, offset)
                else:
                    self._say(connection, verb, self._reply(verb))

    def _send_part(self, connection: socket.socket, listener: socket.socket, offset: int) -> None:
        self.asked[connection] = offset
        self.offsets.append(offset)
        self._say(connection, "RETR", b"150 here it comes\r\n")
        with contextlib.suppress(OSError), listener.accept()[0] as data:
            data.sendall(self.content[offset:])
        listener.close()
        self._say(connection, "DONE", b"226 that was it\r\n")

    def _reply(self, verb: str) -> bytes:
        if verb == "SIZE":
            return b"213 %d\r\n" % len(self.content)
        if verb == "MDTM":
            return f"213 {self.date}\r\n".encode()
        return _READY.get(verb, b"500 not understood\r\n")

    def _say(self, connection: socket.socket, verb: str, reply: bytes) -> None:
        connection.sendall(self._before(verb, connection) or reply)
