"""The unit tests as one member of the pool: one program, with real database servers beside it."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .files import TESTS
from .outcome import Failure, Outcome, cpu_of_this_process_s, is_report_of_a_fault

_COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
_FAILED = re.compile(r"^FAILED (.+)$", re.MULTILINE)
_NOISE = re.compile(r" (?:info|warn) ")  # log lines of the tested code
_WORD_S = 5.0  # how often the pool hears that the program still runs; it limits each test itself


@dataclass(frozen=True)
class UnitTests:
    """All tests of the program, or those that a test specification of Catch2 names."""

    program: Path
    specification: str = ""
    kind: str = "unit"

    @property
    def module(self) -> str:
        return self.program.name

    def __str__(self) -> str:
        return f"{self.kind}/{self.specification or 'all'}"

    def only(self, test: str) -> UnitTests:
        return replace(self, specification=re.sub(r"([,\[\]\\*\"])", r"\\\1", test))

    def run(self, limit_s: int, begins: Callable[[str], None]) -> Outcome:
        command = [sys.executable, str(TESTS / "with-stores"), str(self.program)]
        command += ["--reporter", "compact", *filter(None, [self.specification])]
        start = time.monotonic()
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            with subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | {"TURNSTILE_TEST_LIMIT_S": str(limit_s)},
            ) as process:
                while process.poll() is None:
                    begins(self.module)
                    _wait(process)
            output.seek(0)
            text = output.read()
        return _outcome(self, process.returncode, text, time.monotonic() - start)


def _wait(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_WORD_S)


def _outcome(tests: UnitTests, status: int, text: str, seconds: float) -> Outcome:
    said = "\n".join(line for line in text.splitlines() if not _NOISE.search(line))
    outcome = Outcome(tests, seconds=seconds, cpu_s=cpu_of_this_process_s())
    is_final = is_report_of_a_fault(said)
    # The program names a test behind its checks, so what is before a name belongs to it.
    start = 0
    for name in _FAILED.finditer(said):
        own = said[start : name.start()].strip().splitlines()[-40:]
        report = "\n".join([f"FAILED unit/{name[1]}", *own]) + "\n"
        outcome.failed.append(Failure(name[1], report, is_final))
        start = name.end()
    counts = _COUNTS.findall(said)
    outcome.passed = int(counts[-1][0]) if counts else 0
    if status != 0 and not outcome.failed:
        last = "\n".join(said.splitlines()[-40:])
        what = f"FAILED unit_tests\n{last}\nthe program ended with {status}\n"
        outcome.failed.append(Failure("", what, is_final=True))
    elif not counts and outcome.failed:
        # One test ended the program, so the tests behind it did not run.
        only = outcome.failed[-1]
        outcome.failed[-1] = replace(only, is_final=True)
    return outcome
