"""Database servers, each on a free port and with its data in a folder of its own.

Each can be stopped, killed, paused and started again on the same data. stores.py starts one as a
store that the authserver can use at once.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from .cores import Cores
from .errors import Failed
from .host import free_port
from .processes import Program, run_tool

_SOCKETS = "turnstile-lab-sockets-"  # how the folders of the sockets begin
_START_TIMEOUT_S = 60.0


class Server:
    """A database server. It runs from start() until stop(), kill() or close().

    Its command line ends with `usual`, which a subclass may set, and with the options that were
    given last. Threads: one.
    """

    name: str
    usual: Sequence[str] = ()

    def __init__(self, folder: Path, *options: str, cores: Cores = ()) -> None:
        """folder is made if it is missing; it holds the data and the log."""
        self.folder = folder
        self.port = free_port()
        self._options = options
        self._cores = cores
        self._program: Program | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def program(self) -> Program:
        """Requires: start() was called."""
        assert self._program
        return self._program

    @property
    def pid(self) -> int:
        return self.program.pid

    def start(self) -> None:
        """Starts it and returns when it answers. Failed, and it is stopped, when it does not."""
        self._program = Program(self.name, self.command(), self.folder / "log", cores=self._cores)
        try:
            self._wait_until_it_answers()
        except BaseException:
            self._program.kill()
            raise

    def is_running(self) -> bool:
        return self._program is not None and self._program.is_running()

    def stop(self) -> None:
        """In good order. Does nothing when it does not run."""
        if self._program:
            self._program.resume()
            self._program.stop()

    def close(self) -> None:
        """Stops it for good. The data stays."""
        self.stop()

    def kill(self) -> None:
        self.program.kill()

    def restart(self, *options: str) -> None:
        """Starts it again on the same data and port; options, if any, replace those from before."""
        self.stop()
        self._options = options or self._options
        self.start()

    def pause(self) -> None:
        self.program.pause()

    def resume(self) -> None:
        self.program.resume()

    def command(self) -> list[str]:
        return [self.name, *self.flags(), *self.usual, *self._options]

    def flags(self) -> list[str]:
        """Where it listens and where its data is."""
        raise NotImplementedError

    def answers(self) -> bool:
        """Whether it takes commands now."""
        raise NotImplementedError

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self.answers():
            if not self.is_running() or time.monotonic() > deadline:
                raise Failed(f"{self.name} did not start: {self.complaint()}")
            time.sleep(0.05)

    def complaint(self) -> str:
        """Why it ended, as far as its log tells."""
        return self.program.last_words()


def remove_unused_sockets() -> None:
    """Removes the folders of sockets whose programs were killed. Those in use are locked."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_SOCKETS}*/"):
        try:
            claim = os.open(folder, os.O_RDONLY)
        except OSError:  # somebody else's, or removed meanwhile
            continue
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(claim)


class RedisServer(Server):
    """Redis on 127.0.0.1, which reads the commands of redis.conf in its folder."""

    name = "redis-server"

    def __init__(self, folder: Path, *options: str, password: str = "", cores: Cores = ()) -> None:
        super().__init__(folder, *options, cores=cores)
        self._environment = os.environ | ({"REDISCLI_AUTH": password} if password else {})
        self._settings = folder / "redis.conf"
        self._settings.touch(mode=0o600)
        self._settings.write_text(f"requirepass {password}\n" if password else "")

    def flags(self) -> list[str]:
        where = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        log = ["--logfile", str(self.folder / "log")]  # its standard output is not read
        return [str(self._settings), *where, *log]

    def answers(self) -> bool:
        return self._run("ping").stdout == "PONG\n"

    def ask(self, *words: str) -> str:
        """What redis-cli prints. Failed when it fails."""
        done = self._run(*words)
        if done.returncode != 0:
            raise Failed(f"redis-cli {words[0]}: {done.stderr.strip()}")
        return done.stdout.rstrip("\n")

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["redis-cli", "-h", "127.0.0.1", "-p", str(self.port), *words]
        return _run_client(command, environment=self._environment)


class MysqlServer(Server):
    """MariaDB, or MySQL's own server, on 127.0.0.1 with the defaults that it was built with."""

    def __init__(
        self, folder: Path, *options: str, server: str = "mariadbd", cores: Cores = ()
    ) -> None:
        """server is mariadbd or mysqld."""
        super().__init__(folder, *options, cores=cores)
        self.name = server
        self.data = folder / "data"
        self._sockets = Path(tempfile.mkdtemp(prefix=_SOCKETS))  # a socket's path must be short
        self._claim = os.open(self._sockets, os.O_RDONLY)
        fcntl.flock(self._claim, fcntl.LOCK_EX)
        self.socket = self._sockets / "sock"
        # A server that starts removes every temporary table in this folder, whoever made it.
        self._temporary = folder / "tmp"
        self._temporary.mkdir(exist_ok=True)

    def install(self) -> None:
        """Makes an empty data folder. Requires: the server does not run."""
        if self.name == "mariadbd":
            self._install_mariadb()
        else:
            command = [self.name, "--no-defaults", "--initialize-insecure"]
            run_tool([*command, *self._where()], self.name)

    def _install_mariadb(self) -> None:
        """mariadb-install-db splits the paths in its arguments at blanks, so it gets none of ours.

        The data folder is relative, and the folder for temporary files is in the environment.
        """
        name = "mariadb-install-db"
        command = ["env", f"--chdir={self.folder}", f"TMPDIR={self._temporary.resolve()}", name]
        command += ["--no-defaults", "--skip-test-db", f"--datadir=./{self.data.name}"]
        command += ["--auth-root-authentication-method=normal", *self._as_root()]
        run_tool(command, name)

    def close(self) -> None:
        super().close()
        shutil.rmtree(self._sockets, ignore_errors=True)
        if self._claim >= 0:
            os.close(self._claim)
        self._claim = -1

    def complaint(self) -> str:
        """The errors; the last one is always that it aborts."""
        errors = [line for line in self.program.log().splitlines() if "[ERROR]" in line]
        return "; ".join(errors) or super().complaint()

    def flags(self) -> list[str]:
        own = [] if self.name == "mariadbd" else ["--loose-mysqlx=OFF", "--secure-file-priv=NULL"]
        return [
            "--no-defaults",
            *self._where(),
            f"--socket={self.socket}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--pid-file={self.folder / 'pid'}",
            "--skip-name-resolve",
            *own,
        ]

    def answers(self) -> bool:
        return self._run("SELECT 1").returncode == 0

    def ask(self, statements: str) -> str:
        """What they print, columns separated by tabs. Failed when one of them fails."""
        done = self._run(statements)
        if done.returncode != 0:
            raise Failed(f"{self.name}: {done.stderr.strip()}")
        return done.stdout.rstrip("\n")

    def _where(self) -> list[str]:
        return [f"--datadir={self.data}", f"--tmpdir={self._temporary}", *self._as_root()]

    def _as_root(self) -> list[str]:
        """The server refuses to run as root unless it is told to."""
        return ["--user=root"] if os.geteuid() == 0 else []

    def _run(self, statements: str) -> subprocess.CompletedProcess[str]:
        command = ["mysql", "--no-defaults"]
        if shutil.which("mariadb"):
            # Since MariaDB 11.4 the client wants a certificate that it can verify, or none works.
            command = ["mariadb", "--no-defaults", "--skip-ssl-verify-server-cert"]
        command += [f"--socket={self.socket}", "--user=root"]
        return _run_client([*command, "--batch", "--skip-column-names"], statements)


def _run_client(
    command: list[str], stdin: str = "", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Failed when the client is not installed."""
    try:
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False, env=environment
        )
    except FileNotFoundError as error:
        raise Failed(f"{command[0]} is not installed: scripts/setup") from error
