"""Both neighbours of a server under test: a client, and an authserver that is asked."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from rig.processes import Address

LIMIT_S = 5.0  # for each reply
_MOST_BYTES = 64 << 20  # of a file


class Wrong(Exception):
    """What a server did in place of what it should; the text goes on after "but"."""


class Client:
    """One connection. Wrong when a reply does not come, or does not have the form of the protocol.

    Threads: one.
    """

    def __init__(self, address: Address, *lines: str) -> None:
        try:
            self._socket = socket.create_connection(address, timeout=LIMIT_S)
        except OSError as error:
            raise Wrong(f"it took no connection ({error.strerror or error})") from error
        self._received = bytearray()
        self.send("".join(f"{line}\n" for line in lines))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: str | bytes) -> None:
        try:
            self._socket.sendall(data.encode() if isinstance(data, str) else data)
        except OSError as error:
            raise Wrong("it had closed the connection") from error

    def say_no_more(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def ask(self, line: str) -> str | bytes:
        self.send(f"{line}\n")
        return self.reply()

    def reply(self) -> str | bytes:
        """ "OK", the code of an error, or the bytes of a file."""
        line = self._line()
        if line == "OK":
            return line
        if sized := re.fullmatch(r"OK (0|[1-9][0-9]{0,8})", line):
            return self._exactly(int(sized[1]))
        if error := re.fullmatch(r"ERR ([a-z-]+) \S.*", line):
            return error[1]
        raise Wrong(f"it answered {line[:60]!r}, which is no reply of the protocol")

    def is_silent(self, seconds: float) -> bool:
        """Whether nothing comes within this time."""
        self._socket.settimeout(seconds)
        try:
            return not self._received and not self._socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return True
        except OSError:
            return True
        finally:
            self._socket.settimeout(LIMIT_S)

    def has_ended(self) -> bool:
        """Whether the server closes the connection, and sends nothing before that."""
        try:
            return not self._received and not self._socket.recv(1)
        except TimeoutError:
            return False
        except OSError:
            return True

    def _line(self) -> str:
        while b"\n" not in self._received:
            if len(self._received) > 512:
                raise Wrong("it sent more than 512 bytes without the end of a line")
            self._more()
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received = bytearray(rest)
        return line.decode(errors="replace")

    def _exactly(self, size: int) -> bytes:
        if size > _MOST_BYTES:
            raise Wrong(f"it announced {size} bytes")
        while len(self._received) < size:
            self._more()
        found = bytes(self._received[:size])
        del self._received[:size]
        return found

    def _more(self) -> None:
        try:
            chunk = self._socket.recv(1 << 16)
        except TimeoutError:
            raise Wrong(f"no whole reply came within {LIMIT_S:.0f} s") from None
        except OSError:
            chunk = b""
        if not chunk:
            raise Wrong("it closed the connection before the reply was whole")
        self._received += chunk


class AuthServer:
    """Answers as an authserver does, by `accounts`, and only while `answers` is set.

    Threads: any. What was asked is in `questions`, in the order in which it came.
    """

    def __init__(self) -> None:
        self.accounts: dict[str, str] = {}
        self.questions: list[str] = []
        self.connections = 0
        self.answers = threading.Event()
        self.answers.set()
        self._open: list[socket.socket] = []
        self._listener = self._listening(0)
        self.address = Address("127.0.0.1", self._listener.getsockname()[1])

    def __enter__(self) -> AuthServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.answers.set()
        self.go_away()

    def go_away(self) -> None:
        """As if it had crashed: nobody listens, and all connections end."""
        for one in (self._listener, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()

    def come_back(self) -> None:
        self._listener = self._listening(self.address.port)

    def _listening(self, port: int) -> socket.socket:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.connections += 1
                self._open.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection, connection.makefile("rb") as lines:
            for line in lines:
                question = line.decode(errors="replace").rstrip("\r\n")
                self.questions.append(question)
                self.answers.wait()
                connection.sendall(f"{self._answer(question)}\n".encode())

    def _answer(self, question: str) -> str:
        verb, _, rest = question.partition(":")
        user, _, password = rest.partition(":")
        known = self.accounts
        rows: dict[str, Callable[[], bool]] = {
            "ping": lambda: True,
            "auth": lambda: known.get(user) == password,
            "new": lambda: known.setdefault(user, password) is password,
        }
        if verb not in rows:
            return "ERR syntax no such request"
        errors = {"auth": "ERR denied wrong user or password", "new": "ERR exists it is taken"}
        return "OK" if rows[verb]() else errors[verb]
