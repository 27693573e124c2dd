"""A client that sends raw bytes and checks that every reply has the form of the protocol."""

import re
import socket

from waiting import LONG_S

CODES = {
    "syntax",
    "too-long",
    "invalid",
    "denied",
    "exists",
    "not-found",
    "unavailable",
    "busy",
    "internal",
}
_SIZED = re.compile(rb"OK (0|[1-9][0-9]*)\Z")
_ERROR = re.compile(rb"ERR ([a-z-]+) (\S.*)\Z")

Address = tuple[str, int]
Reply = str | bytes


class ConnectionEndedError(AssertionError):
    """The server closed or reset the connection before a reply was complete."""


class Client:
    """One connection. A reply is "OK", the code of an error, or the bytes of a file.

    A test fails with an AssertionError when a reply does not have the form of the protocol.
    """

    def __init__(
        self, address: Address, receive_buffer: int | None = None, source: str | None = None
    ) -> None:
        """`source` is the local address to connect from."""
        is_unix = address[0].startswith("unix:")
        tcp = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.socket = socket.socket(socket.AF_UNIX if is_unix else tcp)
        self.socket.settimeout(LONG_S)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if not is_unix:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.connect(address[0].removeprefix("unix:") if is_unix else address)
        self._received = bytearray()

    def close(self) -> None:
        self.socket.close()

    def port(self) -> int:
        return self.socket.getsockname()[1]

    def send(self, data: bytes | str) -> None:
        self.socket.sendall(data.encode() if isinstance(data, str) else data)

    def half_close(self) -> None:
        """Shuts down the sending side; replies can still be read."""
        self.socket.shutdown(socket.SHUT_WR)

    def ask(self, line: bytes | str) -> Reply:
        """Sends one line and reads its reply."""
        self.send((line.encode() if isinstance(line, str) else line) + b"\n")
        return self.reply()

    def ask_all(self, lines: list[bytes]) -> list[Reply]:
        """Sends all the lines at once, then reads a reply for each."""
        self.send(b"".join(line + b"\n" for line in lines))
        return self.replies(len(lines))

    def replies(self, count: int) -> list[Reply]:
        return [self.reply() for _ in range(count)]

    def reply(self) -> Reply:
        line = self.reply_line()
        if line == b"OK":
            return "OK"
        if sized := _SIZED.match(line):
            return self.take(int(sized[1]))
        error = _ERROR.match(line)
        assert error and error[1].decode() in CODES, f"not a reply of the protocol: {line!r}"
        return error[1].decode()

    def reply_line(self) -> bytes:
        """Returns the next line without its LF."""
        while (lf := self._received.find(b"\n")) < 0:
            assert len(self._received) < 1024, f"not a reply: {bytes(self._received)!r}"
            self._receive_more()
        return self.take(lf + 1)[:-1]

    def begin_file(self) -> int:
        """Reads the first line of a reply with a file, and returns the size for take()."""
        line = self.reply_line()
        sized = _SIZED.match(line)
        assert sized, f"not the beginning of a file: {line!r}"
        return int(sized[1])

    def take(self, size: int) -> bytes:
        """Returns the next `size` bytes."""
        while len(self._received) < size:
            self._receive_more()
        taken = bytes(self._received[:size])
        del self._received[:size]
        return taken

    def rest(self) -> bytes:
        """Returns all bytes until the server closes or resets the connection."""
        try:
            while True:
                self._receive_more()
        except ConnectionEndedError:
            return bytes(self._received)

    def is_ended(self) -> bool:
        """Waits until the server ends the connection. False if it sent bytes before that."""
        return self.rest() == b""

    def _receive_more(self) -> None:
        try:
            received = self.socket.recv(1 << 20)
        except ConnectionResetError as reset:
            raise ConnectionEndedError("reset") from reset
        if not received:
            raise ConnectionEndedError(f"closed after {bytes(self._received[-80:])!r}")
        self._received += received


def grant(client: Client, user: str = "alice", password: str = "wonderland") -> None:
    """Logs in, so that the connection may ask for files."""
    reply = client.ask(f"get:{user}:{password}")
    assert reply == "OK", reply


def refuses_connections(address: Address) -> bool:
    try:
        Client(address).close()
        return False
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        return False  # the connection came just as the server stopped listening
