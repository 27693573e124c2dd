"""One address guesses a password: few guesses reach the authserver, and the victim logs in."""

import itertools
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from promise import Bench, Figure, Promise

from rig import servers
from rig.processes import Address

_USER, _PASSWORD = "victim", "right-password"
_LIMIT, _FORGIVEN_A_MINUTE = 10, 10
_ATTACKERS = 16
_VICTIM_IS_AT = "127.0.0.2"
_VICTIM_WAITS_S = 0.1
_TIMEOUT_S = 60
_ASKED = re.compile(r" auth user=victim answer=denied$", re.MULTILINE)


class _Door:
    """Where log-ins come in. Counts the answers."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._numbers = itertools.count()
        self.is_over = threading.Event()

    def log_in(self, password: str, source: str = "127.0.0.1") -> str:
        """The answer on a connection of its own: OK, or the code of the error."""
        with closing(self._connect(source)) as connection:
            connection.sendall(f"get:{_USER}:{password}\n".encode())
            with connection.makefile("rb") as replies:
                words = replies.readline().decode().split()
        return words[1] if words[:1] == ["ERR"] else " ".join(words)

    def _connect(self, source: str) -> socket.socket:
        """The kernel chooses the port only when it knows the other end, so that more are free."""
        connection = socket.socket()
        connection.settimeout(_TIMEOUT_S)
        connection.setsockopt(socket.IPPROTO_IP, getattr(socket, "IP_BIND_ADDRESS_NO_PORT", 24), 1)
        connection.bind((source, 0))
        connection.connect(self._address)
        return connection

    def guess(self, until: float, least: int) -> int:
        """Guesses until the time is over and all attackers together made `least` guesses."""
        for made in itertools.count():
            number = next(self._numbers)
            if number >= least and time.monotonic() > until:
                return made
            if (answer := self.log_in(f"guess-{number}")) not in ("denied", "busy"):
                raise AssertionError(f"a guess was answered {answer!r}")
        raise AssertionError("never")

    def be_the_victim(self) -> int:
        """Logs in from elsewhere until the attack is over. Returns how often."""
        for times in itertools.count():
            if self.is_over.wait(_VICTIM_WAITS_S):
                return times
            if (answer := self.log_in(_PASSWORD, _VICTIM_IS_AT)) != "OK":
                raise AssertionError(f"the victim's right password was answered {answer!r}")
        raise AssertionError("never")


def _attack(address: Address, least: int, seconds: float) -> tuple[int, int, float]:
    """How many guesses were made, how often the victim logged in, and how long it took."""
    door, start = _Door(address), time.monotonic()
    with ThreadPoolExecutor(_ATTACKERS + 1) as pool:
        victim = pool.submit(door.be_the_victim)
        attackers = [pool.submit(door.guess, start + seconds, least) for _ in range(_ATTACKERS)]
        try:
            made = sum(attacker.result() for attacker in attackers)
        finally:
            door.is_over.set()
        took_s = time.monotonic() - start
        return made, victim.result(), took_s


def _measure(bench: Bench, *flags: str) -> Figure:
    root, accounts = bench.folder / "files", bench.folder / "accounts.db"
    root.mkdir(exist_ok=True)
    accounts.unlink(missing_ok=True)
    with servers.running(
        bench.programs,
        store_flags=["--sqlite-path", str(accounts), "--password-scheme", "plain"],
        root=root,
        logs=bench.folder,
        authserver=servers.Server(flags=["--log-level", "debug"]),
        fileserver=servers.Server(flags=flags),
    ) as pair:
        servers.make_account(pair.address, _USER, _PASSWORD)
        least, seconds = bench.scaled(10_000, 500), bench.scaled(120, 12)
        made, logged_in, took_s = _attack(pair.address, least, seconds)
        asked = len(_ASKED.findall(pair.authserver.log()))
    allowed = _LIMIT + 1 + int(took_s / 60 * _FORGIVEN_A_MINUTE)
    rate = max(0, asked - _LIMIT) / (took_s / 60)
    return Figure(
        _LIMIT <= asked <= allowed and logged_in > 0,
        f"{made} guesses of one address in {took_s:.0f} s: {asked} reached the authserver, "
        f"the first {_LIMIT} and then {rate:.1f} a minute (at most {_FORGIVEN_A_MINUTE}); "
        f"the victim logged in {logged_in} times from elsewhere",
    )


def measure(bench: Bench) -> Figure:
    """With the default limit."""
    return _measure(bench)


def control(bench: Bench) -> Figure:
    """Without the throttle, every guess reaches the authserver."""
    return _measure(bench, "--wrong-passwords", "0")


PROMISE = Promise("guessing is slow", measure, control)
