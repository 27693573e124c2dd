"""A server that answers as Redis or a sentinel would, or as they never would."""

import contextlib
import socket
from typing import BinaryIO

import e2e_path  # noqa: F401
from databases import Redis
from peers import Listening

ASK = "SENTINEL GET-MASTER-ADDR-BY-NAME"


class FakeRedis(Listening):
    """Answers each command as `replies` says, and others with nil. Its keys are never there.

    A reply may be for a command, such as "GET", or for its first two words.
    """

    def __init__(self, **replies: bytes) -> None:
        self.replies = {"PING": b"+PONG\r\n", **replies}
        self.selected = 0  # how often a database was selected
        super().__init__()

    def serve(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as stream, contextlib.suppress(OSError):
            while words := words_in(stream):
                connection.sendall(self.reply_to(words))

    def reply_to(self, words: list[str]) -> bytes:
        self.selected += words[0] == "SELECT"
        usual = self.replies.get(words[0], b"$-1\r\n")
        return self.replies.get(" ".join(words[:2]), usual)

    def flags(self) -> list[object]:
        return ["--store", "redis", "--redis-port", self.address[1]]


def address(host: str, port: object) -> bytes:
    words = (host.encode(), str(port).encode())
    return b"*2\r\n" + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


class FakeSentinel(FakeRedis):
    """Names a server, or gives the answer in `replies[ASK]`. `commands` has all that it heard."""

    def __init__(self, server: Redis | None = None, **replies: bytes) -> None:
        self.commands: list[list[str]] = []
        super().__init__(**replies)
        if server is not None:
            self.name(server)

    def name(self, server: Redis) -> None:
        self.replies[ASK] = address("127.0.0.1", server.port)

    def reply_to(self, words: list[str]) -> bytes:
        self.commands.append(words)
        return super().reply_to(words)


class SilentSentinel(Listening):
    """Accepts connections, and says nothing."""

    def serve(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as stream, contextlib.suppress(OSError):
            while words_in(stream):
                pass


def words_in(stream: BinaryIO) -> list[str]:
    """The words of the next command; none at the end."""
    words = []
    for _ in range(int(stream.readline()[1:] or 0)):
        stream.readline()  # the length; no word here holds a line ending
        words.append(stream.readline().strip().decode())
    return words


def command_in(stream: BinaryIO) -> str:
    """The first word of the next command; empty at the end."""
    return next(iter(words_in(stream)), "")
