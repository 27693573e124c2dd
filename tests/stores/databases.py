"""Store servers of the tests' own, which can be stopped, killed, paused and started again on the same data."""

import os
import random
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import e2e_path
from processes import pause
from waiting import LONG_S, eventually

from lab.processes import Program as Server
from lab.processes import run_tool

SCRIPTS = e2e_path.TESTS.parent / "scripts"


def steady_port() -> int:
    """A free port that no outgoing connection is given while its server is down."""
    first_given = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(1100, max(first_given, 1200))
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


class Database:
    """A server with its data in `folder`. It runs from the beginning, with `options` behind its usual ones."""

    kind: str
    flags: list[str]  # how the authserver reaches it

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.port = steady_port()
        self._options = options
        self._server: Server | None = None
        folder.mkdir()

    @property
    def pid(self) -> int:
        assert self._server
        return self._server.pid

    def start(self) -> None:
        """Returns once it answers."""
        self._server = Server(
            self.kind, self._command(), tuple(os.sched_getaffinity(0)), self.folder / "log"
        )
        eventually(lambda: self._answers() or self._has_ended(), f"{self.kind} answers", 2 * LONG_S)
        assert not self._has_ended(), self._server.last_words()

    def _has_ended(self) -> bool:
        return self._server is None or not self._server.is_running()

    def stop(self) -> None:
        """In good order."""
        if self._server:
            self._server.stop()

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.stop()

    def restart(self, *options: str) -> None:
        self.stop()
        self._options = options or self._options
        self.start()

    def pause(self) -> None:
        pause(self.pid)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def close(self) -> None:
        if not self._has_ended():
            self.resume()
        self.stop()

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _answers(self) -> bool:
        raise NotImplementedError

    def connections(self) -> int:
        """How many it has from authservers now."""
        raise NotImplementedError

    def disconnect_all(self) -> None:
        """Ends its connections from authservers, as its administrator may."""
        raise NotImplementedError

    def close_idle_after_1_s(self) -> None:
        """For connections that are made from now on."""
        raise NotImplementedError

    def overwrite(self, user: str, record: str) -> None:
        """Changes an account as nobody asked the authserver to."""
        raise NotImplementedError

    def record_of(self, user: str) -> str:
        raise NotImplementedError


class Redis(Database):
    """Durable, unless `options` say otherwise."""

    kind = "redis"

    def __init__(self, folder: Path, *options: str, password: str = "") -> None:
        super().__init__(folder, *options)
        self._environment = os.environ | ({"REDISCLI_AUTH": password} if password else {})
        self.flags = ["--store", "redis", "--redis-port", str(self.port)]
        if password:
            (folder / "redis.conf").write_text(f"requirepass {password}\n")
            self.flags += ["--redis-password-file", str(secret_file(folder / "secret", password))]
        else:
            (folder / "redis.conf").touch()
        self.start()

    def _command(self) -> list[str]:
        return [
            "redis-server",
            str(self.folder / "redis.conf"),
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            str(self.folder),
            "--save",
            "",
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
            *self._options,
        ]

    def _answers(self) -> bool:
        return self._run("ping").stdout == "PONG\n"

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["redis-cli", "-p", str(self.port), *words],
            capture_output=True,
            text=True,
            check=False,
            env=self._environment,
        )

    def ask(self, *words: str) -> str:
        done = self._run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

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


class MariaDb(Database):
    """With the server's own, durable settings. The authserver's account is made by scripts/setup-mysql."""

    kind = "mysql"
    _program = "mariadbd"

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(folder, *options)
        self.socket = folder / "sock"
        self.data = folder / "data"
        # A server that starts removes the temporary tables in its folder, whosever they are.
        self._temporary = folder / "tmp"
        self._temporary.mkdir()
        self._install()
        self.start()
        self.password_file = folder / "secret"
        self.setup()
        self.flags = [
            "--store",
            "mysql",
            "--mysql-port",
            str(self.port),
            "--mysql-password-file",
            str(self.password_file),
        ]

    def _install(self) -> None:
        run_tool(
            [
                "mariadb-install-db",
                "--no-defaults",
                "--skip-test-db",
                "--auth-root-authentication-method=normal",
                *self._where(),
            ],
            "mariadb-install-db",
        )

    def _where(self) -> list[str]:
        as_root = ["--user=root"] if os.geteuid() == 0 else []
        return [f"--datadir={self.data}", f"--tmpdir={self._temporary}", *as_root]

    def _command(self) -> list[str]:
        return [
            self._program,
            "--no-defaults",
            *self._where(),
            f"--socket={self.socket}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--pid-file={self.folder / 'pid'}",
            "--skip-name-resolve",
            "--innodb-buffer-pool-size=16M",
            "--max-connections=400",
            *self._options,
        ]

    def setup(
        self, *flags: str, password_file: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs scripts/setup-mysql here."""
        done = subprocess.run(
            [
                SCRIPTS / "setup-mysql",
                "--socket",
                self.socket,
                "--password-file",
                password_file or self.password_file,
                *flags,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    def _answers(self) -> bool:
        return self._run("SELECT 1").returncode == 0

    def _run(self, statements: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                "mariadb",
                "--no-defaults",
                f"--socket={self.socket}",
                "--user=root",
                "--batch",
                "--skip-column-names",
            ],
            input=statements,
            capture_output=True,
            text=True,
            check=False,
        )

    def ask(self, statements: str) -> str:
        done = self._run(statements)
        assert done.returncode == 0, done.stderr
        return done.stdout.rstrip("\n")

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

    _program = "mysqld"

    def _install(self) -> None:
        run_tool(
            ["mysqld", "--no-defaults", "--initialize-insecure", *self._where()],
            "mysqld --initialize-insecure",
        )

    def _command(self) -> list[str]:
        return [*super()._command(), "--mysqlx=OFF", "--secure-file-priv=NULL"]


def secret_file(path: Path, content: str, mode: int = 0o600) -> Path:
    path.touch(mode=0o600)
    path.write_text(content)
    path.chmod(mode)
    return path


def why_no_mysql() -> str:
    """Empty where MySQL's own server is installed, else the reason, to skip with."""
    server = shutil.which("mysqld")
    if server is None:
        return "no mysqld is installed"
    version = run_tool([server, "--no-defaults", "--version"], "mysqld")
    return f"mysqld here is {version.strip()}" if "MariaDB" in version else ""
