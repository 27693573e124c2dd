"""A temporary folder, the servers that work in it and the clients that talk to them; all gone at the end."""

import shutil
import socket
import tempfile
import unittest
from pathlib import Path

from client import Address, Client
from programs import Program

_FOLDER_PREFIX = "turnstile-e2e-"
_ANY_PORT = ("--listen", "127.0.0.1:0")


class Scene:
    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_FOLDER_PREFIX))
        self.root = self.folder / "files"
        self.root.mkdir()
        self.accounts = self.folder / "accounts.db"
        self._programs: list[Program] = []
        self._closeables: list = []

    def write(self, name: str | bytes, content: bytes) -> Path:
        """Makes a file of the served folder, and the folders on its way."""
        path = self.root / (
            name.decode(errors="surrogateescape") if isinstance(name, bytes) else name
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def authserver(self, *flags: object, **options) -> Program:
        return self.start(
            "authserver", [*_ANY_PORT, "--sqlite-path", self.accounts, *flags], **options
        )

    def fileserver(self, auth: object, *flags: object, **options) -> Program:
        """`auth` is a server of this scene, or HOST:PORT."""
        return self.start(
            "fileserver", [*_ANY_PORT, "--auth", auth, "--root", self.root, *flags], **options
        )

    def start(self, name: str, flags: list[object], **options) -> Program:
        """A server with these flags and no others."""
        log = self.folder / f"{name}-{len(self._programs)}.log"
        program = Program(name, [str(flag) for flag in flags], log, **options)
        self._programs.append(program)
        return program

    def client(self, server: Program | Address, **options) -> Client:
        address = server.address if isinstance(server, Program) else server
        return self.keep(Client(address, **options))

    def keep(self, closeable):
        """Closes it at the end, before the servers are stopped."""
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
    """Each test has a scene of its own."""

    def setUp(self) -> None:
        self.scene = Scene()
        self.addCleanup(self.scene.close)


class SharedSceneTest(unittest.TestCase):
    """The tests of a class share one scene, which prepare() furnishes; each makes its own connections."""

    scene: Scene

    @classmethod
    def setUpClass(cls) -> None:
        cls.scene = Scene()
        cls.addClassCleanup(cls.scene.close)
        cls.prepare()

    @classmethod
    def prepare(cls) -> None:
        raise NotImplementedError

    def connect(self, server: Program, **options) -> Client:
        client = Client(server.address, **options)
        self.addCleanup(client.close)
        return client


def create_account(authserver: Program, user: str = "alice", password: str = "wonderland") -> None:
    """Makes the account unless it is there."""
    client = Client(authserver.address)
    reply = client.ask(f"new:{user}:{password}")
    client.close()
    assert reply in ("OK", "exists"), reply


def free_port() -> int:
    """A port that nobody listens on now, and that a server may be told to take."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
