"""The account stores: private ones, each on a free port and with its data in a folder of its own.

A Server is a running database server: it can be stopped, killed, paused and started again on the
same data. start() makes a Store, which the authserver can use at once. What kinds of stores there
are is one table, KINDS, at the end.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .cores import Cores
from .errors import Failed
from .host import Tool, free_port
from .processes import Program, run_tool

MAX_CONNECTIONS = 15000  # as in the paper: with a connection per request, many are open at once
_START_TIMEOUT_S = 60.0
_DATABASE = "turnstile"
_USER = "turnstile"
_SOCKETS = "turnstile-lab-sockets-"


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
                raise Failed(f"{self.name} did not start: {self.program.last_words()}")
            time.sleep(0.05)


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


@dataclass
class Store:
    """A store that is ready. server is None for SQLite, which is a library of the authserver."""

    kind: str
    authserver_flags: list[str]
    settings: dict[str, str]
    durability: str  # one sentence: what an OK to `new` guarantees
    server: Server | None = None
    password: str = ""
    folder: Path | None = None  # removed by stop()

    @property
    def program(self) -> Program | None:
        return self.server.program if self.server else None

    def stop(self) -> None:
        """Stops the server and removes its data."""
        if self.server:
            self.server.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def start(kind: str, parent: Path, cores: Cores = ()) -> Store:
    """Starts an empty store of this kind. Its data is in a new folder under parent.

    Failed when it does not start; then nothing of it is left.
    """
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=parent))
    try:
        store = KINDS[kind].start(folder, cores)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    store.folder = folder
    return store


def remove_leftovers(parent: Path) -> None:
    """Removes what a lab that was killed left behind. Requires: no other lab is running."""
    shutil.rmtree(parent, ignore_errors=True)
    for sockets in Path(tempfile.gettempdir()).glob(f"{_SOCKETS}*/"):
        shutil.rmtree(sockets, ignore_errors=True)


def _start_sqlite(folder: Path, _cores: Cores) -> Store:
    return Store(
        "sqlite",
        ["--store", "sqlite", "--sqlite-path", str(folder / "accounts.db")],
        {"journal_mode": "WAL", "synchronous": "FULL"},
        "SQLite with a write-ahead log and synchronous=FULL: "
        "an account is on the disk before its OK.",
    )


_REDIS_SETTINGS = ("save", "appendonly", "appendfsync", "maxclients", "tcp-backlog", "io-threads")


def _start_redis(folder: Path, cores: Cores) -> Store:
    """Saves snapshots at Redis's own default points, as in the paper, and keeps no log."""
    saving = ["--save", "3600 1 300 100 60 10000", "--appendonly", "no"]
    server = RedisServer(folder, *saving, "--maxclients", "10000", cores=cores)
    server.start()
    try:
        answers = {name: server.ask("config", "get", name) for name in _REDIS_SETTINGS}
    except BaseException:
        server.close()
        raise
    settings = {name: answer.partition("\n")[2] for name, answer in answers.items()}
    return Store(
        "redis",
        ["--store", "redis", "--redis-host", "127.0.0.1", "--redis-port", str(server.port)],
        settings,
        f"Redis, save points '{settings['save']}', appendonly {settings['appendonly']}: "
        "accounts made since the last snapshot are lost if the server dies.",
        server,
    )


def _start_mysql(folder: Path, cores: Cores) -> Store:
    """Starts MariaDB, or MySQL without it. Only the limits on connections are not its defaults."""
    path = _MYSQL.found()
    if not path:
        raise Failed("neither mariadbd nor mysqld is installed: scripts/setup, or --store sqlite")
    limits = [f"--max-connections={MAX_CONNECTIONS}", "--back-log=4096"]
    server = MysqlServer(folder, *limits, server=Path(path).name, cores=cores)
    try:
        server.install()
        server.start()
        password_file, password = _make_mysql_account(server)
        settings = _mysql_settings(server)
    except BaseException:
        server.close()
        raise
    return Store(
        "mysql",
        [
            *("--store", "mysql", "--mysql-host", "127.0.0.1", "--mysql-port", str(server.port)),
            *("--mysql-user", _USER, "--mysql-password-file", str(password_file)),
            *("--mysql-database", _DATABASE),
        ],
        settings,
        _mysql_durability(settings),
        server,
        password,
    )


def _make_mysql_account(server: MysqlServer) -> tuple[Path, str]:
    """An account of the authserver's own; its password is in a file that others cannot read."""
    password = secrets.token_hex(16)
    password_file = server.folder / "password"
    password_file.touch(mode=0o600)
    password_file.write_text(password, encoding="ascii")
    server.ask(
        f"CREATE DATABASE {_DATABASE}; "
        f"CREATE USER {_USER}@'127.0.0.1' IDENTIFIED BY '{password}'; "
        f"GRANT ALL ON {_DATABASE}.* TO {_USER}@'127.0.0.1';"
    )
    return password_file, password


_MYSQL_SETTINGS = (
    "version",
    "max_connections",
    "back_log",
    "innodb_flush_log_at_trx_commit",
    "sync_binlog",
    "log_bin",
    "innodb_flush_method",
    "innodb_buffer_pool_size",
    "thread_handling",
    "thread_cache_size",
)


def _mysql_settings(server: MysqlServer) -> dict[str, str]:
    listed = ",".join(f"'{name}'" for name in _MYSQL_SETTINGS)
    rows = server.ask(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({listed})")
    return {name: value for name, _, value in (row.partition("\t") for row in rows.splitlines())}


def _mysql_durability(settings: dict[str, str]) -> str:
    flush = settings["innodb_flush_log_at_trx_commit"]
    meaning = {
        "1": "an account is on the disk before its OK",
        "2": "a power cut may lose the last second of accounts",
        "0": "a crash may lose the last second of accounts",
    }[flush]
    return (
        f"MySQL ({settings['version']}), innodb_flush_log_at_trx_commit={flush}, "
        f"sync_binlog={settings['sync_binlog']}, log_bin={settings['log_bin']}: {meaning}."
    )


@dataclass(frozen=True)
class Kind:
    """start gets a new folder and the cores that the server may use."""

    title: str  # as a report writes it
    start: Callable[[Path, Cores], Store]
    tools: tuple[Tool, ...] = ()


_MYSQL = Tool(("mariadbd", "mysqld"), "mariadb-server")

KINDS = {
    "sqlite": Kind("SQLite", _start_sqlite),
    "mysql": Kind("MySQL", _start_mysql, (_MYSQL,)),
    "redis": Kind(
        "Redis",
        _start_redis,
        (Tool(("redis-server",), "redis-server"), Tool(("redis-cli",), "redis-tools")),
    ),
}
