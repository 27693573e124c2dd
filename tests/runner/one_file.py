"""Runs one file of tests in this process. No test takes longer than the time limit."""

from __future__ import annotations

import io
import resource
import signal
import sys
import time
import unittest
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType

from .files import TestFile


class TookTooLong(Exception):
    """Raised inside a test that hangs. Its traceback shows where, and its clean-ups still run."""


@dataclass
class Outcome:
    """The results of the tests of one file. Each entry of a list is a text for people."""

    file: TestFile
    passed: int = 0
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_s: float = 0.0  # with the programs that it started and waited for


class _Result(unittest.TextTestResult):
    """Tells which test begins, and gives each test, and what is between two, the time limit."""

    limit_s = 0
    begins: Callable[[str], None]

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        signal.alarm(self.limit_s)
        self.begins(test.id())
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        signal.alarm(self.limit_s)


def run(file: TestFile, limit_s: int, begins: Callable[[str], None]) -> Outcome:
    """Calls begins(id) before each test. Requires: no other file of tests ran in this process."""
    # The support modules beside the tests, and the packages of the project.
    folders = {file.folder.resolve(), *(path.parent for path in file.folder.rglob("test_*.py"))}
    sys.path[:0] = [*map(str, sorted(folders)), str(file.path.parent)]

    def hangs(_signal: int, _frame: FrameType | None) -> None:
        signal.alarm(limit_s)  # the clean-ups have a limit too
        raise TookTooLong(f"no end after {limit_s} s")

    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(limit_s)
    start = time.monotonic()
    _Result.limit_s = limit_s
    _Result.begins = staticmethod(begins)
    suite = unittest.defaultTestLoader.loadTestsFromName(file.tests)
    runner = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0, resultclass=_Result)  # type: ignore[arg-type]
    result = runner.run(suite)
    signal.alarm(0)
    return _outcome(file, result, time.monotonic() - start)


def _outcome(file: TestFile, result: unittest.TestResult, seconds: float) -> Outcome:
    outcome = Outcome(file, seconds=seconds, cpu_s=_cpu_s())
    outcome.failed = [f"FAILED {test}\n{trace}" for test, trace in result.failures + result.errors]
    outcome.failed += [
        f"FAILED {test}\nunexpected success\n" for test in result.unexpectedSuccesses
    ]
    outcome.skipped = [f"skipped {test}: {reason}" for test, reason in result.skipped]
    not_passed = [test for test, _ in result.failures + result.errors + result.skipped]
    outcome.passed = result.testsRun - len(_tests_of(not_passed + result.unexpectedSuccesses))
    return outcome


def _cpu_s() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _tests_of(reported: Sequence[object]) -> set[str]:
    """The names of those that began. A subtest is of its test; a class may end before its tests."""
    tests = (getattr(test, "test_case", test) for test in reported)
    return {test.id() for test in tests if isinstance(test, unittest.TestCase)}
