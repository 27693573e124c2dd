"""Private account stores: each on a free port, in a folder of its own, with its settings recorded."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .errors import Failed
from .processes import Program, run_tool

MAX_CONNECTIONS = 15000  # the paper's figure; a connection for each request needs many at once
_START_TIMEOUT_S = 60
_DATABASE = "turnstile"
_SOCKETS = "turnstile-lab-sockets-"


@dataclass
class Store:
    """A store that is ready. program is None for SQLite, which lives inside the authserver."""

    kind: str
    folder: Path
    authserver_flags: list[str]
    settings: dict[str, str]
    durability: str  # one sentence: what an OK to `new` is worth
    program: Program | None = None
    _folders: list[Path] = field(default_factory=list)

    def stop(self) -> None:
        """Ends the server and removes what it kept."""
        if self.program:
            self.program.stop()
        for folder in (self.folder, *self._folders):
            shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(parent: Path) -> None:
    """What a lab that was killed left behind. Requires: no other lab is running."""
    shutil.rmtree(parent, ignore_errors=True)
    for sockets in Path(tempfile.gettempdir()).glob(f"{_SOCKETS}*/"):
        shutil.rmtree(sockets, ignore_errors=True)


def start(kind: str, parent: Path, cores: tuple[int, ...]) -> Store:
    """Starts a store of this kind with an empty database under parent, which should be on a disk."""
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=parent))
    try:
        return _KINDS[kind](folder, cores)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _start_sqlite(folder: Path, _cores: tuple[int, ...]) -> Store:
    return Store(
        "sqlite",
        folder,
        ["--store", "sqlite", "--sqlite-path", str(folder / "accounts.db")],
        {"journal_mode": "WAL", "synchronous": "FULL"},
        "SQLite with a write-ahead log and synchronous=FULL: an account is on the disk before its OK.",
    )


def _start_redis(folder: Path, cores: tuple[int, ...]) -> Store:
    """With Redis's own default save points, as in the paper: snapshots now and then, no log."""
    port = free_port()
    program = Program(
        "redis-server",
        [
            "redis-server",
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--dir",
            str(folder),
            "--save",
            "3600 1 300 100 60 10000",
            "--appendonly",
            "no",
            "--maxclients",
            "10000",
            "--logfile",
            str(folder / "redis.log"),
        ],
        cores,
        folder / "redis.log",
    )
    client = ["redis-cli", "-h", "127.0.0.1", "-p", str(port)]
    with _stopped_on_failure(program):
        _wait_until(lambda: _succeeds([*client, "ping"]), program)
        settings = {}
        for name in (
            "save",
            "appendonly",
            "appendfsync",
            "maxclients",
            "tcp-backlog",
            "io-threads",
        ):
            settings[name] = (
                run_tool([*client, "config", "get", name], "redis-cli").strip().partition("\n")[2]
            )
    return Store(
        "redis",
        folder,
        ["--store", "redis", "--redis-host", "127.0.0.1", "--redis-port", str(port)],
        settings,
        f"Redis, save points '{settings['save']}', appendonly {settings['appendonly']}: "
        "accounts made since the last snapshot are lost if the server dies.",
        program,
    )


def _start_mysql(folder: Path, cores: tuple[int, ...]) -> Store:
    """MariaDB or MySQL, whichever this machine has, with its own defaults but for the connections."""
    server = shutil.which("mariadbd") or shutil.which("mysqld")
    if server is None:
        raise Failed("neither mariadbd nor mysqld is installed: scripts/setup, or --store sqlite")
    data = folder / "data"
    _make_data_folder(server, data)
    sockets = Path(tempfile.mkdtemp(prefix=_SOCKETS))  # a socket's path must be short
    port = free_port()
    program = Program(
        Path(server).name,
        [
            server,
            "--no-defaults",
            f"--datadir={data}",
            f"--user={_user_name()}",
            "--bind-address=127.0.0.1",
            f"--port={port}",
            f"--socket={sockets / 'sock'}",
            f"--pid-file={folder / 'pid'}",
            "--skip-name-resolve",
            f"--tmpdir={_temporary_folder(folder)}",
            f"--max-connections={MAX_CONNECTIONS}",
            "--back-log=4096",
        ],
        cores,
        folder / "mysql.log",
    )
    client = [_client_name(), "--no-defaults", f"--socket={sockets / 'sock'}", "--user=root"]
    with _stopped_on_failure(program):
        _wait_until(lambda: _succeeds([*client, "--execute=SELECT 1"]), program)
        password_file = _make_account(client, folder)
        settings = _mysql_settings(client)
    return Store(
        "mysql",
        folder,
        [
            "--store",
            "mysql",
            "--mysql-host",
            "127.0.0.1",
            "--mysql-port",
            str(port),
            "--mysql-user",
            "turnstile",
            "--mysql-password-file",
            str(password_file),
            "--mysql-database",
            _DATABASE,
        ],
        settings,
        _mysql_durability(settings),
        program,
        [sockets],
    )


def _make_data_folder(server: str, data: Path) -> None:
    if Path(server).name == "mariadbd":
        run_tool(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--datadir={data}",
                f"--user={_user_name()}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                f"--tmpdir={_temporary_folder(data.parent)}",
            ],
            "mariadb-install-db",
        )
    else:
        run_tool(
            [
                server,
                "--no-defaults",
                "--initialize-insecure",
                f"--datadir={data}",
                f"--user={_user_name()}",
            ],
            "mysqld --initialize-insecure",
        )


def _temporary_folder(folder: Path) -> Path:
    """Of its own: a server that starts removes every temporary table that it finds, those of others too."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    return temporary


def _make_account(client: list[str], folder: Path) -> Path:
    """An account of the lab's own; its password is only ever in a file that others cannot read."""
    password = secrets.token_hex(16)
    password_file = folder / "password"
    password_file.touch(mode=0o600)
    password_file.write_text(password, encoding="ascii")
    statements = (
        f"CREATE DATABASE {_DATABASE}; CREATE USER turnstile@'127.0.0.1' IDENTIFIED BY '{password}'; "
        f"GRANT ALL ON {_DATABASE}.* TO turnstile@'127.0.0.1';"
    )
    done = subprocess.run(client, input=statements, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"the store's account could not be made: {done.stderr.strip()}")
    return password_file


def _mysql_settings(client: list[str]) -> dict[str, str]:
    names = (
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
    listed = ",".join(f"'{name}'" for name in names)
    rows = run_tool(
        [
            *client,
            "--batch",
            "--skip-column-names",
            f"--execute=SHOW GLOBAL VARIABLES WHERE Variable_name IN ({listed})",
        ],
        "reading settings",
    )
    return dict(line.split("\t", 1) for line in rows.splitlines())


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


def _client_name() -> str:
    return "mariadb" if shutil.which("mariadb") else "mysql"


def _user_name() -> str:
    """The database server refuses to run as root unless it is told to."""
    return "root" if os.geteuid() == 0 else os.environ.get("USER", "mysql")


def free_port() -> int:
    """Free now; the namespace, or the lock, makes it unlikely that another takes it before its server does."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _succeeds(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError as error:
        raise Failed(f"{command[0]} is not installed: scripts/setup") from error


@contextmanager
def _stopped_on_failure(program: Program) -> Iterator[None]:
    try:
        yield
    except BaseException:
        program.stop()
        raise


def _wait_until(is_ready, program: Program) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not is_ready():
        if not program.is_running() or time.monotonic() > deadline:
            raise Failed(f"{program.name} did not start: {program.last_words()}")
        time.sleep(0.1)


_KINDS = {"sqlite": _start_sqlite, "mysql": _start_mysql, "redis": _start_redis}
KINDS = tuple(_KINDS)
