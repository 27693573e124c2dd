"""Runs tests on a copy of the sources, with a time limit, and leaves no process behind."""

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
_PR_SET_CHILD_SUBREAPER = 36


class Verdict(Enum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    TIMED_OUT = "did not end in time"


@dataclass(frozen=True)
class Outcome:
    """output is what the test printed."""

    verdict: Verdict
    seconds: float
    output: str


def adopt_orphans() -> None:
    """From now on, processes that lose their parent below us become our children.

    So run_test() can end what a test that was killed has left.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def is_unit(test: str) -> bool:
    return test.startswith(("[", "unit/"))


def run_test(
    test: str, tree: Path, limit_s: float, variables: Mapping[str, str] | None = None
) -> Outcome:
    """Requires: adopt_orphans() was called, the test's programs are built, we have no children.

    The test and all that it starts have these variables of the environment. Kills the test after
    limit_s, and then every process that it left. Its temporary files are removed.
    """
    start = time.monotonic()
    scratch = tempfile.mkdtemp(prefix="mutants-")
    Path(scratch).chmod(0o755)  # a test may start programs of another user
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            environment = _environment(tree, scratch) | dict(variables or {})
            status = _run(_command_of(test), tree, environment, limit_s, output.fileno())
            output.seek(0)
            text = output.read()
    finally:
        end_children()
        shutil.rmtree(scratch, ignore_errors=True)
    return Outcome(_verdict_of(status, text), time.monotonic() - start, text)


def _command_of(test: str) -> list[str]:
    if is_unit(test):
        name = test
        if test.startswith("unit/"):  # a comma would begin another name
            name = test.removeprefix("unit/").replace(",", r"\,")
        return ["build/unit_tests", f"*{name}" if name.startswith("-") else name]  # no option
    folder, module = test.split("/", 1)
    runner = [sys.executable, "tests/run_unittests.py", "--jobs=1", "--no-second-chance"]
    return [*runner, f"tests/{folder}", module]


def _environment(tree: Path, scratch: str) -> dict[str, str]:
    return os.environ | {
        "TURNSTILE_BUILD": str(tree / "build"),
        "TMPDIR": scratch,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _run(
    command: list[str], tree: Path, environment: dict[str, str], limit_s: float, output: int
) -> int | None:
    """Returns the exit status, or None after the time limit."""
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            return process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            process.kill()


def _verdict_of(status: int | None, output: str) -> Verdict:
    if status is None:
        return Verdict.TIMED_OUT
    counts = _COUNTS.findall(output)
    passed, failed, skipped = (int(count or 0) for count in counts[-1]) if counts else (0, 0, 0)
    if status == 0 and passed > 0 and failed == 0:
        return Verdict.PASSED
    return Verdict.SKIPPED if counts and failed == 0 and skipped > 0 else Verdict.FAILED


def end_children() -> None:
    """Kills all our children. Theirs become ours then, and are killed too."""
    while children := _children():
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _children() -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # the process has ended
            # The name, in parentheses, may contain anything. State and parent follow it.
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found
