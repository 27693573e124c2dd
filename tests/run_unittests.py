#!/usr/bin/env python3
"""Runs the Python tests of one folder and of the folders in it, several files at once.

The last line says how many passed, failed and were skipped: N passed, N failed, N skipped.
"""

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
    """The results of the tests of one file. Each entry of a list is a text for people."""

    module: str
    passed: int = 0
    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run_module(module: str) -> Outcome:
    """Runs one file of tests in this process."""
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


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="such as tests/e2e")
    parser.add_argument(
        "modules", nargs="*", metavar="MODULE", help="such as test_idle; default: all"
    )
    parser.add_argument(
        "--build", metavar="DIR", help="folder of the programs (default: TURNSTILE_BUILD, or build)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        default=2 * (os.cpu_count() or 1),
        help="test files that run at once (default: two per core, because tests mostly wait)",
    )
    return parser.parse_args()


def run_modules(modules: list[str], jobs: int) -> list[Outcome]:
    """Runs each file in a process of its own, up to `jobs` at once, and reports it as it ends."""
    outcomes = []
    with multiprocessing.get_context("spawn").Pool(
        min(jobs, len(modules)), maxtasksperchild=1
    ) as pool:
        for outcome in pool.imap_unordered(run_module, modules, chunksize=1):
            report(outcome)
            outcomes.append(outcome)
    return outcomes


def main() -> int:
    arguments = parse_arguments()
    if arguments.build:
        os.environ["TURNSTILE_BUILD"] = arguments.build
    # A shell starts its background jobs with SIGINT ignored. The programs that the tests start
    # would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The support modules beside the tests, and the packages of the project. The processes that run
    # the files inherit these paths.
    files = list(arguments.folder.resolve().rglob("test_*.py"))
    if len({path.stem for path in files}) < len(files):
        sys.exit("two files of tests have the same name")
    folders = dict.fromkeys([arguments.folder.resolve(), *(path.parent for path in files)])
    sys.path[:0] = [*map(str, folders), str(Path(__file__).resolve().parents[1])]
    # The longest file starts first, so that it does not run alone at the end.
    by_length = sorted(files, key=lambda path: path.stat().st_size, reverse=True)
    outcomes = run_modules(arguments.modules or [path.stem for path in by_length], arguments.jobs)
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(len(outcome.failed) for outcome in outcomes)
    skipped = sum(len(outcome.skipped) for outcome in outcomes)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
