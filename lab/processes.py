"""Programs that the lab starts, and only those: known by their id, gone when the lab is gone."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import time
from pathlib import Path

from . import pinning
from .errors import Failed

_ROOT = Path(__file__).resolve().parent.parent
_STOP_TIMEOUT_S = 30
_FLAG_VARIABLES = ("FILESERVER_", "AUTHSERVER_", "LOADGEN_")


class Program:
    """One running program.

    Pinned to its cores, in a session of its own so that Ctrl-C reaches only the lab, and killed by the
    kernel if the lab dies. Its standard error goes to log_path. One thread.
    """

    def __init__(
        self,
        name: str,
        command: list[str],
        cores: tuple[int, ...],
        log_path: Path,
        environment: dict[str, str] | None = None,
    ):
        self.name = name
        self.command = command
        self.cores = cores
        self.log_path = log_path
        tied = ["setpriv", "--pdeathsig", "KILL", "taskset", "-c", pinning.format_list(cores)]
        with open(log_path, "ab") as log:
            try:
                self._process = subprocess.Popen(
                    [*tied, *command],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env={**_inherited(), **(environment or {})},
                    start_new_session=True,
                )
            except FileNotFoundError as error:
                raise Failed(f"{error.filename} is missing (package util-linux)") from error

    @property
    def pid(self) -> int:
        return self._process.pid  # setpriv and taskset become the program, so the id stays

    def command_line(self) -> str:
        """As a reader may repeat it, from the project's folder."""
        return shlex.join(self.command).replace(f"{_ROOT}{os.sep}", "")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def move_to(self, cores: tuple[int, ...]) -> None:
        """Pins every thread that it has; the ones it will start inherit it."""
        self.cores = cores
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                os.sched_setaffinity(int(thread.name), cores)
            except ProcessLookupError:
                continue  # it has just ended

    def wait_ready(self, timeout_s: float) -> str:
        """Returns HOST:PORT of the READY line. Failed when the program ends or is silent for too long."""
        line = self._read_line(timeout_s)
        if not line.startswith("READY "):
            self.stop()
            raise Failed(f"{self.name} did not become ready: {self.last_words()}")
        pinning.verify(self.name, self.pid, self.cores)
        return line.split()[1]

    def finish(self, timeout_s: float) -> tuple[int, str]:
        """Waits for the program to end by itself; returns its exit status and standard output."""
        try:
            output, _ = self._process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            self.stop()
            raise Failed(f"{self.name} did not end within {timeout_s:.0f} s") from error
        return self._process.returncode, output.decode(errors="replace")

    def stop(self) -> None:
        """Asks it to end, and insists after a while. Does nothing when it has ended."""
        if self.is_running():
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def last_words(self) -> str:
        lines = self.log_path.read_text(encoding="utf-8", errors="replace").split("\n")
        own = [
            line for line in lines if line.strip() and not line.startswith("==")
        ]  # valgrind's begin so
        return own[-1] if own else "it said nothing"

    def _read_line(self, timeout_s: float) -> str:
        deadline = time.monotonic() + timeout_s
        received = b""
        assert self._process.stdout  # a pipe, see __init__
        descriptor = self._process.stdout.fileno()
        while not received.endswith(b"\n"):
            readable, _, _ = select.select(
                [descriptor], [], [], max(0.0, deadline - time.monotonic())
            )
            chunk = os.read(descriptor, 1) if readable else b""
            if not chunk:
                break
            received += chunk
        return received.decode(errors="replace").strip()


def _inherited() -> dict[str, str]:
    """Our environment without the variables that would change a program's flags behind the stage's back."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(_FLAG_VARIABLES)
    }


def run_tool(command: list[str], what: str, timeout_s: float = 600) -> str:
    """Runs a tool to its end; returns its standard output. Failed with its last line otherwise."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise Failed(f"{what}: {command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{what}: {command[0]} did not end within {timeout_s:.0f} s") from error
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "it said nothing").split("\n")
        raise Failed(f"{what}: {lines[-1]}")
    return done.stdout
