"""A bash for a page, in a fresh copy of the checkout, and in namespaces if these can be made."""

import contextlib
import fcntl
import functools
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# What the pages name. Without a network namespace these must be free.
PORTS = (8080, 8443, 9000, 9001, 9010, 9011)
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_ROOT = ("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
_USER = ("unshare", "--user", "--map-root-user", *_ROOT[1:])
# Inside: loopback is up, and /run is empty, so that no page finds a server of the host.
_PREPARE = 'ip link set lo up && mount -t tmpfs tmpfs /run && exec "$@"'
# In the short form. commands.SHORTER shortens the commands themselves.
_SHORT = {
    "AUTHSERVER_PASSWORD_SCHEME": "plain",
}


class PortsInUse(Exception):
    """No namespaces can be made here, and another program has ports that the pages name."""


class Gone(Exception):
    """The shell has ended, or a command did not end in time."""


@functools.cache
def namespaces() -> tuple[str, ...]:
    """The command that makes namespaces here, or an empty tuple."""
    for command in (_ROOT, _USER):
        tried = (*command, "sh", "-c", _PREPARE, "sh", "true")
        try:
            if subprocess.run(tried, capture_output=True, timeout=20).returncode == 0:
                return command
        except (OSError, subprocess.TimeoutExpired):
            pass
    return ()


def programs() -> dict[str, Path]:
    """Where the programs are, by their names."""
    folder = PROJECT / os.environ.get("TURNSTILE_BUILD", "build")
    return {name: folder / name for name in ("authserver", "fileserver", "loadgen")}


def _ports_for_one() -> int:
    """Waits until no other page has the ports. Whoever closes the descriptor gives them back.

    Raises PortsInUse.
    """
    lock = os.open(Path(tempfile.gettempdir()) / f"turnstile-docs-{os.getuid()}.lock", _LOCK_FLAGS)
    fcntl.flock(lock, fcntl.LOCK_EX)
    in_use = [port for port in PORTS if _in_use(port)]
    if in_use:
        os.close(lock)
        raise PortsInUse(f"no namespaces can be made, and somebody has the ports {in_use}")
    return lock


def _in_use(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


class Shell:
    """Starts a bash at once. The caller must call close, which ends all that it has started."""

    def __init__(self, full: bool, isolated: bool, settings: dict[str, str] | None = None) -> None:
        """`isolated`: in namespaces, as `namespaces()` says. `settings` are further variables.

        Raises PortsInUse if it is not isolated.
        """
        self._lock = None if isolated else _ports_for_one()
        self.folder = Path(tempfile.mkdtemp(prefix="turnstile-docs-"))
        self.checkout = self.folder / "turnstile"
        _copy_checkout(self.checkout, full)
        self._output = self.folder / "output"
        self._output.touch()
        self._read_at = 0
        self._pasted = 0
        for name in ("commands", "statuses"):
            os.mkfifo(self.folder / name)
        # Both ends are held open, so that no open() waits for the shell.
        self._commands = os.open(self.folder / "commands", os.O_RDWR)
        self._statuses = os.open(self.folder / "statuses", os.O_RDWR)
        driver = ("bash", "--norc", "--noprofile", str(PROJECT / "tests/docs/driver.bash"))
        fifos = (str(self.folder / "commands"), str(self.folder / "statuses"))
        around = (*namespaces(), "sh", "-c", _PREPARE, "sh") if isolated else ()
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                (*around, *driver, *fifos),
                cwd=self.checkout,
                env=self._environment(full, settings or {}),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _environment(self, full: bool, settings: dict[str, str]) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir()
        passed_on = ("PATH", "PYTHON", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG")
        kept = {name: os.environ[name] for name in passed_on if name in os.environ}
        found = kept | {"HOME": str(home), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
        return found | ({} if full else _SHORT) | settings

    def paste(self, text: str, limit_s: float, typed: str = "") -> tuple[int, str]:
        """Runs the text to its end, with `typed` as its standard input.

        Returns its exit status, and what was printed since the last one.

        Raises Gone with the output if it does not end within limit_s, or if it ends the shell.
        """
        self._pasted += 1
        path = self.folder / f"pasted-{self._pasted}"
        path.write_text(text + "\n", encoding="utf-8")
        path.with_suffix(".typed").write_text(typed, encoding="utf-8")
        os.write(self._commands, f"{path}\n".encode())
        deadline = time.monotonic() + limit_s
        while time.monotonic() < deadline:
            if select.select([self._statuses], [], [], 0.05)[0]:
                return int(os.read(self._statuses, 16)), self.new_output()
            if self._process.poll() is not None:
                raise Gone(f"the shell has ended\n{self.new_output()}")
        raise Gone(f"no end after {limit_s:.0f} s\n{self.new_output()}")

    def new_output(self) -> str:
        with self._output.open("rb") as output:
            output.seek(self._read_at)
            said = output.read()
        self._read_at += len(said)
        return said.decode(errors="replace")

    def close(self) -> None:
        # With namespaces this is unshare, and --kill-child ends the others with it.
        for pid in [self._process.pid, *_in_session(self._process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._commands)
        os.close(self._statuses)
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)


def _in_session(session: int) -> list[int]:
    """The processes that the shell has started: the session is that of the shell alone."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            found.append(int(folder.name))
    return found


def _copy_checkout(folder: Path, full: bool) -> None:
    """The full form has all that is in git, and copies of the programs, because it builds them."""
    left_out = ["build", "files", "lab-results", "results", "__pycache__", ".*_cache", "*.db*"]
    left_out += [] if full else [".git"]
    shutil.copytree(PROJECT, folder, symlinks=True, ignore=_only_at_top(left_out))
    (folder / "build").mkdir()
    for name, program in programs().items():
        if full:
            shutil.copy(program, folder / "build" / name)
        else:
            (folder / "build" / name).symlink_to(program)


def _only_at_top(patterns: list[str]) -> Callable[[str, list[str]], set[str]]:
    ignore = shutil.ignore_patterns(*patterns)
    everywhere = shutil.ignore_patterns("__pycache__")

    def ignored(folder: str, names: list[str]) -> set[str]:
        return ignore(folder, names) if Path(folder) == PROJECT else everywhere(folder, names)

    return ignored
