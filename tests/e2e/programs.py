"""The real programs: started on a free port, waited for until READY, and stopped by their pid."""

import os
import re
import selectors
import signal
import subprocess
from pathlib import Path

from client import Address
from waiting import LONG_S

BUILD = Path(os.environ.get("TURNSTILE_BUILD", Path(__file__).parents[2] / "build")).resolve()
SANITIZED = BUILD.name in ("address", "thread")

_SANITIZER_REPORT = re.compile(r"^.*(?:\w+Sanitizer: |runtime error: ).*$", re.MULTILINE)
_OUR_VARIABLE = re.compile(r"(AUTHSERVER|FILESERVER|LOADGEN)_")


# A server that cuts a request which never ends leaves its thread behind on purpose.
_NO_LEAKED_THREADS = " report_thread_leaks=0"


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would configure the programs."""
    kept = {name: value for name, value in os.environ.items() if not _OUR_VARIABLE.match(name)}
    kept["TSAN_OPTIONS"] = kept.get("TSAN_OPTIONS", "") + _NO_LEAKED_THREADS
    return kept | (extra or {})


def run(
    name: str, *flags: object, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program that is expected to end by itself."""
    command = [str(BUILD / name), *map(str, flags)]
    return subprocess.run(
        command, env=environment(env), capture_output=True, text=True, timeout=2 * LONG_S
    )


class Program:
    """A server that runs. Its log is kept in `log`."""

    def __init__(
        self,
        name: str,
        flags: list[str],
        log: Path,
        env: dict[str, str] | None = None,
        prefix: list[str] | None = None,
    ) -> None:
        self.name = name
        self._log = log
        command = [*(prefix or []), str(BUILD / name), *flags]
        with log.open("ab") as stderr:
            self._process = subprocess.Popen(
                command,
                env=environment(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        self.pid = self._process.pid
        try:
            self.ready_line = self._wait_for_line()
            ready = re.fullmatch(r"READY (.+):(\d+)\n", self.ready_line)
            assert ready, f"{name} is not ready: {self.ready_line!r}\n{self.log()}"
        except BaseException:
            self.kill()
            raise
        self.address: Address = (ready[1].strip("[]"), int(ready[2]))

    def _wait_for_line(self) -> str:
        assert self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            assert selector.select(2 * LONG_S), f"{self.name} says nothing\n{self.log()}"
        return self._process.stdout.readline().decode()

    def __str__(self) -> str:
        """HOST:PORT, as a flag of another program wants it."""
        return f"{self.address[0]}:{self.address[1]}"

    def log(self) -> str:
        return self._log.read_text(errors="surrogateescape")

    def is_running(self) -> bool:
        return self._process.poll() is None

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def wait(self) -> int:
        """The exit status; negative for a signal."""
        return self._process.wait(LONG_S)

    def output_at_end(self) -> str:
        """What it has printed behind its READY line, once it has ended."""
        assert self._process.stdout
        return self._process.stdout.read().decode()

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def finish(self) -> list[str]:
        """Stops it if it still runs; returns what there is to complain about."""
        complaints = []
        if self.is_running():
            try:
                status = self.stop()
                if status != 0:
                    complaints.append(f"{self.name} ended with {status}\n{self.log()}")
            except subprocess.TimeoutExpired:
                self.kill()
                complaints.append(f"{self.name} did not stop\n{self.log()}")
        if self._process.stdout:
            self._process.stdout.close()
        if _SANITIZER_REPORT.search(self.log()):
            complaints.append(self.log())
        return complaints
