"""A Scene is a temporary folder with servers and clients that work in it.

At the end of a test, the clients are closed, the servers are stopped and the folder is removed.
"""

import functools
import shutil
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from client import Address, Client
from programs import Program

from rig.servers import authserver_flags, fileserver_flags

_FOLDER_PREFIX = "turnstile-e2e-"
# A disk that others keep busy holds up a new account, or the use of a link, for longer than the
# defaults.
_STORE_PATIENCE = ("--store-timeout", "15")
_PATIENCE = ("--auth-timeout", "20")
_Test = TypeVar("_Test", bound=unittest.TestCase)


class Scene:
    """`root` is the served folder, `accounts` the accounts file of SQLite.

    The fileservers get this --model if they are given none.
    """

    def __init__(self, model: str = "thread") -> None:
        self.model = model
        self.folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
        self.root = self.folder / "files"
        self.root.mkdir()
        self.accounts = self.folder / "accounts.db"
        self._programs: list[Program] = []
        self._closeables: list = []

    def write(self, name: str | bytes, content: bytes) -> Path:
        """Writes a file of the served folder, and makes the folders in its path."""
        path = self.root / (
            name.decode(errors="surrogateescape") if isinstance(name, bytes) else name
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def authserver(self, *flags: object, **options) -> Program:
        """Starts an authserver whose accounts are in `accounts`."""
        store = authserver_flags(["--sqlite-path", str(self.accounts)])
        has_own = "--store" in flags or "--store-timeout" in flags
        patience = () if has_own else _STORE_PATIENCE
        return self.start("authserver", [*store, *patience, *flags], **options)

    def authserver_of_alice(self, *flags: object, **options) -> Program:
        """The same, and alice has an account, with the password "wonderland"."""
        server = self.authserver(*flags, **options)
        create_account(server)
        return server

    def fileserver(self, auth: object, *flags: object, **options) -> Program:
        """Starts a fileserver. `auth` is a server of this scene, or HOST:PORT."""
        behind = fileserver_flags(str(auth), self.root)
        model = () if "--model" in flags else ("--model", self.model)
        patience = () if "--auth-timeout" in flags else _PATIENCE
        return self.start("fileserver", [*behind, *model, *patience, *flags], **options)

    def start(self, name: str, flags: Sequence[object], **options) -> Program:
        """Starts a server with these flags and no others."""
        log = self.folder / f"{name}-{len(self._programs)}.log"
        program = Program(name, [str(flag) for flag in flags], log, **options)
        self._programs.append(program)
        return program

    def client(self, server: Program | Address, **options) -> Client:
        address = server.address if isinstance(server, Program) else server
        return self.keep(Client(address, **options))

    def keep(self, closeable):
        """Closes `closeable` at the end of the test, before the servers are stopped."""
        self._closeables.append(closeable)
        return closeable

    def close(self) -> None:
        for closeable in reversed(self._closeables):
            closeable.close()
        complaints = [
            complaint for program in reversed(self._programs) for complaint in program.finish()
        ]
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not complaints, "\n".join(complaints)


class SceneTest(unittest.TestCase):
    """Base class of tests; each test has its own scene."""

    model = "thread"

    def setUp(self) -> None:
        self.scene = Scene(self.model)
        self.addCleanup(self.scene.close)


class SharedSceneTest(unittest.TestCase):
    """Base class of tests that share one scene, which prepare() sets up for the whole class."""

    model = "thread"
    scene: Scene

    @classmethod
    def setUpClass(cls) -> None:
        cls.scene = Scene(cls.model)
        cls.addClassCleanup(cls.scene.close)
        cls.prepare()

    @classmethod
    def prepare(cls) -> None:
        """Starts the servers and writes the files that all tests of the class use."""
        raise NotImplementedError

    def connect(self, server: Program, **options) -> Client:
        """Returns a new connection that is closed at the end of the test."""
        client = Client(server.address, **options)
        self.addCleanup(client.close)
        return client


def for_each(values: Iterable[Any]) -> Callable[[Callable], Callable]:
    """Decorates a test that takes one argument: it runs as a subtest for each of the values."""
    all_values = tuple(values)

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def run(self: unittest.TestCase) -> None:
            for value in all_values:
                with self.subTest(value):
                    test(self, value)

        return run

    return decorate


def with_loops(tests: type[_Test]) -> type[_Test]:
    """Decorates NameTest: its tests run with --model event too, as NameOfLoopsTest.

    Decorators that skip the class stand below this one.
    """
    return _with_model(tests, "event", "OfLoops")


def with_processes(tests: type[_Test]) -> type[_Test]:
    """The same with --model process, as NameOfProcessesTest."""
    return _with_model(tests, "process", "OfProcesses")


def _with_model(tests: type[_Test], model: str, of_model: str) -> type[_Test]:
    name = f"{tests.__name__.removesuffix('Test')}{of_model}Test"
    values = {"model": model, "__module__": tests.__module__, "__qualname__": name}
    setattr(sys.modules[tests.__module__], name, type(name, (tests,), values))
    return tests


def create_account(authserver: Program, user: str = "alice", password: str = "wonderland") -> None:
    """Makes the account if it does not exist yet."""
    client = Client(authserver.address)
    reply = client.ask(f"new:{user}:{password}")
    client.close()
    assert reply in ("OK", "exists"), reply
