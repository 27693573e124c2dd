"""Breaks the code in one place after the other, and sees the tests fail: `make mutants`.

The list of mutations is in the files beside this one, with the tests that must fail. A mutation
that no test notices has survived, and is a gap in the tests. Works on a copy of the sources. The
last line is N passed, N failed, N skipped; a mutation that was killed counts as passed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kept import ALL
from running import Outcome, Verdict, adopt_orphans, run_test, target_of
from tree import TOP, Mutation, Tree, require_build

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
    parser.add_argument("--list", action="store_true", help="print all names with their tests")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - {mutation.name for mutation in ALL}:
        parser.error(f"unknown mutation: {', '.join(sorted(unknown))}")
    return arguments


class Bench:
    """A copy of the sources, and what the tests say of it unmutated."""

    def __init__(self, folder: Path) -> None:
        # One job, and at low priority: this runs for long, beside somebody's work.
        self.tree = Tree(folder, jobs=1)
        self._unmutated: dict[str, Outcome] = {}

    def check_unmutated(self, tests: Sequence[str]) -> list[str]:
        """Runs each test once. Returns those that fail, which could not notice anything."""
        self.tree.make("all", "peers", "build/unit_tests")
        failed = []
        for test in dict.fromkeys(tests):
            outcome = run_test(test, self.tree.folder, _BASELINE_LIMIT_S)
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

    def survived(self, mutation: Mutation) -> str | None:
        """Returns the test that does not notice the mutation, or None.

        Failed when the mutation cannot be built.
        """
        with self.tree.changed(mutation):
            self.tree.make(*dict.fromkeys(target_of(test) for test in mutation.tests))
            for test in mutation.tests:
                least_s = _HANG_LIMIT_S if mutation.may_hang else _LIMIT_S
                limit_s = max(least_s, 4 * self._unmutated[test].seconds)
                verdict = run_test(test, self.tree.folder, limit_s).verdict
                if verdict is Verdict.TIMED_OUT and not mutation.may_hang:
                    return f"{test} did not end in {limit_s:.0f} s"
                if verdict in (Verdict.PASSED, Verdict.SKIPPED):
                    return test
        return None


class Tally:
    """Prints what became of each mutation, and counts it."""

    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0

    def try_one(self, bench: Bench, mutation: Mutation) -> None:
        if reasons := bench.skipped(mutation):
            self.skipped += 1
            print(f"{mutation.name}: {reasons[0]}", flush=True)
            return
        start = time.monotonic()
        try:
            survived = bench.survived(mutation)
            by = " and ".join(mutation.tests)
            said = f"SURVIVED {survived}" if survived else f"killed by {by}"
        except Failed as error:
            survived = said = f"did not build: {error}"
        self.passed += survived is None
        self.failed += survived is not None
        print(f"{mutation.name}: {said} in {time.monotonic() - start:.0f} s", flush=True)

    def fail(self, mutation: Mutation) -> None:
        self.failed += 1
        print(f"{mutation.name}: not tried, as its test fails unmutated", flush=True)


def try_all(mutations: Sequence[Mutation], folder: Path) -> Tally:
    bench = Bench(folder)
    failing = bench.check_unmutated([test for mutation in mutations for test in mutation.tests])
    tally = Tally()
    for mutation in mutations:
        if set(mutation.tests) & set(failing):
            tally.fail(mutation)
        else:
            tally.try_one(bench, mutation)
    return tally


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
    require_build()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.nice(10)
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=TOP / "build") as folder:
        tally = try_all(chosen, Path(folder) / "tree")
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 0 if tally.failed == 0 and tally.passed > 0 else 1
