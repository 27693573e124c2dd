#!/usr/bin/env python3
"""Runs the Python tests of some folders, several files at once, and the unit tests beside them.

    tests/run_unittests.py tests/e2e tests/lab       all of both
    tests/run_unittests.py tests/e2e idle transfer   the files with one of these in their names
    tests/run_unittests.py tests/e2e http_files@tls  this file, with HTTP over TLS
    tests/run_unittests.py --unit                    the unit tests, on real database servers

A test that failed is run again alone when all others have ended. If it passes then, it counts as
passed and is named as UNSTEADY; more than five of these fail the run. A crash, a sanitizer's report
and a wrong byte are never run again. tests/unsteady.md says more.
The last line says how many passed, failed and were skipped: N passed, N failed, N skipped.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import gates
from runner import again, files, pool, temporary, times
from runner.outcome import Outcome, Runnable
from runner.packing import Packing
from runner.unit import UnitTests

# The slowest test takes about 60 s on a quiet machine, and a few times as long with a sanitizer.
LIMIT_S = 600


def report(outcome: Outcome) -> None:
    for failure in outcome.failed:
        print(failure.text)
    for text in outcome.skipped:
        print(text)
    print(
        f"{outcome.file.module}: {outcome.passed} passed, {len(outcome.failed)} failed, "
        f"{len(outcome.skipped)} skipped in {outcome.seconds:.1f} s, {outcome.cpu_s:.1f} s of CPU",
        flush=True,
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "folders_and_names",
        nargs="*",
        metavar="FOLDER|NAME",
        help="folders such as tests/e2e, then names of files or parts of them (default: all)",
    )
    parser.add_argument(
        "--unit",
        nargs="?",
        const="",
        metavar="TEST",
        help="also the unit tests: all, or those that this names in the way of Catch2",
    )
    parser.add_argument("--list", action="store_true", help="list the files, and run none")
    parser.add_argument("--record", action="store_true", help="write down what each file takes")
    parser.add_argument(
        "--build", metavar="DIR", help="folder of the programs (default: TURNSTILE_BUILD, or build)"
    )
    parser.add_argument(
        "--limit", type=int, default=LIMIT_S, metavar="S", help="seconds for one test (%(default)s)"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="test files that run at once (default: as many as keep the cores busy, ten for each "
        "core at the most)",
    )
    parser.add_argument(
        "--no-second-chance", action="store_true", help="do not run again what failed"
    )
    return parser.parse_args()


def build_folder() -> Path:
    return Path(os.environ.get("TURNSTILE_BUILD") or files.TESTS.parent / "build")


def chosen_files(arguments: argparse.Namespace) -> list[Runnable]:
    """Longest first. A gate leaves some out, but never files whose names were given."""
    texts = arguments.folders_and_names
    # "loadgen" is a part of names, although a folder of the sources has this name too.
    folders = [Path(text) for text in texts if "/" in text]
    names = [text for text in texts if "/" not in text]
    for folder in folders or [Path(text) for text in texts[:1]]:
        if folder not in folders or not folder.is_dir():
            raise files.NoSuchFile(f"there is no folder {folder}")
    found = [file for folder in folders for file in files.find(folder.resolve())]
    found += [file.over_tls() for file in found if times.name_of(file) in gates.OVER_TLS]
    if names:
        found = files.select(found, names)
    gate = "" if names else os.environ.get(gates.GATE, "")
    sanitizer = gates.sanitizer_of(build_folder())
    chosen: list[Runnable] = [
        file for file in found if gates.takes(gate, sanitizer, times.name_of(file))
    ]
    if arguments.unit is not None:
        chosen.append(UnitTests(build_folder() / "unit_tests", arguments.unit))
    return times.longest_first(chosen)


def give_second_chance(outcomes: Sequence[Outcome], limit_s: int) -> list[again.Unsteady]:
    """Returns what was unsteady. With the variable LATER the caller of this program does it."""
    if later := os.environ.get(again.LATER):
        again.leave_for_later(outcomes, Path(later))
        return []

    def run(file: Runnable) -> Outcome:
        print(f"== again, alone: {file}", flush=True)
        (outcome,) = pool.run([file], Packing(jobs=1), limit_s)
        report(outcome)
        return outcome

    return again.run_again(outcomes, run)


def summarise(outcomes: Sequence[Outcome], unsteady: Sequence[again.Unsteady]) -> int:
    """Prints the counts of each folder, if there are several, and of all. Returns the exit code."""
    for one in unsteady:
        print(one)
    too_many = len(unsteady) if len(unsteady) > again.MOST else 0
    if too_many:
        print(f"{too_many} tests are unsteady; {again.MOST} is the most that a run may have")
    kinds = list(dict.fromkeys(sorted(outcome.file.kind for outcome in outcomes)))
    for kind in [*kinds, ""] if len(kinds) > 1 else [""]:
        counted = [outcome for outcome in outcomes if kind in ("", outcome.file.kind)]
        passed = sum(outcome.passed for outcome in counted) - (0 if kind else too_many)
        failed = sum(len(outcome.failed) for outcome in counted) + (0 if kind else too_many)
        skipped = sum(len(outcome.skipped) for outcome in counted)
        print(f"{kind}{': ' if kind else ''}{passed} passed, {failed} failed, {skipped} skipped")
        if passed + failed == 0:
            print(f"{kind or 'all'}: no test ran")
            return 1
    return 0 if failed == 0 and passed > 0 else 1


def main() -> int:
    arguments = parse_arguments()
    if arguments.build:
        os.environ["TURNSTILE_BUILD"] = arguments.build
    # A shell starts its background jobs with SIGINT ignored. The programs that the tests start
    # would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The packages of the project. The processes that run the files inherit this.
    sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
    try:
        chosen = chosen_files(arguments)
    except files.NoSuchFile as error:
        print(f"run_unittests: {error}", file=sys.stderr)
        return 2
    if arguments.list:
        print("\n".join(times.name_of(file) for file in chosen))
        return 0
    if not chosen:
        print("run_unittests: no folder is named; --help says how", file=sys.stderr)
        return 2
    temporary.use_one_folder()
    outcomes = []
    for outcome in pool.run(chosen, Packing(arguments.jobs), arguments.limit):
        report(outcome)
        outcomes.append(outcome)
    if arguments.record:
        times.record(outcomes)
    unsteady = [] if arguments.no_second_chance else give_second_chance(outcomes, arguments.limit)
    return summarise(outcomes, unsteady)


if __name__ == "__main__":
    sys.exit(main())
