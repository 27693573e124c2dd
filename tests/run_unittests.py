#!/usr/bin/env python3
"""Runs the Python tests of some folders, several files at once.

    tests/run_unittests.py tests/e2e tests/lab       all of both
    tests/run_unittests.py tests/e2e idle transfer   the files with one of these in their names

The last line says how many passed, failed and were skipped: N passed, N failed, N skipped.
"""

import argparse
import os
import signal
import sys
from pathlib import Path

from runner import files, pool
from runner.one_file import Outcome

# The slowest test takes about 60 s on a quiet machine, and a few times as long with a sanitizer.
LIMIT_S = 600


def report(outcome: Outcome) -> None:
    for text in outcome.failed + outcome.skipped:
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
        nargs="+",
        metavar="FOLDER|NAME",
        help="folders such as tests/e2e, then names of files or parts of them (default: all)",
    )
    parser.add_argument("--list", action="store_true", help="list the files, and run none")
    parser.add_argument("--record", action="store_true", help="write down which take longest")
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
        default=3 * (os.cpu_count() or 1),
        help="test files that run at once (default: three per core, because tests mostly wait)",
    )
    return parser.parse_args()


def chosen_files(folders_and_names: list[str]) -> list[files.TestFile]:
    # "loadgen" is a part of names, although a folder of the sources has this name too.
    folders = [Path(text) for text in folders_and_names if "/" in text]
    names = [text for text in folders_and_names if "/" not in text]
    for folder in folders or [Path(folders_and_names[0])]:
        if folder not in folders or not folder.is_dir():
            raise files.NoSuchFile(f"there is no folder {folder}")
    found = [file for folder in folders for file in files.find(folder.resolve())]
    return files.longest_first(files.select(found, names) if names else found)


def summarise(outcomes: list[Outcome]) -> int:
    """Prints the counts of each folder, if there are several, and of all. Returns the exit code."""
    kinds = list(dict.fromkeys(sorted(outcome.file.kind for outcome in outcomes)))
    for kind in [*kinds, ""] if len(kinds) > 1 else [""]:
        counted = [outcome for outcome in outcomes if kind in ("", outcome.file.kind)]
        passed = sum(outcome.passed for outcome in counted)
        failed = sum(len(outcome.failed) for outcome in counted)
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
        chosen = chosen_files(arguments.folders_and_names)
    except files.NoSuchFile as error:
        print(f"run_unittests: {error}", file=sys.stderr)
        return 2
    if arguments.list:
        print("\n".join(f"{file.kind}/{file.module}" for file in chosen))
        return 0
    outcomes = []
    for outcome in pool.run(chosen, arguments.jobs, arguments.limit):
        report(outcome)
        outcomes.append(outcome)
    if arguments.record:
        files.record({f"{one.file.kind}/{one.file.module}": one.seconds for one in outcomes})
    return summarise(outcomes)


if __name__ == "__main__":
    sys.exit(main())
