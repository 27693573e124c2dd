"""Many connections of one process: clients that ask one thing, and clients that are slow."""

import collections
import heapq
import os
import selectors
import socket
import threading
import time

from rig.processes import Address

_SOURCES = 20  # addresses of loopback, so that the ports of none run out


def connecting(address: Address, number: int) -> socket.socket:
    """A socket that connects from one of several source addresses, without waiting for it."""
    one = socket.socket()
    one.setblocking(False)
    one.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
    one.bind((f"127.0.0.{2 + number % _SOURCES}", 0))
    one.connect_ex(address)
    return one


def open_connections(server: Address) -> int:
    """How many connections the server has not closed. A client may not know yet that one is."""
    local, no_socket = f"0100007F:{server.port:04X}", "0"
    listening = "0A"
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split() for line in table]
    return sum(row[1] == local and row[3] != listening and row[9] != no_socket for row in rows[1:])


def first_word(reply: bytes) -> str:
    """OK, the code of an error, or what came instead of a reply."""
    words = reply.decode(errors="replace").split()
    if reply.endswith(b"\n") and words:
        return words[1] if words[0] == "ERR" and len(words) > 1 else words[0]
    return f"cut after {reply!r}" if reply else "closed without a reply"


class Crowd:
    """Connections that are opened at once. Each sends one line and reads one reply.

    They stay open until leave(); those that are answered later then leave at once. Threads: one.
    """

    def __init__(self, address: Address, count: int, line: bytes = b"ping\n") -> None:
        self.replies: collections.Counter[str] = collections.Counter()
        self._line = line
        self._is_leaving = False
        self._waiting = selectors.DefaultSelector()
        self._received: dict[socket.socket, bytes] = {}
        self._answered: list[socket.socket] = []
        for number in range(count):
            one = connecting(address, number)
            self._received[one] = b""
            self._waiting.register(one, selectors.EVENT_WRITE)

    def is_answered(self) -> bool:
        return not self._received

    def run(self, seconds: float) -> bool:
        """Lets them talk until all are answered. False if the time was not enough."""
        deadline = time.monotonic() + seconds
        while self._received and (left := deadline - time.monotonic()) > 0:
            for key, _ in self._waiting.select(left):
                self._serve(key.fileobj)  # type: ignore[arg-type]
        return self.is_answered()

    def leave(self) -> None:
        self._is_leaving = True
        for one in self._answered:
            one.close()
        self._answered.clear()

    def close(self) -> None:
        self.leave()
        for one in self._received:
            one.close()
        self._waiting.close()

    def _serve(self, one: socket.socket) -> None:
        try:
            if self._waiting.get_key(one).events == selectors.EVENT_WRITE:
                one.send(self._line)
                self._waiting.modify(one, selectors.EVENT_READ)
                return
            more = one.recv(4096)
        except OSError as error:
            self._end(one, self._received[one] + f"[{error.strerror}]".encode())
            return
        self._received[one] += more
        if not more or self._received[one].endswith(b"\n"):
            self._end(one, self._received[one])

    def _end(self, one: socket.socket, reply: bytes) -> None:
        self.replies[first_word(reply)] += 1
        self._waiting.unregister(one)
        del self._received[one]
        if self._is_leaving:
            one.close()
        else:
            self._answered.append(one)


class Slow:
    """A connection that makes one small step now and then."""

    every_s: float

    def __init__(self, address: Address, number: int) -> None:
        self.socket = connecting(address, number)

    def step(self) -> bytes:
        """Returns b"" when the server has ended the connection. Raises BlockingIOError, and other
        OSErrors when the connection is broken.
        """
        raise NotImplementedError


class SlowSender(Slow):
    """Sends a byte every two seconds, and never the end of a line."""

    every_s = 2.0

    def step(self) -> bytes:
        self.socket.send(b"x")
        return self.socket.recv(64)


class SlowReader(Slow):
    """Logs in, asks for a file, and reads 32 bytes of it per second."""

    every_s = 1.0
    request = b""  # set by the caller: a log-in and the name of a file

    def __init__(self, address: Address, number: int) -> None:
        super().__init__(address, number)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._has_asked = False

    def step(self) -> bytes:
        if self._has_asked:
            return self.socket.recv(32)
        self._has_asked = self.socket.send(self.request) > 0
        return self.request


class SlowClients(threading.Thread):
    """Runs slow connections in a thread of the lowest priority, which needs little time.

    A connection that the server ends is not replaced.
    """

    _TICK_S = 0.01
    _OPENED_PER_TICK = 50

    def __init__(self, address: Address, senders: int, readers: int) -> None:
        super().__init__()
        self._address = address
        self._kinds: list[type[Slow]] = [SlowSender] * senders + [SlowReader] * readers
        self._must_stop = threading.Event()
        self._due: list[tuple[float, int, Slow]] = []  # a heap: when, an order, who
        self._failure: BaseException | None = None
        self.all_are_open = threading.Event()

    def stop(self) -> None:
        """Closes all of them. Raises what went wrong in the thread."""
        self._must_stop.set()
        self.join()
        for _, _, slow in self._due:
            slow.socket.close()
        if self._failure:
            raise self._failure

    def run(self) -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        try:
            while not self._must_stop.wait(self._TICK_S):
                self._open_some()
                self._step_all()
        except BaseException as failure:
            self._failure = failure
            self.all_are_open.set()

    def _open_some(self) -> None:
        for kind in self._kinds[: self._OPENED_PER_TICK]:
            number = len(self._kinds)
            heapq.heappush(self._due, (time.monotonic(), number, kind(self._address, number)))
            self._kinds.pop(0)
        if not self._kinds:
            self.all_are_open.set()

    def _step_all(self) -> None:
        now = time.monotonic()
        while self._due and self._due[0][0] <= now:
            due, number, slow = heapq.heappop(self._due)
            try:
                is_open = slow.step() != b""
            except BlockingIOError:
                is_open = True
            except OSError:
                is_open = False
            if is_open:
                heapq.heappush(self._due, (due + slow.every_s, number, slow))
            else:
                slow.socket.close()
