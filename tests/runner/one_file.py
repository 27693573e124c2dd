"""Runs one file of tests in this process. No test takes longer than the time limit."""

import io
import os
import signal
import sys
import time
import unittest
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType

from .files import TestFile
from .outcome import Failure, Outcome, cpu_of_this_process_s, is_report_of_a_fault

_Error = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class TookTooLong(Exception):
    """Raised inside a test that hangs. Its traceback shows where, and its clean-ups still run."""


class _Result(unittest.TextTestResult):
    """Tells which test begins, and gives each test, and what is between two, the time limit."""

    limit_s = 0
    begins: Callable[[str], None]

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.wrong_bytes: set[str] = set()  # tests that received bytes which are not the file's

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        signal.alarm(self.limit_s)
        self.begins(test.id())
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        signal.alarm(self.limit_s)

    def addFailure(self, test: unittest.TestCase, err: _Error) -> None:  # noqa: N802
        self._look_for_wrong_bytes(test, err)
        super().addFailure(test, err)

    def addSubTest(  # noqa: N802
        self, test: unittest.TestCase, subtest: unittest.TestCase, err: _Error | None
    ) -> None:
        if err:
            self._look_for_wrong_bytes(test, err)
        super().addSubTest(test, subtest, err)

    def _look_for_wrong_bytes(self, test: unittest.TestCase, err: _Error) -> None:
        # Such as rig.errors.WrongBytes, of a test that compares in a way of its own.
        is_said = err[0] is not None and err[0].__name__ == "WrongBytes"
        if is_said or any(_are_wrong(*pair) for pair in _compared(err[2])):
            self.wrong_bytes.add(test.id())


def run(file: TestFile, limit_s: int, begins: Callable[[str], None]) -> Outcome:
    """Calls begins(id) before each test. Requires: no other file of tests ran in this process."""
    # The support modules beside the tests, and the packages of the project.
    folders = {file.folder.resolve(), *(path.parent for path in file.folder.rglob("test_*.py"))}
    sys.path[:0] = [*map(str, sorted(folders)), str(file.path.parent)]

    os.environ["TURNSTILE_OVER"] = file.over  # tests/e2e/http_client.py

    def hangs(_signal: int, _frame: FrameType | None) -> None:
        signal.alarm(limit_s)  # the clean-ups have a limit too
        raise TookTooLong(f"no end after {limit_s} s")

    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(limit_s)
    start = time.monotonic()
    _Result.limit_s = limit_s
    _Result.begins = staticmethod(begins)
    suite = unittest.defaultTestLoader.loadTestsFromName(file.tests)
    runner = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0, resultclass=_Result)
    result = runner.run(suite)
    signal.alarm(0)
    assert isinstance(result, _Result)
    return _outcome(file, result, time.monotonic() - start)


def _outcome(file: TestFile, result: _Result, seconds: float) -> Outcome:
    outcome = Outcome(file, seconds=seconds, cpu_s=cpu_of_this_process_s())
    reports = [(test, trace) for test, trace in result.failures + result.errors]
    reports += [(test, "unexpected success\n") for test in result.unexpectedSuccesses]
    for test, trace in reports:
        name = _name_of(file, test)
        is_final = is_report_of_a_fault(trace) or _id_of(test) in result.wrong_bytes
        outcome.failed.append(Failure(name, f"FAILED {test}\n{trace}", is_final))
    outcome.skipped = [f"skipped {test}: {reason}" for test, reason in result.skipped]
    not_passed = [test for test, _ in result.failures + result.errors + result.skipped]
    outcome.passed = result.testsRun - len(_tests_of(not_passed + result.unexpectedSuccesses))
    return outcome


def _name_of(file: TestFile, reported: unittest.TestCase) -> str:
    """What runs it alone: module.Class.test; module.Class, or module, if what is around failed."""
    test = getattr(reported, "test_case", reported)
    if isinstance(test, unittest.TestCase):  # the class may be imported from another module
        return f"{file.module}.{type(test).__qualname__}.{test.id().rpartition('.')[2]}"
    around = _id_of(reported).partition("(")[2].rstrip(")")  # of "setUpClass (module.Class)"
    return ".".join([file.module, *around.split(".")[1:]])


def _id_of(reported: unittest.TestCase) -> str:
    return str(getattr(reported, "test_case", reported).id())


def _tests_of(reported: Sequence[object]) -> set[str]:
    """The names of those that began. A subtest is of its test; a class may end before its tests."""
    tests = (getattr(test, "test_case", test) for test in reported)
    return {test.id() for test in tests if isinstance(test, unittest.TestCase)}


def _compared(trace: TracebackType | None) -> list[tuple[object, object]]:
    """The values that an assertEqual() on the way to this failure compared."""
    found = []
    while trace:
        frame = trace.tb_frame
        if frame.f_code is unittest.TestCase.assertEqual.__code__:
            found.append((frame.f_locals.get("first"), frame.f_locals.get("second")))
        trace = trace.tb_next
    return found


def _are_wrong(first: object, second: object) -> bool:
    """Whether one is a content with another byte in some place than the other one.

    What is cut off, and the refusal of a server that is busy, are no wrong bytes. Of an answer that
    is a status and a content, the content counts only if the status is the same.
    """
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        pairs = list(zip(first, second, strict=True))
        return all(one == other or _are_wrong(one, other) for one, other in pairs) and any(
            _are_wrong(one, other) for one, other in pairs
        )
    if not isinstance(first, bytes) or not isinstance(second, bytes):
        return False
    length = min(len(first), len(second))
    is_refusal = any(text.startswith((b"ERR ", b"HTTP/1.")) for text in (first, second))
    return first[:length] != second[:length] and not is_refusal
