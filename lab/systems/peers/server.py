"""What is common to the servers of others: whom they serve, how they are started and stopped."""

import ctypes
import ctypes.util
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rig.certificates import KeyPair
from rig.cores import Cores
from rig.errors import Failed
from rig.host import free_port
from rig.process_tree import stop_with_children, tree
from rig.processes import Address, Program, wait_listening

START_TIMEOUT_S = 30.0
CONFIGURATION = "conf"  # the file in the folder of a server that has one


@dataclass(frozen=True)
class Account:
    user: str
    password: str

    def hashed(self) -> str:
        """The password as crypt(3) keeps it in the cheapest form that all servers can verify.

        It takes well below a millisecond. The default of pure-pw takes seconds for each log-in, so
        a measurement of log-ins would measure nothing else.
        """
        library = ctypes.CDLL(ctypes.util.find_library("crypt") or "libcrypt.so.1")
        library.crypt.restype = ctypes.c_char_p
        salt = f"$1${secrets.token_hex(4)}$"
        made: bytes | None = library.crypt(self.password.encode(), salt.encode())
        if not made or not made.startswith(salt.encode()):
            raise Failed("the host's crypt(3) has no MD5 hashes ($1$)")
        return made.decode("ascii")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a server serves, and how."""

    root: Path  # the served folder
    folder: Path  # for the configuration and the log
    packages: Path  # where private copies are kept between runs
    accounts: tuple[Account, ...]
    host: str = "127.0.0.1"
    connections: int = 10_000  # at once, from one address too
    cores: Cores = ()
    wrapper: tuple[str, ...] = ()
    is_tuned: bool = False
    authserver: Address | None = None  # for a server that asks ours
    key_pair: KeyPair | None = None  # for a server of HTTP; None: in clear
    log_prefix: str = ""  # of the paths of the logs; "" puts them in the folder
    is_writable: bool = False  # users see an empty folder in memory instead, and may write to it
    transfer_log: Path | None = None  # absolute; for a server that can write one
    has_third_parties: bool = (
        False  # data may come from, or go to, an address that is not the user's
    )


class PeerServer:
    """A server on a free port. It runs from start() until stop(). Threads: one."""

    package: ClassVar[str]  # its name, too
    log_form: ClassVar[str] = ""  # of its log of transfers; "" if it writes none

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.folder = setting.folder.resolve()
        self.root = setting.root.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.address = Address(setting.host, free_port())
        self._program: Program | None = None

    @classmethod
    def fetch(cls, packages: Path) -> None:
        """Downloads what it lacks. LeftOut when that cannot be had."""
        raise NotImplementedError

    @property
    def version(self) -> str:
        """That of the package."""
        raise NotImplementedError

    @property
    def configuration(self) -> str:
        """The text of its configuration file, without accounts; "" if it has none."""
        file = self.folder / CONFIGURATION
        return file.read_text(encoding="utf-8") if file.exists() else ""

    @property
    def program(self) -> Program:
        """The one that listens. Requires: start() was called."""
        assert self._program
        return self._program

    def pids(self) -> list[int]:
        """Its processes now, those of all sessions included."""
        return tree(self.program.pid)

    def start(self) -> None:
        """Returns when it listens. Failed, and nothing of it runs, when it does not."""
        self.configure()
        self._program = Program(
            self.package,
            [*self.setting.wrapper, *self.full_command()],
            self._log(),
            cores=self.setting.cores,
            environment=self.environment(),
        )
        try:
            self.wait_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops it and every process that it started. Does nothing when it does not run."""
        if self._program:
            stop_with_children(self._program)

    def configure(self) -> None:
        """Writes what the server reads."""
        raise NotImplementedError

    def command(self) -> list[str]:
        raise NotImplementedError

    def full_command(self) -> list[str]:
        """The command with what must be done before it."""
        return self.command()

    def environment(self) -> dict[str, str]:
        """What is added to the lab's own."""
        return {}

    def wait_ready(self) -> None:
        """Returns when users can log in. Failed when it takes too long."""
        wait_listening(self.program, self.address.port, START_TIMEOUT_S)

    def _log(self) -> Path:
        prefix = self.setting.log_prefix or f"{self.folder}/"
        return Path(f"{prefix}{self.package}.log")

    def write(self, name: str, text: str) -> Path:
        """A file in the folder that only its owner can read."""
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        return path
