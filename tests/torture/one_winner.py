"""Many clients ask for the same new account at the same moment: one gets it."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig import servers, stores
from rig.processes import Address, Program

_CLIENTS = 64
_REPLY_TIMEOUT_S = 60
_MODELS = ("thread", "process")
# A store that is slow, because the machine is, is waited for.
_FLAGS = ("--password-scheme", "plain", "--store-timeout", "60")


class _Racer:
    """A client of an authserver that asks for one name after the other on one connection."""

    def __init__(self, address: Address, number: int) -> None:
        self._socket = socket.create_connection(address, timeout=_REPLY_TIMEOUT_S)
        self._replies = self._socket.makefile("rb")
        self._number = number

    def race(self, name: str) -> bool:
        """Returns whether it won."""
        self._socket.sendall(f"new:{name}:password-{self._number}\n".encode())
        reply = self._replies.readline()
        if reply != b"OK\n" and not reply.startswith(b"ERR exists "):
            raise AssertionError(f"new:{name} was answered with {reply!r}")
        return reply == b"OK\n"

    def close(self) -> None:
        self._replies.close()
        self._socket.close()


def _winners(bench: Bench, store: stores.Store, model: str, folder: Path, names: int) -> list[int]:
    """How many won each name, on two authservers that share a store."""
    with ExitStack() as stack:
        addresses = [
            _authserver(bench, stack, store, model, folder / f"{model}-{number}.log")
            for number in range(2)
        ]
        pool = stack.enter_context(ThreadPoolExecutor(_CLIENTS))
        racers = [_Racer(addresses[number % 2], number) for number in range(_CLIENTS)]
        for racer in racers:
            stack.callback(racer.close)
        return [
            sum(pool.map(lambda racer, name=f"{model}.{number}": racer.race(name), racers))
            for number in range(names)
        ]


def _authserver(
    bench: Bench, stack: ExitStack, store: stores.Store, model: str, log: Path
) -> Address:
    flags = [*servers.authserver_flags(store.authserver_flags), "--model", model, *_FLAGS]
    program = Program("authserver", [str(bench.programs.path("authserver")), *flags], log)
    stack.callback(program.stop)
    return program.wait_ready(60)


def measure(bench: Bench) -> Figure:
    """On every store, in both models."""
    return _measure(bench, tuple(stores.KINDS))


def _measure(bench: Bench, kinds: tuple[str, ...]) -> Figure:
    names = bench.scaled(5000, 100)
    figures = []
    for kind in kinds:
        folder = bench.folder / kind
        store = stores.start(kind, folder)
        try:
            for model in _MODELS:
                figures.append((kind, model, _winners(bench, store, model, folder, names)))
        finally:
            store.stop()
    text = ", ".join(f"{kind} {model} {sum(won)}" for kind, model, won in figures)
    return Figure(
        all(set(won) == {1} for _, _, won in figures),
        f"{_CLIENTS} clients race for each of {names} names; OK: {text}",
    )


_TWO_WINNERS = Mutation(
    "sqlite-overwrites-accounts",
    "authserver/stores/sqlite_store.cpp",
    "INSERT INTO accounts (name",
    "INSERT OR REPLACE INTO accounts (name",
)


def control(bench: Bench) -> Figure:
    """A store that lets the last one win has more winners."""
    return _measure(broken(bench, _TWO_WINNERS, "authserver"), ("sqlite",))


PROMISE = Promise("one winner for a name", measure, control)
