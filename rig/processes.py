"""Running programs. Each is known by its process id; none outlives the process that started it."""

import contextlib
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .child import Child
from .cores import Cores, format_cores, verify_cores
from .errors import Failed

_ROOT = Path(__file__).resolve().parents[1]
_READY = re.compile(r"READY (unix:/.+?|\S+:[0-9]+)(?: [a-z]+=(?:unix:/\S+|\S+:[0-9]+))*")
_STOP_TIMEOUT_S = 30.0
_PAUSE_TIMEOUT_S = 30.0
_FLAG_VARIABLES = ("FILESERVER_", "AUTHSERVER_", "LOADGEN_")
# Without this some files of a server in /proc, such as io and fd, can only be read with the
# capability SYS_PTRACE, which other users do not have, and root in a container neither.
_OBSERVABLE = {f"{server}_DEBUGGABLE": "true" for server in ("FILESERVER", "AUTHSERVER")}


class Address(NamedTuple):
    """Where a server listens. str() gives the form that flags take, HOST:PORT.

    Of a Unix-domain socket, host is "unix:PATH" and port is 0.
    """

    host: str
    port: int

    def __str__(self) -> str:
        if self.host.startswith("unix:"):
            return self.host
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Program:
    """One running program. It runs from the construction until stop() or kill(), and once more from
    start_again().

    Its standard error is appended to log_path. Its standard input is empty, or has the given lines
    and then stays open as long as we live. The kernel kills it when the thread that started it
    ends. It has a process group of its own, so Ctrl-C does not
    reach it. It stays in our session, because a new one would get a scheduling group of its own
    (autogroup). The programs of a measurement would then share the cores by group, not by thread.

    Threads: one.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log_path: Path,
        *,
        cores: Cores = (),
        environment: dict[str, str] | None = None,
        input_lines: str | None = None,
    ) -> None:
        """Failed when the command cannot be started.

        cores are those that it may use; () leaves it unpinned. environment is added to ours, from
        which variables that would set flags of our programs are removed.
        """
        self.name = name
        self.command = list(command)
        self.cores = cores
        self.log_path = log_path
        self.ready_line = ""
        self._output = b""
        self._environment = environment or {}
        self._process = self._started(input_lines)
        # Popen must not know it: communicate() would close it.
        self._input, self._process.stdin = self._process.stdin, None
        if self._input and input_lines:
            self._input.write(input_lines.encode())

    def start_again(self, command: Sequence[str]) -> None:
        """With this command, the same cores and the same log. Requires: stop() or kill(), and no
        input.
        """
        self.command = list(command)
        self._process = self._started(None)

    def _started(self, input_lines: str | None) -> Child:
        pinned = ["taskset", "-c", format_cores(self.cores)] if self.cores else []
        with open(self.log_path, "ab") as log:
            try:
                return Child(
                    ["setpriv", "--pdeathsig", "KILL", *pinned, *self.command],
                    stdin=subprocess.DEVNULL if input_lines is None else subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    bufsize=0,
                    env=_defaults() | clean_environment() | self._environment,
                    **_own_group(),
                )
            except FileNotFoundError as error:
                raise Failed(f"{error.filename} is missing (package util-linux)") from error

    @property
    def pid(self) -> int:
        return self._process.pid  # setpriv and taskset become the program, so the id stays

    @property
    def used_s(self) -> float | None:
        """The CPU time of it and of all that it waited for; None while it runs. See child.py."""
        return self._process.used_s

    def command_line(self) -> str:
        """The command as a reader may repeat it from the project's folder."""
        return shlex.join(self.command).replace(f"{_ROOT}{os.sep}", "")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def move_to(self, cores: Cores) -> None:
        """Pins all its threads. Threads that it starts later inherit the cores."""
        self.cores = cores
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                os.sched_setaffinity(int(thread.name), cores)
            except ProcessLookupError:
                continue  # it has just ended

    def wait_ready(self, timeout_s: float) -> Address:
        """Waits for the READY line and returns its address.

        Failed, and the program is stopped, when it ends before or needs longer than timeout_s.
        """
        self.ready_line = self.read_line(timeout_s)
        ready = _READY.fullmatch(self.ready_line.strip())
        if not ready:
            self.stop()
            raise Failed(f"{self.name} did not become ready: {self.last_words()}")
        if self.cores:
            verify_cores(self.name, self.pid, self.cores)
        return _address(ready[1])

    def read_line(self, timeout_s: float) -> str:
        """The next line of its standard output; what follows stays in the pipe.

        Incomplete when the output ends or the time is over.
        """
        deadline = time.monotonic() + timeout_s
        received = b""
        assert self._process.stdout  # a pipe, see __init__
        descriptor = self._process.stdout.fileno()
        # Single bytes: what is behind the line is for others.
        while not received.endswith(b"\n"):
            left_s = max(0.0, deadline - time.monotonic())
            readable, _, _ = select.select([descriptor], [], [], left_s)
            chunk = os.read(descriptor, 1) if readable else b""
            if not chunk:
                break
            received += chunk
        return received.decode(errors="replace")

    def send(self, line: str) -> None:
        """To its standard input. Does nothing when it has ended. Requires: input_lines."""
        assert self._input
        with contextlib.suppress(BrokenPipeError):
            self._input.write(line.encode())

    def further_address(self, name: str) -> Address:
        """The address that the READY line calls NAME=HOST:PORT. Requires: wait_ready() returned."""
        words = self.ready_line.split()[2:]
        return _address(dict(word.split("=", 1) for word in words)[name])

    def wait_for_output(self, timeout_s: float) -> tuple[int, str]:
        """Waits until the program has ended; returns its exit status and its standard output.

        Failed, and the program is stopped, when it needs longer than timeout_s.
        """
        try:
            output, _ = self._process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            self.stop()
            raise Failed(f"{self.name} did not end within {timeout_s:.0f} s") from error
        return self._process.returncode, output.decode(errors="replace")

    def signal(self, number: int) -> None:
        """Does nothing when the program has ended."""
        self._process.send_signal(number)

    def wait(self, timeout_s: float = _STOP_TIMEOUT_S) -> int:
        """Returns the exit status, negative for a signal. TimeoutExpired if it still runs."""
        return self._process.wait(timeout_s)

    def stop(self) -> int:
        """Sends SIGTERM, and SIGKILL if that does not end it in time. Returns as wait() does."""
        self.signal(signal.SIGTERM)
        try:
            self.wait()
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
        return self._end()

    def kill(self) -> None:
        """Ends it at once, with SIGKILL. Returns when it is gone."""
        self.signal(signal.SIGKILL)
        self._end()

    def pause(self) -> None:
        """Stops all its threads where they are. resume() lets them go on."""
        pause(self.pid)

    def resume(self) -> None:
        self.signal(signal.SIGCONT)

    def log(self) -> str:
        """What it has written to its standard error, and what was in log_path before."""
        return self.log_path.read_text(encoding="utf-8", errors="surrogateescape")

    def last_words(self) -> str:
        """The last line of its log, without those of valgrind."""
        own = [line for line in self.log().split("\n") if line.strip() and line[:2] != "=="]
        return own[-1] if own else "it said nothing"

    def output_at_end(self) -> str:
        """What it printed after the READY line. Requires: stop() or kill() has returned."""
        return self._output.decode(errors="replace")

    def _end(self) -> int:
        """Reads what is left in the pipe without waiting: a child may hold its other end."""
        status = self._process.wait()
        if self._input:
            self._input.close()
        pipe = self._process.stdout
        if pipe and not pipe.closed:
            os.set_blocking(pipe.fileno(), False)
            self._output += pipe.read() or b""
            pipe.close()
        return status


def wait_listening(program: Program, port: int, timeout_s: float) -> None:
    """Waits until the port is in the kernel's table of listeners, so that no connection is made.

    This is for programs without a READY line. Failed when the program ends or needs longer.
    """
    wanted = f":{port:04X} "
    deadline = time.monotonic() + timeout_s
    while not any(
        wanted in line and " 0A " in line for line in Path("/proc/net/tcp").read_text().splitlines()
    ):
        if time.monotonic() > deadline or not program.is_running():
            raise Failed(f"{program.name} did not listen: {program.last_words()}")
        time.sleep(0.05)


def _address(text: str) -> Address:
    if text.startswith("unix:"):
        return Address(text, 0)
    host, _, port = text.rpartition(":")
    return Address(host.strip("[]"), int(port))


def _own_group() -> dict[str, Any]:
    """Popen's arguments for a new process group; Python 3.10 has no parameter for that."""
    if sys.version_info >= (3, 11):
        return {"process_group": 0}
    return {"preexec_fn": os.setpgrp}


def _defaults() -> dict[str, str]:
    return {} if _may_look_into_every_process() else _OBSERVABLE


def _may_look_into_every_process() -> bool:
    sys_ptrace = 1 << 19
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) & sys_ptrace)


def clean_environment() -> dict[str, str]:
    """Our environment without the variables that set flags of the programs under test."""
    return {
        name: value for name, value in os.environ.items() if not name.startswith(_FLAG_VARIABLES)
    }


def pause(pid: int) -> None:
    """Stops every thread of the process; returns when all have stopped. SIGCONT lets it go on."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + _PAUSE_TIMEOUT_S
    while not all(_has_stopped(thread) for thread in Path(f"/proc/{pid}/task").iterdir()):
        if time.monotonic() > deadline:
            raise Failed(f"process {pid} did not stop within {_PAUSE_TIMEOUT_S:.0f} s")
        time.sleep(0.01)


def _has_stopped(thread: Path) -> bool:
    try:
        return (thread / "stat").read_text().rpartition(")")[2].split()[0] == "T"
    except (FileNotFoundError, ProcessLookupError):
        return True  # it has just ended


def run_tool(
    command: Sequence[str],
    what: str,
    timeout_s: float = 600,
    secrets: Mapping[str, str] | None = None,
    sent: str = "",
) -> str:
    """Runs a tool until it ends; returns its standard output.

    secrets are variables that no process list shows. sent is its standard input. Failed, with its
    last line, when it cannot run, fails or needs too long.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            input=sent,
            env={**os.environ, **(secrets or {})},
        )
    except FileNotFoundError as error:
        raise Failed(f"{what}: {command[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{what}: {command[0]} did not end within {timeout_s:.0f} s") from error
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or "it said nothing").split("\n")
        raise Failed(f"{what}: {lines[-1]}")
    return done.stdout
