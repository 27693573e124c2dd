"""The account stores: private ones, each with its data in a folder of its own.

start() makes a Store, which the authserver can use at once. What kinds of stores there are is one
table, KINDS, at the end.
"""

import secrets
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .cores import Cores
from .databases import MysqlServer, RedisServer, Server, remove_unused_sockets
from .errors import Failed
from .host import Tool
from .processes import Program

MAX_CONNECTIONS = 15000  # as in the paper: with a connection per request, many are open at once
_DATABASE = "turnstile"
_USER = "turnstile"


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
    """Removes what a lab that was killed left behind. Requires: no other lab uses parent."""
    shutil.rmtree(parent, ignore_errors=True)
    remove_unused_sockets()


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
