"""A proxy between two servers that delays, cuts, resets, swallows or repeats what passes through.

TCP delivers bytes in order, whole and once, or ends the connection. All faults but "repeat" are
what a network can do below TCP. "repeat" is what a broken peer can do: it sends an answer twice at
once. Only the protocol between our servers is expected to notice that, as it has one answer for
each request in turn. A client that is sent other bytes than the server's has no means to notice,
and neither has a server that is sent other requests than the client's.
"""

import asyncio
import random
import socket
import struct
from contextlib import suppress
from multiprocessing.connection import Connection

import children

from rig.processes import Address

FAULTS = ("delay", "cut", "reset", "half-open", "repeat")
_CHANCES = {"delay": 0.05, "cut": 0.02, "reset": 0.02, "half-open": 0.03, "repeat": 0.2}
_LONG_DELAY_CHANCE = 0.1
_SHORT_DELAY_S = 0.05
_CHUNK = 1 << 16


class FaultProxy:
    """Forwards connections to target from construction to close(), without faults at first."""

    def __init__(self, target: Address, long_delay_s: float) -> None:
        """Some delays are long_delay_s, which should be over the time-out of who waits. After that
        time a connection that is half open is reset.
        """
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = Address(*listener.getsockname()[:2])
        self._control, theirs = children.CONTEXT.Pipe()
        self._process = children.start(_serve, listener, target, theirs, long_delay_s)
        listener.close()

    def set_fault(self, fault: str) -> None:
        """From now on. "" is none."""
        self._control.send(fault)

    def faults(self) -> int:
        """How many there were."""
        self._control.send(None)
        return int(self._control.recv())

    def close(self) -> None:
        children.end(self._process)


def _serve(listener: socket.socket, target: Address, control: Connection, delay_s: float) -> None:
    asyncio.run(_Proxy(target, control, delay_s).serve(listener))


class _Pair:
    """The two connections of one that is forwarded."""

    def __init__(self, *writers: asyncio.StreamWriter) -> None:
        self._writers = writers
        self.is_swallowed = False

    def close(self) -> None:
        for writer in self._writers:
            writer.close()

    def reset(self) -> None:
        for writer in self._writers:
            one = writer.get_extra_info("socket")
            with suppress(OSError):
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


class _Proxy:
    def __init__(self, target: Address, control: Connection, long_delay_s: float) -> None:
        self._target = target
        self._control = control
        self._long_delay_s = long_delay_s
        self._fault = ""
        self._faults = 0
        self._tasks: set[asyncio.Task[None]] = set()  # asyncio itself does not keep them alive

    async def serve(self, listener: socket.socket) -> None:
        asyncio.get_running_loop().add_reader(self._control.fileno(), self._obey)
        server = await asyncio.start_server(self._accepted, sock=listener, limit=_CHUNK)
        async with server:
            await server.serve_forever()

    def _obey(self) -> None:
        command = self._control.recv()
        if command is None:
            self._control.send(self._faults)
            return
        self._fault = command

    def _accepted(self, near: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._forward(near, answers))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forward(self, near: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        try:
            far, requests = await asyncio.open_connection(*self._target, limit=_CHUNK)
        except OSError:
            answers.close()
            return
        pair = _Pair(answers, requests)
        await asyncio.gather(
            self._pump(pair, near, requests, is_answers=False),
            self._pump(pair, far, answers, is_answers=True),
        )
        pair.close()

    async def _pump(
        self,
        pair: _Pair,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        *,
        is_answers: bool,
    ) -> None:
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                data = await self._with_faults(pair, data, is_answers)
                if data and not sink.is_closing():
                    sink.write(data)
                    await sink.drain()
            if not pair.is_swallowed and not sink.is_closing():
                sink.write_eof()

    async def _with_faults(self, pair: _Pair, data: bytes, is_answers: bool) -> bytes:
        """What is to be forwarded instead of `data`."""
        fault = self._fault
        if pair.is_swallowed:
            return b""
        if not fault or random.random() > _CHANCES[fault]:
            return data
        if fault == "repeat" and not is_answers:
            return data
        self._faults += 1
        if fault == "repeat":
            return 2 * data
        if fault == "delay":
            await asyncio.sleep(self._delay_s())
            return data
        return self._broken(fault, pair, data)

    def _delay_s(self) -> float:
        is_long = random.random() < _LONG_DELAY_CHANCE
        return self._long_delay_s if is_long else random.uniform(0, _SHORT_DELAY_S)

    def _broken(self, fault: str, pair: _Pair, data: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        pair.is_swallowed = True  # whatever comes now does not follow what is forwarded
        if fault == "half-open":
            loop.call_later(self._long_delay_s, pair.reset)
            return b""
        loop.call_soon(pair.close if fault == "cut" else pair.reset)
        return data[: random.randrange(len(data) + 1)]
