#!/usr/bin/env python3
"""Runs the Python tests of one folder, several files at once, and ends with one line: N passed, N failed, N skipped."""

import argparse
import io
import multiprocessing
import os
import signal
import sys
import time
import unittest
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Outcome:
    """What became of the tests of one file."""

    module: str
    passed: int = 0
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run_module(module: str) -> Outcome:
    start = time.monotonic()
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
    outcome = Outcome(module, seconds=time.monotonic() - start)
    outcome.failed = [f"FAILED {test}\n{trace}" for test, trace in result.failures + result.errors]
    outcome.failed += [
        f"FAILED {test}\nunexpected success\n" for test in result.unexpectedSuccesses
    ]
    outcome.skipped = [f"skipped {test}: {reason}" for test, reason in result.skipped]
    failed_tests = {
        getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors
    }
    outcome.passed = max(0, result.testsRun - len(failed_tests) - len(result.skipped))
    return outcome


def report(outcome: Outcome) -> None:
    for text in outcome.failed + outcome.skipped:
        print(text)
    print(
        f"{outcome.module}: {outcome.passed} passed, {len(outcome.failed)} failed, "
        f"{len(outcome.skipped)} skipped in {outcome.seconds:.1f} s",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="such as tests/e2e")
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help="such as test_idle; default: all"
    )
    parser.add_argument(
        "--build", metavar="DIR", help="where the programs are (default: build, or TURNSTILE_BUILD)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        default=2 * (os.cpu_count() or 1),
        help="test files at once (default: two for each core, as tests mostly wait)",
    )
    arguments = parser.parse_args()
    if arguments.build:
        os.environ["TURNSTILE_BUILD"] = arguments.build
    # A shell starts what it puts in the background with SIGINT ignored, and all that is started from there inherits it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The tests' own support modules, and the project's packages; handed on to the processes that run the files.
    sys.path[:0] = [str(arguments.folder.resolve()), str(Path(__file__).resolve().parents[1])]
    # The longest first, so that none is left for the end.
    by_length = sorted(
        arguments.folder.glob("test_*.py"), key=lambda path: path.stat().st_size, reverse=True
    )
    modules = arguments.modules or [path.stem for path in by_length]

    outcomes = []
    with multiprocessing.get_context("spawn").Pool(
        min(arguments.jobs, len(modules)), maxtasksperchild=1
    ) as pool:
        for outcome in pool.imap_unordered(run_module, modules, chunksize=1):
            report(outcome)
            outcomes.append(outcome)
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(len(outcome.failed) for outcome in outcomes)
    skipped = sum(len(outcome.skipped) for outcome in outcomes)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
