"""The ledger: for each mutation all tests that fail by it, `make ledger`.

1. Each unit test, and each file of other tests, runs once unmutated, and says which functions of
   C++ and which files of Python it enters.
2. For each mutation of C++, the unit tests run that enter its function: all of them.
3. For each mutation, the files of other tests run that enter its function, or its file of Python,
   until the time is over: first the file of its narrowest test, then a sample that is spread over
   all folders.
4. Those that need a build of their own meet the unit tests that enter a function of their folder,
   and the files of their narrowest tests.

What is known is kept in build/mutants/ledger while the sources stay the same, so the next run goes
on from there. The result is tests/ledger.txt.
"""

import datetime
import re
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any, TypeVar

from choice import Choice
from copies import CHOSEN, number_of
from kept import ALL
from known import State, digest_of, key_of_sources, pair_name
from one_build import FOLDER, OneBuild, tree_with
from place import Mutation
from reached import Entered, entered
from running import Outcome, Verdict, is_unit, run_test
from tree import TOP
from trial import Bench
from units import Units, run_units

from rig.errors import Failed

LEDGER = TOP / "tests" / "ledger.txt"
_FOLDERS = ("e2e", "stores", "model", "scripts", "judges", "lab", "docs")
_FILE_LIMIT_S = 900.0
_UNIT_LIMIT_S = 15  # of one test; the slowest takes a few seconds
HEAD = """\
# For each mutation, the tests that fail by it. Made by `make ledger`; docs/checks.md says how.
#
# commit {commit}, {date}
# {tried} of {all} mutations were tried, and {killed} of these fail a test.
# Unit tests: whole, for {met} of the {compiled} mutations of what is compiled.
# Of the {units} that pass without database servers, {failing} fail by a mutation.
# Other tests: a sample, {ran} of {pairs} pairs of a mutation and a file of tests that enters it.
# Behind a name: how many of its files ran.

"""
Job = tuple[str, Callable[..., Any], tuple[Any, ...]]  # a name, what a worker calls, and with what
T = TypeVar("T")
_FAILED = re.compile(r"^FAILED (\w+) \(([\w.]+)\)", re.MULTILINE)


class Ledger:
    def __init__(self, build: OneBuild, bench: Bench, hours: float) -> None:
        self._build = build
        self._bench = bench
        self._state = State(key_of_sources())
        self._choice = Choice(build, self._state)
        self._until = time.monotonic() + hours * 3600

    def make(self) -> None:
        """Goes on until all is known or the time is over, and writes the file in any case."""
        try:
            self._see_what_is_entered([f"unit/{name}" for name in self._choice.order])
            self._run_units()
            self.write()
            self._see_what_is_entered(self._timely(files_of_tests()))
            self._run_files()
            self._run_compiled()
        finally:
            self.write()

    def _see_what_is_entered(self, tests: Iterable[str]) -> None:
        def keep(test: str, found: Entered) -> None:
            self._choice.add(test, found)
            self._state.put(
                "entered",
                test,
                points=sorted(found.points),
                files=sorted(found.files),
                verdict=found.outcome.verdict.name,
                seconds=round(found.outcome.seconds, 1),
                failed=_failures(test, found.outcome),
            )

        print("tests say what they enter", flush=True)
        left = (test for test in tests if not self._state.get("entered", test))
        tree = self._build.folder
        self._carry_out(
            ((test, entered, (_escaped(test), tree, _FILE_LIMIT_S)) for test in left), keep
        )

    def _run_units(self) -> None:
        chosen = self._build.plan.chosen
        left = [name for name in chosen if not self._state.get("units", digest_of(chosen[name][0]))]
        print(f"{len(left)} of {len(chosen)} mutations have to meet the unit tests", flush=True)

        def jobs() -> Iterator[Job]:
            for name in left:
                variables = {CHOSEN: str(number_of(name))}
                yield self._units_job(chosen[name][0], self._choice.units_of(name), variables)

        self._carry_out(jobs(), self._keep_units)

    def _units_job(
        self, mutation: Mutation, tests: Sequence[str], variables: Mapping[str, str]
    ) -> Job:
        known = self._state.all_of("entered")
        slowest_s = max((known[f"unit/{test}"]["seconds"] for test in tests), default=0)
        limit_s = max(_UNIT_LIMIT_S, int(4 * slowest_s))
        arguments = (list(tests), self._build.folder, limit_s, dict(variables))
        return digest_of(mutation), run_units, arguments

    def _keep_units(self, of: str, done: Units) -> None:
        self._state.put("units", of, failed=done.failed, not_run=done.not_run)

    def _run_files(self) -> None:
        pairs = [
            pair for pair in self._choice.pairs() if not self._state.get("file", pair_name(*pair))
        ]
        print(f"{len(pairs)} pairs of a mutation and a file of tests are left", flush=True)
        self._carry_out(self._timely(self._file_job(*pair) for pair in pairs), self._keep_file)

    def _file_job(self, mutation: Mutation, test: str) -> Job:
        limit_s = max(60.0, 4 * self._state.all_of("entered")[test]["seconds"])
        tree, name = self._build.folder, pair_name(mutation, test)
        if mutation in self._build.plan.replaced:
            place = self._build.sources.place_of(mutation)
            text = place.changed(self._build.sources.text(place.file))
            return name, run_on_copy, (test, tree, limit_s, place.file, text)
        variables = {}
        if mutation.name in self._build.plan.chosen:
            variables = {CHOSEN: str(number_of(mutation.name))}
        return name, run_test, (test, tree, limit_s, variables)

    def _keep_file(self, pair: str, outcome: Outcome) -> None:
        test = pair.rpartition(" ")[2]
        before = self._state.all_of("entered")[test]["failed"]
        failed = [one for one in _failures(test, outcome) if one not in before]
        self._state.put("file", pair, failed=failed)

    def _run_compiled(self) -> None:
        compiled = self._build.plan.compiled
        left = [one for one in compiled if not self._state.get("units", digest_of(one))]
        print(f"{len(left)} mutations need a build of their own", flush=True)
        for mutation in self._timely(left):
            try:
                with self._build.compiled(mutation):
                    files = (
                        self._file_job(mutation, test) for test in self._choice.narrowest(mutation)
                    )
                    self._carry_out(files, self._keep_file)
                    job = self._units_job(mutation, self._choice.units_of_folder(mutation), {})
                    self._carry_out([job], self._keep_units)
            except Failed as error:
                print(f"{mutation.name}: did not build: {error}", flush=True)

    def _timely(self, jobs: Iterable[T]) -> Iterator[T]:
        for job in jobs:
            if time.monotonic() > self._until:
                return
            yield job

    def _carry_out(self, jobs: Iterable[Job], keep: Callable[[str, Any], None]) -> None:
        """Gives the workers as much as they can do at once, so that it can end at any time."""
        running: dict[Future[Any], str] = {}
        last_said = time.monotonic()
        done = 0

        def wait_for_some() -> None:
            nonlocal last_said, done
            ended, _ = wait(running, return_when=FIRST_COMPLETED)
            for one in ended:
                keep(running.pop(one), one.result())
                done += 1
            if time.monotonic() - last_said > 60:
                last_said = time.monotonic()
                print(f"  {done} done", flush=True)

        for name, function, arguments in jobs:
            while len(running) >= self._bench.jobs:
                wait_for_some()
            running[self._bench.workers.submit(function, *arguments)] = name
        while running:
            wait_for_some()

    def write(self) -> None:
        all_pairs = list(self._choice.pairs())
        all_pairs += [
            (mutation, test)
            for mutation in self._build.plan.compiled
            for test in self._choice.narrowest(mutation)
        ]
        of: dict[str, int] = defaultdict(int)
        ran: dict[str, int] = defaultdict(int)
        fails: dict[str, list[str]] = defaultdict(list)
        for mutation, test in all_pairs:
            of[mutation.name] += 1
            if one := self._state.get("file", pair_name(mutation, test)):
                ran[mutation.name] += 1
                fails[mutation.name] += one["failed"]
        lines, failing, met = [], set(), 0
        for mutation in ALL:
            one = self._state.get("units", digest_of(mutation))
            if one is None and not ran[mutation.name]:
                continue
            met += one is not None
            failed = [f"unit/{name}" for name in one["failed"]] if one else []
            failed += sorted(fails[mutation.name])
            failing.update(failed)
            notes = f"({ran[mutation.name]} of {of[mutation.name]} files)"
            if one and one["not_run"]:
                notes += f" ({len(one['not_run'])} unit tests not run, as three hung)"
            lines.append(f"{mutation.name} {notes}: {' | '.join(failed)}")
        LEDGER.write_text(
            HEAD.format(
                commit=_commit(),
                date=datetime.date.today(),
                all=len(ALL),
                tried=len(lines),
                killed=sum(not line.endswith(": ") for line in lines),
                met=met,
                compiled=len(self._build.plan.chosen) + len(self._build.plan.compiled),
                units=len(self._choice.units()),
                failing=len(set(filter(is_unit, failing))),
                ran=sum(ran.values()),
                pairs=len(all_pairs),
            )
            + "\n".join(sorted(lines))
            + "\n",
            encoding="utf-8",
        )
        print(f"{LEDGER.name}: {len(lines)} of {len(ALL)} mutations", flush=True)


def files_of_tests() -> Iterator[str]:
    for folder in _FOLDERS:
        for path in sorted((TOP / "tests" / folder).rglob("test_*.py")):
            yield f"{folder}/{path.stem}"


def run_on_copy(test: str, tree: Path, limit_s: float, file: str, text: str) -> Outcome:
    """Runs the test on a copy of the tree, in which the file has this text."""
    with tempfile.TemporaryDirectory(prefix="ledger-", dir=FOLDER) as folder:
        copy = Path(folder) / "tree"
        with tree_with(file, text, tree, copy):
            return run_test(test, copy, limit_s)


def _escaped(test: str) -> str:
    """For Catch2, in whose names some bytes have a meaning."""
    return re.sub(r"([,\[\]\\*\"])", r"\\\1", test) if is_unit(test) else test


def _failures(test: str, outcome: Outcome) -> list[str]:
    """The names of what failed, such as e2e/test_idle.IdleTest.test_x; of what hung, the file."""
    if outcome.verdict is Verdict.TIMED_OUT:
        return [f"{test} (hung)"]
    if is_unit(test) or outcome.verdict is not Verdict.FAILED:
        return []
    folder = test.split("/")[0]
    names = []
    for name, where in _FAILED.findall(outcome.output):
        names.append(f"{folder}/{where if where.endswith(name) else f'{where}.{name}'}")
    return list(dict.fromkeys(names)) or [test]


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=TOP,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or "unknown"
