"""Breaks the code in one place after the other, and sees the tests fail: `make mutants`.

The list of mutations is in the files beside this one, with the tests that must fail. A mutation
that no test notices has survived, and is a gap in the tests. Those of C++ are all in one build,
and are chosen when a program starts; copies.py says how. Works on a copy of the sources. The last
line is N passed, N failed, N skipped; a mutation that was killed counts as passed.
"""

import argparse
import multiprocessing
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from copies import CHOSEN, number_of
from kept import ALL
from one_build import FOLDER, OneBuild, tree_with
from place import Mutation
from running import Outcome, Verdict, adopt_orphans, run_test
from tree import TOP

from rig.errors import Failed

# The least time limits of a test. A hang that counts as noticed is not waited for as long.
_LIMIT_S = 60.0
_HANG_LIMIT_S = 30.0
_BASELINE_LIMIT_S = 600.0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mutants", description=(__doc__ or "").split("\n")[0], epilog="default: all mutations"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a mutation, see --list")
    parser.add_argument(
        "--since", metavar="REV", help="only those of files that changed since this commit"
    )
    parser.add_argument(
        "--most", type=int, metavar="N", help="only so many of them, spread over all files"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=3 * (os.cpu_count() or 1),
        metavar="N",
        help="how many tests run at once; they mostly wait (%(default)s)",
    )
    parser.add_argument(
        "--ledger",
        action="store_true",
        help="write all tests that fail by each into tests/ledger.txt",
    )
    parser.add_argument(
        "--hours", type=float, default=4.0, metavar="H", help="of --ledger (%(default)s)"
    )
    parser.add_argument("--list", action="store_true", help="print all names with their tests")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - {mutation.name for mutation in ALL}:
        parser.error(f"unknown mutation: {', '.join(sorted(unknown))}")
    return arguments


@dataclass(frozen=True)
class Attempt:
    """A mutation, as a worker tries it: on the tree of all, or on a copy with another file."""

    mutation: Mutation
    tree: Path
    limits_s: Mapping[str, float]  # of each of its tests
    variables: Mapping[str, str]
    file: str = ""
    text: str = ""

    def survived(self) -> tuple[str | None, float]:
        """Returns the test that does not notice the mutation, or None, and the seconds."""
        start = time.monotonic()
        if not self.file:
            return self._survived(self.tree), time.monotonic() - start
        with tempfile.TemporaryDirectory(prefix="mutants-", dir=FOLDER) as folder:
            copy = Path(folder) / "tree"
            with tree_with(self.file, self.text, self.tree, copy):
                return self._survived(copy), time.monotonic() - start

    def _survived(self, tree: Path) -> str | None:
        for test in self.mutation.tests:
            limit_s = self.limits_s[test]
            verdict = run_test(test, tree, limit_s, self.variables).verdict
            if verdict is Verdict.TIMED_OUT and not self.mutation.may_hang:
                return f"{test} did not end in {limit_s:.0f} s"
            if verdict in (Verdict.PASSED, Verdict.SKIPPED):
                return test
        return None


class Bench:
    """The build in which all mutations are, what the tests say of it unmutated, and workers.

    Each worker is a process that runs a test at a time, and ends what the test leaves.
    """

    def __init__(self, build: OneBuild, jobs: int) -> None:
        self.build = build
        self.jobs = jobs
        self.workers = ProcessPoolExecutor(
            jobs, multiprocessing.get_context("fork"), initializer=adopt_orphans
        )
        self._unmutated: dict[str, Outcome] = {}

    def check_unmutated(self, tests: Iterable[str]) -> list[str]:
        """Runs each test once. Returns those that fail, which could not notice anything."""
        running = {
            self.workers.submit(run_test, test, self.build.folder, _BASELINE_LIMIT_S): test
            for test in dict.fromkeys(tests)
        }
        failed = []
        for done in as_completed(running):
            test, outcome = running[done], done.result()
            self._unmutated[test] = outcome
            if outcome.verdict in (Verdict.FAILED, Verdict.TIMED_OUT):
                failed.append(test)
                print(f"{outcome.output}\nFAILED unmutated: {test}", flush=True)
        of = f"{len(failed)} of {len(self._unmutated)} tests" if failed else "no test"
        print(f"{of} failed on the unmutated code", flush=True)
        return failed

    def skipped(self, mutation: Mutation) -> list[str]:
        """Those of its tests that cannot be run here, each with the reason."""
        return [
            self._unmutated[test].output.strip().split("\n")[0]
            for test in mutation.tests
            if self._unmutated[test].verdict is Verdict.SKIPPED
        ]

    def attempt(self, mutation: Mutation) -> Future[tuple[str | None, float]]:
        """Begins to try it. One that needs a build of its own must be built."""
        least_s = _HANG_LIMIT_S if mutation.may_hang else _LIMIT_S
        limits_s = {
            test: max(least_s, 4 * self._unmutated[test].seconds) for test in mutation.tests
        }
        variables, file, text = {}, "", ""
        if mutation.name in self.build.plan.chosen:
            variables = {CHOSEN: str(number_of(mutation.name))}
        elif mutation in self.build.plan.replaced:
            place = self.build.sources.place_of(mutation)
            file, text = place.file, place.changed(self.build.sources.text(place.file))
        made = Attempt(mutation, self.build.folder, limits_s, variables, file, text)
        return self.workers.submit(made.survived)


class Tally:
    """Prints what became of each mutation, and counts it."""

    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0

    def skip(self, mutation: Mutation, reason: str) -> None:
        self.skipped += 1
        print(f"{mutation.name}: {reason}", flush=True)

    def count(self, mutation: Mutation, survived: str | None, seconds: float) -> None:
        by = " and ".join(mutation.tests)
        self.passed += survived is None
        self.failed += survived is not None
        said = f"SURVIVED {survived}" if survived else f"killed by {by}"
        print(f"{mutation.name}: {said} in {seconds:.0f} s", flush=True)

    def fail(self, mutation: Mutation, reason: str) -> None:
        self.failed += 1
        print(f"{mutation.name}: {reason}", flush=True)


def try_all(mutations: Sequence[Mutation], bench: Bench) -> Tally:
    failing = bench.check_unmutated([test for mutation in mutations for test in mutation.tests])
    tally = Tally()
    tried = []
    for mutation in mutations:
        if set(mutation.tests) & set(failing):
            tally.fail(mutation, "not tried, as its test fails unmutated")
        elif reasons := bench.skipped(mutation):
            tally.skip(mutation, reasons[0])
        else:
            tried.append(mutation)
    compiled = [one for one in tried if one in bench.build.plan.compiled]
    begun = {bench.attempt(mutation): mutation for mutation in tried if mutation not in compiled}
    again = []
    for done in as_completed(begun):
        survived, seconds = done.result()
        if survived:
            again.append(begun[done])
        else:
            tally.count(begun[done], survived, seconds)
    for mutation in again:  # two threads that race seldom meet beside others
        tally.count(mutation, *bench.attempt(mutation).result())
    for mutation in compiled:
        try_alone(mutation, bench, tally)
    return tally


def try_alone(mutation: Mutation, bench: Bench, tally: Tally) -> None:
    """One that needs a build of its own."""
    try:
        with bench.build.compiled(mutation):
            tally.count(mutation, *bench.attempt(mutation).result())
    except Failed as error:
        tally.fail(mutation, f"did not build: {error}")


def chosen_of(arguments: argparse.Namespace) -> list[Mutation]:
    chosen = [one for one in ALL if not arguments.names or one.name in arguments.names]
    if arguments.since:
        changed = changed_since(arguments.since)
        chosen = [mutation for mutation in chosen if mutation.file in changed]
    step = max(1, -(-len(chosen) // arguments.most)) if arguments.most else 1
    return chosen[::step]


def changed_since(revision: str) -> set[str]:
    listed = subprocess.run(
        ["git", "diff", "--name-only", revision],
        cwd=TOP,
        check=False,
        capture_output=True,
        text=True,
    )
    if listed.returncode != 0:
        raise Failed(f"git knows no commit {revision}")
    return set(listed.stdout.split())


def main() -> int:
    """Returns the exit status."""
    arguments = parse_arguments()
    chosen = chosen_of(arguments)
    if not chosen:
        print(f"no mutation is of a file that changed since {arguments.since}")
        print("0 passed, 0 failed, 0 skipped")
        return 0
    if arguments.list:
        for mutation in chosen:
            print(f"{mutation.name}: {mutation.file}: {', '.join(mutation.tests)}")
        return 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.nice(19)
    build = OneBuild()
    build.update()
    bench = Bench(build, arguments.jobs)
    with bench.workers:
        if arguments.ledger:
            from ledger import Ledger  # which imports this module

            Ledger(build, bench, arguments.hours).make()
            return 0
        tally = try_all(chosen, bench)
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 0 if tally.failed == 0 and tally.passed > 0 else 1
