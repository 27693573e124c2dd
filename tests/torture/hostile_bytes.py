"""Whatever bytes arrive, nothing crashes, no account changes and the memory stays as it was."""

import random
import re
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import attacked
from attacked import Restartable
from processes import children, resident_bytes
from promise import Bench, Figure, Promise, broken
from tree import Mutation

from rig.processes import Address, run_tool

_USER, _PASSWORD = b"alice", b"wonderland"
_LONGEST_LINE = 512
_LONG_LINE = 1 << 30
_PIECE = 1 << 20
_MOST_GROWTH = 48 << 20  # of a server and its children
_REPLY_TIMEOUT_S = 60.0
_SEED = 2026
_ERROR = re.compile(rb"ERR ([a-z-]+) \S.*\Z")

# What is said to have worked against somebody, as user, password and file name.
_PAYLOADS = (
    b"' OR '1'='1",
    b"' OR 1=1 -- ",
    b'" OR ""="',
    b"alice'--",
    b"alice'/*",
    b"'; DROP TABLE accounts; --",
    b"'; UPDATE accounts SET record='plain:x'; --",
    b"'; DELETE FROM accounts WHERE '1'='1",
    b"x' UNION SELECT 'plain:x' -- ",
    b"'||(SELECT record FROM accounts LIMIT 1)||'",
    b"\\' OR 1=1 -- ",
    b"\xbf' OR 1=1 -- ",
    b"%",
    b"alic_",
    b"alice\0",
    b"\0",
    b"alice\0' OR 1=1",
    b"\x1a",
    b"x\r\nFLUSHALL\r\nx",
    b"*1\r\n$8\r\nFLUSHALL\r\n",
    b"$5\r\nalice",
    b"-1\r\n+OK\r\n",
    b"x NX\r\nSET user:alice plain:x",
    b"user:*",
    b"EVAL \"redis.call('flushall')\" 0",
    b"CONFIG SET dir /tmp",
    b"%s%s%s%n%n%p",
    b"{}{0}{1:1000000}",
    b"${jndi:ldap://127.0.0.1/x}",
    b"$(id)`id`;id|id&id",
    b"../../../../etc/passwd",
    b"..%2f..%2fetc%2fpasswd",
    b"/etc/passwd",
    b"....//....//etc/passwd",
    b"\xc0\xae\xc0\xae/etc/passwd",
    b"\xff\xfe\xfd",
    b"\xed\xa0\x80",
    "‮алиса🙂".encode(),
    b"A" * 128,
    b"A" * 129,
    b"A" * 500,
    b"A" * 511,
    b"A" * 512,
    b"A" * 5000,
    b":" * 100,
    b" alice: x",
    b"",
)


def _blobs(count: int, verb: bytes) -> Iterator[bytes]:
    """The payloads in each place, and then others. verb is what checks a password.

    No `new` among them is of a name that is acceptable and free. No log-in is of a user that is
    acceptable and unknown, because it would take a hash.
    """
    for payload in _PAYLOADS:
        yield verb + b":" + _USER + b":" + payload + b"\n"
        yield verb + b":\xff" + payload + b":" + _PASSWORD + b"\n"
        yield b"new:" + _USER + b":" + payload + b"\n"
        yield b"new:\xff" + payload + b":" + payload + b"\n"
        yield payload + b"\n"
    choose = random.Random(_SEED)
    for _ in range(count - 5 * len(_PAYLOADS)):
        if choose.random() < 0.5:
            yield choose.randbytes(choose.randrange(1, 700)) + b"\n"
        else:
            yield _changed(choose, verb)


def _changed(choose: random.Random, verb: bytes) -> bytes:
    """A log-in with some bytes of its password part replaced, left out or repeated."""
    start = verb + b":" + _USER + b":"
    rest = bytearray(choose.choice(_PAYLOADS) + choose.randbytes(8) + b"\n")
    for _ in range(choose.randrange(1, 6)):
        at = choose.randrange(len(rest))
        rest[at : at + choose.randrange(3)] = choose.randbytes(choose.randrange(3)) or b":"
    return start + bytes(rest) + b"\n"


def _allowed(blob: bytes, verbs: tuple[bytes, ...], otherwise: str) -> list[set[str]]:
    """For each reply that must come, the codes that it may have."""
    *lines, rest = blob.split(b"\n")
    allowed: list[set[str]] = []
    for line in lines:
        if len(line) >= _LONGEST_LINE:
            return [*allowed, {"too-long"}]
        text = line[:-1] if line.endswith(b"\r") else line
        if not text or any(byte < 0x20 or byte == 0x7F for byte in text):
            allowed.append({"syntax"})
        elif text.startswith(verbs):
            allowed.append({"syntax", "invalid", "denied", "exists"})
        else:
            allowed.append({otherwise})
    return [*allowed, {"too-long"}] if len(rest) >= _LONGEST_LINE else allowed


def _answers(address: Address, blob: bytes) -> list[bytes]:
    """Lines until the end of the connection."""
    with socket.create_connection(address, timeout=_REPLY_TIMEOUT_S) as connection:
        received = b""
        try:
            connection.sendall(blob)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(_PIECE):
                received += piece
        except ConnectionError:
            pass  # after `too-long` the rest is not read
    return received.split(b"\n")[:-1]


def _check(blob: bytes, answers: Sequence[bytes], allowed: Sequence[set[str]]) -> None:
    """AssertionError for an answer that is not due. The answers before `too-long` may be lost."""
    codes = [match[1].decode() if (match := _ERROR.match(one)) else f"{one!r}" for one in answers]
    may_be_short = bool(allowed) and allowed[-1] == {"too-long"}
    is_right = len(codes) == len(allowed) or (may_be_short and len(codes) < len(allowed))
    is_right = is_right and all(code in due for code, due in zip(codes, allowed))
    assert is_right, f"{blob[:80]!r} was answered with {codes[:5]} and not {allowed[:5]}"


def _attack_authserver(address: Address, blobs: int) -> None:
    for blob in _blobs(blobs, b"auth"):
        _check(blob, _answers(address, blob), _allowed(blob, (b"auth:", b"new:"), "syntax"))


def _attack_fileserver(address: Address, blobs: int) -> None:
    """Half of the blobs come after a granted `get`, so that file names are looked up."""
    log_in = b"get:" + _USER + b":" + _PASSWORD + b"\n"
    for number, blob in enumerate(_blobs(blobs, b"get")):
        if number % 2 or b"get:" in blob:
            allowed = _allowed(blob, (b"get:", b"new:"), "denied")
            _check(blob, _answers(address, blob), allowed)
            continue
        answers = _answers(address, log_in + blob)
        assert answers[:1] in ([b"OK"], []), f"the log-in was answered with {answers[0]!r}"
        _check(blob, answers[1:], _allowed(blob, (b"get:", b"new:"), "not-found"))


def _send_long_line(address: Address) -> None:
    """Until the server ends the connection, which it does soon."""
    with socket.create_connection(address, timeout=_REPLY_TIMEOUT_S) as connection:
        try:
            for _ in range(_LONG_LINE // _PIECE):
                connection.sendall(b"x" * _PIECE)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(_PIECE)
        except ConnectionError:
            return
        assert answer.startswith(b"ERR too-long "), f"a long line was answered with {answer!r}"


def _memory(server: Restartable) -> int:
    pids = [server.pid, *children(server.pid)]
    return sum(resident_bytes(pid) for pid in pids)


def _attack_store(bench: Bench, kind: str, models: Sequence[str], blobs: int) -> list[int]:
    """Returns by how many bytes each server has grown. AssertionError if anything is not right."""
    folder = Path(tempfile.mkdtemp(prefix=kind, dir=bench.folder))
    (folder / "files").mkdir()
    grown = []
    with ExitStack() as stack:
        store, flags = attacked.start_store(kind, folder / "store")
        if store:
            stack.callback(store.close)
        for model in models:
            grown += _attack_model(bench, folder, flags, model, blobs)
    return grown


def _attack_model(
    bench: Bench, folder: Path, store_flags: Sequence[str], model: str, blobs: int
) -> list[int]:
    with ExitStack() as stack:

        def started(name: str, *flags: str) -> Restartable:
            log = folder / f"{name}-{model}.log"
            server = Restartable(bench.programs, name, flags, log, attacked.UNTHROTTLED)
            stack.callback(server.close)
            return server

        scheme = ("--password-scheme", "plain")
        authserver = started("authserver", *store_flags, "--model", model, *scheme)
        root = str(folder / "files")
        fileserver = started("fileserver", "--auth", str(authserver.address), "--root", root)
        _answers(authserver.address, b"new:" + _USER + b":" + _PASSWORD + b"\n")
        export = [str(bench.programs.path("authserver")), *store_flags, "--export", "-"]
        before = run_tool(export, "export the accounts")
        _attack_authserver(authserver.address, len(_PAYLOADS))
        _attack_fileserver(fileserver.address, len(_PAYLOADS))
        memory = [_memory(server) for server in (authserver, fileserver)]
        _attack_authserver(authserver.address, blobs)
        _attack_fileserver(fileserver.address, blobs)
        for server in (authserver, fileserver):
            _send_long_line(server.address)
            assert server.is_running(), f"a server has ended: {server.log()[-200:]}"
        after = run_tool(export, "export the accounts")
        assert before == after, f"the accounts have changed: {after[:200]!r}"
        return [_memory(server) - old for server, old in zip((authserver, fileserver), memory)]


def measure(bench: Bench) -> Figure:
    """On every store, in both models, on both servers."""
    blobs = bench.scaled(10_000, 300)
    grown = []
    for kind in attacked.KINDS:
        grown += _attack_store(bench, kind, ("thread", "process"), blobs)
    return Figure(
        max(grown) < _MOST_GROWTH,
        f"{blobs:,} blobs for each server, store and model, and lines of 1 GiB: 0 crashes, "
        f"0 changed accounts, 0 wrong answers, memory grew by at most {max(grown) >> 10:,} KiB",
    )


_TAKES_CONTROL_BYTES = Mutation(
    "authserver-takes-control-bytes",
    "lib/base/text.h",
    "value < 0x20 || value == 0x7f",
    "value == 0x0a",
)


def control(bench: Bench) -> Figure:
    """An authserver that takes lines with control bytes."""
    _attack_store(broken(bench, _TAKES_CONTROL_BYTES, "authserver"), "sqlite", ("thread",), 300)
    return Figure(True, "all answers were right")


PROMISE = Promise("hostile bytes change nothing", measure, control)
