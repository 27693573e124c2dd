"""The real programs, as the end-to-end tests start them."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from waiting import LONG_S

from rig import processes
from rig.errors import Failed

BUILD = Path(os.environ.get("TURNSTILE_BUILD", Path(__file__).parents[2] / "build")).resolve()
SANITIZED = BUILD.name in ("address", "thread")

_CHILD_CRASHED = re.compile(r"a child died pid=\d+ status=0x8?[4678b]\b")
_REPORT = re.compile(r"\w+Sanitizer: |runtime error: ")  # of a sanitizer
_CRASHES = (4, 6, 7, 8, 11)  # the signals

# A server that cuts off a request which never ends leaves its thread behind on purpose.
_NO_LEAKED_THREADS = " report_thread_leaks=0"


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """This process's environment, without variables that set flags of the programs."""
    options = {"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") + _NO_LEAKED_THREADS}
    return processes.clean_environment() | options | (extra or {})


def run(
    name: str, *flags: object, env: dict[str, str] | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program until it ends."""
    command = [str(BUILD / name), *map(str, flags)]
    return subprocess.run(
        command,
        env=environment(env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=2 * LONG_S,
        check=False,
    )


class Program(processes.Program):
    """A server that is ready once it is constructed, and is checked for complaints at the end."""

    children_may_crash = False  # of --model process, in a library of others

    def __init__(
        self,
        name: str,
        flags: Sequence[str],
        log: Path,
        env: dict[str, str] | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        """prefix is put before the command: strace, for example."""
        self._is_end_known = False
        command = [*prefix, str(BUILD / name), *flags]
        super().__init__(name, command, log, environment=environment(env))
        try:
            self.address = self.wait_ready(2 * LONG_S)
        except Failed as error:
            raise AssertionError(f"{error}\n{self.ready_line!r}\n{self.log()}") from error

    def __str__(self) -> str:
        """HOST:PORT, as a flag of another program takes it."""
        return str(self.address)

    def wait(self, timeout_s: float = LONG_S) -> int:
        self._is_end_known = True
        return super().wait(timeout_s)

    def stop(self) -> int:
        was_known = self._is_end_known
        status = super().stop()
        self._is_end_known = was_known  # whoever stops it may not look at how it ended
        return status

    def finish(self) -> list[str]:
        """Stops it if it still runs. Returns what went wrong, with its log.

        Also if it died and no test has asked how it ended.
        """
        complaints = []
        was_running, was_known = self.is_running(), self._is_end_known
        status = self.stop()
        has_crashed = -status in _CRASHES and not was_known
        if has_crashed or (was_running and status != 0):
            complaints.append(f"{self.name} ended with {status}\n{self.log()}")
        has_lost_child = bool(_CHILD_CRASHED.search(self.log())) and not self.children_may_crash
        if has_lost_child or _REPORT.search(self.log()):
            complaints.append(self.log())
        return complaints
