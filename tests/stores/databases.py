"""Store servers of the tests, whose connections and accounts a test may change."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import e2e_path  # noqa: F401
from needs import found, missing

from rig.databases import MysqlServer, RedisServer, Server
from rig.files import SCRIPTS
from rig.processes import run_tool


class Database(Server):
    """What a test may ask of every kind of server. It runs as soon as it is constructed."""

    kind: str  # as the authserver calls it
    authserver_flags: list[str]

    def connections(self) -> int:
        """How many it has from authservers now."""
        raise NotImplementedError

    def disconnect_all(self) -> None:
        """Ends its connections from authservers, as its administrator may."""
        raise NotImplementedError

    def close_idle_after_1_s(self) -> None:
        """Applies to connections that are made from now on."""
        raise NotImplementedError

    def overwrite(self, user: str, record: str) -> None:
        """Changes an account without the authserver."""
        raise NotImplementedError

    def record_of(self, user: str) -> str:
        raise NotImplementedError


class Redis(RedisServer, Database):
    """Every account is on the disk before its OK, unless `options` say otherwise."""

    kind = "redis"
    usual: Sequence[str] = ("--save", "", "--appendonly", "yes", "--appendfsync", "always")

    def __init__(self, folder: Path, *options: str, password: str = "") -> None:
        super().__init__(folder, *options, password=password)
        self.authserver_flags = ["--store", "redis", "--redis-port", str(self.port)]
        if password:
            secret = secret_file(folder / "secret", password)
            self.authserver_flags += ["--redis-password-file", str(secret)]
        self.start()

    def connections(self) -> int:
        return self.ask("client", "list", "type", "normal").count("\n")  # one of them asks

    def disconnect_all(self) -> None:
        self.ask("client", "kill", "type", "normal", "skipme", "yes")

    def close_idle_after_1_s(self) -> None:
        self.ask("config", "set", "timeout", "1")

    def overwrite(self, user: str, record: str) -> None:
        self.ask("set", f"user:{user}", record)

    def record_of(self, user: str) -> str:
        return self.ask("get", f"user:{user}")


class MariaDb(MysqlServer, Database):
    """Has its own, durable settings. scripts/setup-mysql makes the authserver's account."""

    kind = "mysql"
    usual: Sequence[str] = ("--innodb-buffer-pool-size=16M", "--max-connections=400")

    def __init__(self, folder: Path, *options: str, server: str = "mariadbd") -> None:
        super().__init__(folder, *options, server=server)
        self.install()
        self.start()
        self.password_file = folder / "secret"
        self.setup()
        where = ["--mysql-port", str(self.port), "--mysql-password-file", str(self.password_file)]
        self.authserver_flags = ["--store", "mysql", *where]

    def setup(
        self, *flags: str, password_file: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs scripts/setup-mysql here."""
        where = ["--socket", self.socket, "--password-file", password_file or self.password_file]
        done = subprocess.run(
            [SCRIPTS / "setup-mysql", *map(str, where), *flags],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    def _connection_ids(self) -> list[str]:
        return self.ask(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'turnstile'"
        ).split()

    def connections(self) -> int:
        return len(self._connection_ids())

    def disconnect_all(self) -> None:
        self.ask("".join(f"KILL CONNECTION {one};" for one in self._connection_ids()) or "DO 0")

    def close_idle_after_1_s(self) -> None:
        self.ask("SET GLOBAL wait_timeout = 1")

    def overwrite(self, user: str, record: str) -> None:
        self.ask(f"UPDATE turnstile.accounts SET record = '{record}' WHERE name = '{user}'")

    def record_of(self, user: str) -> str:
        return self.ask(f"SELECT record FROM turnstile.accounts WHERE name = '{user}'")


class MySql(MariaDb):
    """MySQL's own server."""

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder, *options, server="mysqld")


def secret_file(path: Path, content: str, mode: int = 0o600) -> Path:
    path.touch(mode=0o600)
    path.write_text(content)
    path.chmod(mode)
    return path


def why_no_mysql() -> str:
    """Empty where MySQL's own server is installed, else the reason, to skip with."""
    if reason := missing("mysqld"):
        return reason
    version = run_tool([found("mysqld"), "--no-defaults", "--version"], "mysqld")
    return (
        "mysqld here is MariaDB's (package mysql-server has MySQL's)"
        if "MariaDB" in version
        else ""
    )
