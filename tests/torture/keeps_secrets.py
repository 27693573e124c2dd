"""Passwords that are easy to find go through everything, and are then searched for everywhere."""

import contextlib
import os
import secrets
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from attacked import on_a_free_port
from client import Client
from crowd import open_connections
from processes import children, memory_holds
from promise import Bench, Figure, Promise, broken
from tree import Mutation
from waiting import eventually

from rig import servers, stores
from rig.processes import Address, Program

_MODELS = ("thread", "process")
_CANARY = "Canary-"  # every user's password begins with it
_CORES = "/proc/sys/kernel/core_pattern"


@dataclass
class _Search:
    """Where it was looked, and where a secret was found."""

    places: int = 0
    hits: list[str] = field(default_factory=list)

    def look(self, place: str, content: bytes, *needles: bytes) -> None:
        self.places += 1
        if any(needle in content for needle in needles):
            self.hits.append(place)

    def look_into_files(self, folder: Path, *needles: bytes) -> None:
        for path in folder.rglob("*"):
            # A running store may remove a temporary file meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if path.is_file():
                    self.look(f"file {path.name}", path.read_bytes(), *needles)

    def look_into_proc(self, pid: int, *needles: bytes) -> None:
        for name in ("cmdline", "environ"):
            self.look(name, Path(f"/proc/{pid}/{name}").read_bytes(), *needles)

    def look_into_memory(self, name: str, pid: int, needle: bytes) -> None:
        """All that a core dump would have."""
        self.places += 1
        if memory_holds(pid, needle):
            self.hits.append(f"memory of {name}")


class _Suite:
    """Both servers at debug level in front of a store, and all that users may do with them."""

    def __init__(
        self, bench: Bench, stack: ExitStack, store: stores.Store, model: str, folder: Path
    ) -> None:
        self._bench, self._stack, self._folder = bench, stack, folder
        folder.mkdir()
        root = folder / "files"
        root.mkdir()
        (root / "file").write_bytes(b"content")
        flags, self._environment = _with_password_in_environment(store)
        self._auth_flags = ["--model", model, *flags]
        on_a_free_port(self._start_authserver_at)
        flags = [*servers.fileserver_flags(self._auth, root), *bench.model_flags]
        self.fileserver = self._start("fileserver", [*flags, "--auth-timeout", "1"])
        self.address = self.fileserver.wait_ready(60)

    def _start_authserver_at(self, address: Address) -> None:
        self._auth = address
        self.start_authserver()

    def start_authserver(self) -> Program:
        flags = ["--listen", str(self._auth), *self._auth_flags, "--store-timeout", "1"]
        self.authserver = self._start("authserver", flags, self._environment)
        self.authserver.wait_ready(60)
        return self.authserver

    def core_dumps(self) -> list[bytes]:
        """Ends both servers as a crash would, and returns what the kernel wrote."""
        for program in (self.fileserver, self.authserver):
            program.signal(signal.SIGABRT)
            program.wait()
        return [path.read_bytes() for path in self._folder.glob("*core*")]

    def talk(self, address: Address, verb: str, user: str) -> None:
        """Right and wrong passwords, in lines of all kinds, whatever the replies are."""
        secret = f"{_CANARY}{user}"
        lines = [f"new:{user}:{secret}", f"new: {user}: {secret}", f"{verb}:{user}:{secret}"]
        lines += [f"{verb}:{user}:{secret}-wrong", f"{verb}:nobody:{secret}", f"{verb}:{secret}"]
        lines += [
            f"{verb}:bad user:{secret}",
            f"{verb}:{user}:{secret}\x01",
            f"NEW:{user}:{secret}",
        ]
        client = Client(address)
        for line in lines:
            client.ask(line)
        client.send(f"{verb}:{user}:{secret}{'x' * 512}\n")
        client.reply()
        client.close()
        # An unfinished line, and one that is answered to nobody.
        for unfinished in (f"{verb}:{user}:{secret}", f"{verb}:{user}:{secret}\n"):
            client = Client(address)
            client.send(unfinished)
            client.close()

    def talk_to_both(self, user: str) -> None:
        self.talk(self.address, "get", user)
        if self.authserver.is_running():
            self.talk(self._auth, "auth", user)

    def _start(
        self, name: str, flags: list[str], environment: dict[str, str] | None = None
    ) -> Program:
        """As it is by default, also for users who are not root; see rig/processes.py."""
        enter = f'ulimit -c unlimited && cd "{self._folder}" && exec "$0" "$@"'
        program = [str(self._bench.programs.path(name)), *flags, "--log-level", "debug"]
        variables = {f"{name.upper()}_DEBUGGABLE": "false"} | (environment or {})
        started = Program(
            name,
            ["sh", "-c", enter, *program],
            self._folder / f"{name}.log",
            environment=variables,
        )
        self._stack.callback(started.stop)
        return started


def _with_password_in_environment(store: stores.Store) -> tuple[list[str], dict[str, str]]:
    """MySQL's password in a variable, which is what the documents call safe."""
    flags = list(store.authserver_flags)
    if "--mysql-password-file" not in flags:
        return flags, {}
    at = flags.index("--mysql-password-file")
    del flags[at : at + 2]
    return flags, {"AUTHSERVER_MYSQL_PASSWORD": store.password}


@contextmanager
def _redis_with_a_password(folder: Path) -> Iterator[stores.Store]:
    password = secrets.token_hex(16)
    server = stores.RedisServer(folder, password=password)
    server.start()
    file = folder / "password"
    file.touch(mode=0o600)
    file.write_text(password)
    flags = ["--store", "redis", "--redis-host", "127.0.0.1", "--redis-port", str(server.port)]
    flags += ["--redis-password-file", str(file)]
    try:
        yield stores.Store("redis", flags, {}, "", server, password)
    finally:
        server.close()


@contextmanager
def _store(kind: str, folder: Path) -> Iterator[stores.Store]:
    if kind == "redis":
        with _redis_with_a_password(folder / "store") as store:
            yield store
        return
    store = stores.start(kind, folder / "store")
    try:
        yield store
    finally:
        store.stop()


def _with_outages(suite: _Suite, store: stores.Store) -> None:
    """All is well; the store is away; the authserver is away; all is well again."""
    suite.talk_to_both("amy")
    if store.server:
        store.server.kill()
        suite.talk_to_both("ben")
        store.server.start()
    suite.authserver.kill()
    suite.talk(suite.address, "get", "cat")
    suite.start_authserver()
    suite.talk_to_both("dan")


def _search(bench: Bench, kind: str, model: str, search: _Search) -> None:
    folder = Path(tempfile.mkdtemp(prefix=f"{kind}-{model}-", dir=bench.folder))
    user = _CANARY.encode()
    with ExitStack() as stack:
        store = stack.enter_context(_store(kind, folder))
        suite = _Suite(bench, stack, store, model, folder / "suite")
        _with_outages(suite, store)
        # A request that is under way has its password in memory.
        eventually(lambda: open_connections(suite.address) == 0, "all requests are answered")
        servers.ask(suite.address, "ping")
        passwords = [user, *([store.password.encode()] if store.password else [])]
        pids = {
            name: [program.pid, *children(program.pid)]
            for name, program in (
                ("fileserver", suite.fileserver),
                ("authserver", suite.authserver),
            )
        }
        for name, all_pids in pids.items():
            for pid in all_pids:
                search.look_into_proc(pid, *passwords)
                if os.geteuid() == 0:
                    search.look_into_memory(name, pid, user)
        for core in suite.core_dumps():
            search.look("core dump", core, *passwords)
        search.look_into_files(folder / "suite", *passwords)
        search.look_into_files(folder / "store", user)


def measure(bench: Bench) -> Figure:
    search = _Search()
    for kind in stores.KINDS:
        for model in _MODELS[: bench.scaled(2, 1)] if kind != "sqlite" else _MODELS:
            _search(bench, kind, model, search)
    notes = "" if os.geteuid() == 0 else "; memory was not searched, which needs root"
    if Path(_CORES).read_text().startswith(("|", "/")):
        notes += "; core dumps would not go into the folder of the process"
    found = f" ({', '.join(sorted(set(search.hits)))})" if search.hits else ""
    return Figure(
        not search.hits,
        f"{len(search.hits)} hits{found} in {search.places} logs, command lines, environments, "
        f"memories and files{notes}",
    )


_TALKATIVE = Mutation(
    "the-log-has-the-password",
    "fileserver/session.cpp",
    'log_request("new", request.account.user',
    'log_request("new", request.account.password',
)


def control(bench: Bench) -> Figure:
    """A fileserver that logs the password in place of the user."""
    search = _Search()
    _search(broken(bench, _TALKATIVE, "fileserver"), "sqlite", "thread", search)
    found = ", ".join(sorted(set(search.hits)))
    return Figure(not search.hits, f"{len(search.hits)} hits ({found})")


PROMISE = Promise("it keeps secrets", measure, control)
