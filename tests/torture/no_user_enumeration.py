"""Nobody can tell from the time of an answer whether a user exists."""

import csv
import math
import random
import socket
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig import servers, stores
from rig.processes import Address, Program, run_tool

_USERS = 20
_REPLY_TIMEOUT_S = 60
# A record that another program made with less memory and one pass, such as an import brings.
_CHEAP = "$argon2id$v=19$m=8192,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$" + "MDEyMzQ1" * 5 + "MDE"


class _Guesser:
    """Sends guesses on one connection."""

    def __init__(self, address: Address) -> None:
        self._socket = socket.create_connection(address, timeout=_REPLY_TIMEOUT_S)
        self._replies = self._socket.makefile("rb")

    def guess(self, user: str, number: int) -> float:
        """The seconds until the answer."""
        begun = time.perf_counter()
        reply = self.ask(f"auth:{user}:wrong-{number}")
        taken = time.perf_counter() - begun
        if reply != b"ERR denied wrong user or password\n":
            raise AssertionError(f"a guess for {user} was answered with {reply!r}")
        return taken

    def ask(self, line: str) -> bytes:
        self._socket.sendall(line.encode() + b"\n")
        return self._replies.readline()

    def close(self) -> None:
        self._replies.close()
        self._socket.close()


def area_under_curve(lower: Sequence[float], higher: Sequence[float]) -> float:
    """How probable it is that one of `higher` is larger than one of `lower`. 0.5: nothing shows."""
    ordered = sorted(lower)
    wins = sum((bisect_left(ordered, x) + bisect_right(ordered, x)) / 2 for x in higher)
    return wins / (len(lower) * len(higher))


def _band(guesses: int) -> float:
    """How far from 0.5 the area may be: 0.05, or what chance does once in a million times."""
    deviation = math.sqrt((2 * guesses + 1) / (12 * guesses * guesses))
    return max(0.05, 5 * deviation)


def _area(address: Address, users: Sequence[str], guesses: int) -> float:
    """Guesses for these users and for unknown ones, in pairs of a random order."""
    shuffle = random.Random(1)
    known: list[float] = []
    unknown: list[float] = []
    guesser = _Guesser(address)
    try:
        for number in range(guesses):
            pair = [(known, users[number % len(users)]), (unknown, f"nobody-{number % _USERS:04}")]
            shuffle.shuffle(pair)
            for times, user in pair:
                times.append(guesser.guess(user, number))
    finally:
        guesser.close()
    return area_under_curve(unknown, known)


def _areas(bench: Bench, kind: str, model: str, guesses: int) -> dict[str, float]:
    """Of accounts that were made here, and of imported ones that are cheaper to check."""
    folder = bench.folder / f"{kind}-{model}"
    ours = [f"ours-{number:06}" for number in range(_USERS)]
    imported = [f"cheap-{number:05}" for number in range(_USERS)]
    with ExitStack() as stack:
        store = stores.start(kind, folder)
        stack.callback(store.stop)
        _import(bench, store, imported, folder / "imported.csv")
        flags = [*servers.authserver_flags(store.authserver_flags), "--model", model]
        command = [str(bench.programs.path("authserver")), *flags]
        program = Program("authserver", command, folder / "authserver.log")
        stack.callback(program.stop)
        address = program.wait_ready(60)
        for user in ours:
            servers.make_account(address, user, "right")
        return {
            f"{kind} {model}": _area(address, ours, guesses),
            f"{kind} {model}, imported": _area(address, imported, guesses),
        }


def _import(bench: Bench, store: stores.Store, users: Sequence[str], path: Path) -> None:
    with open(path, "w", encoding="ascii", newline="") as file:
        csv.writer(file).writerows((user, _CHEAP) for user in users)
    authserver = str(bench.programs.path("authserver"))
    run_tool([authserver, *store.authserver_flags, "--import", str(path)], "importing accounts")


def measure(bench: Bench) -> Figure:
    """On every store, and in both models."""
    return _measure(bench, [(kind, "thread") for kind in stores.KINDS] + [("sqlite", "process")])


def _measure(bench: Bench, cases: Sequence[tuple[str, str]]) -> Figure:
    guesses = bench.scaled(2000, 60)
    areas: dict[str, float] = {}
    for kind, model in cases:
        areas |= _areas(bench, kind, model, guesses)
    band = _band(guesses)
    text = ", ".join(f"{name} {area:.3f}" for name, area in areas.items())
    return Figure(
        all(abs(area - 0.5) <= band for area in areas.values()),
        f"2 x {guesses} guesses; area under the curve (0.5 +- {band:.2f}): {text}",
    )


_AT_ONCE = Mutation(
    "unknown-users-are-denied-at-once",
    "authserver/authenticator.cpp",
    "const auto verdict = check(account, nobodys_record_, before_hash);",
    'const base::Status verdict = Error{ErrorCode::kDenied, "unknown user"};',
)


def control(bench: Bench) -> Figure:
    """Without a hash for an unknown user, the time tells who exists."""
    return _measure(broken(bench, _AT_ONCE, "authserver"), [("sqlite", "thread")])


PROMISE = Promise("no user enumeration", measure, control)
