"""Runs the steps of a gate in rows, side by side, and says what came of them."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gates
from gates import Step

from . import again

TESTS = Path(__file__).resolve().parents[1]
CHECKS = TESTS.parent / "docs" / "checks.md"  # has what each gate takes
LAST_FULL = TESTS / "last-full"  # the commit whose sources the full gate has looked at

_COUNTS = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
_CPU = re.compile(r" ([\d.]+) s of CPU$", re.MULTILINE)
_UNSTEADY = re.compile(r"^UNSTEADY \S.*$", re.MULTILINE)
# Where a failure begins in the output of a step, and how many lines of it are shown once more.
_FAILURE = re.compile(
    r"^(FAILED|BROKEN|MISSED)| FAILED:? |: failed: | error: |ERROR: |WARNING: Thread"
)
_LINES_OF_A_FAILURE, _LINES_OF_A_STEP = 40, 200
_NOT_AGAIN = ("compose", "mutants")  # what they ran on is gone, or was broken on purpose


@dataclass
class Done:
    """What came of a step. A step that prints no counts is one check."""

    step: Step
    status: int
    output: Path
    seconds: float
    cpu_s: float
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def count(self) -> None:
        text = self.text()
        # Neither files of tests nor what runs in a container are children of their step.
        self.cpu_s += sum(map(float, _CPU.findall(text)))
        found = _COUNTS.findall(text)
        if found:
            self.passed, self.failed, self.skipped = (int(number or 0) for number in found[-1])
            self.failed += self.status != 0 and self.failed == 0
        else:
            self.passed, self.failed = int(self.status == 0), int(self.status != 0)

    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def __str__(self) -> str:
        verdict = "FAILED" if self.failed else "ok"
        return f"=== {self.step.name}: {verdict}, {self.seconds:.0f} s, {self.cpu_s:.0f} s of CPU"


class Run:
    """One run of a gate. Each row is a thread here; its steps are processes."""

    def __init__(self, chosen: Sequence[Step], outputs: Path) -> None:
        self._steps = chosen
        self._outputs = outputs
        self._ended = {step.name: threading.Event() for step in chosen}
        self.done: list[Done] = []
        self._unsteady: list[str] = []
        self.seconds, self.cpu_s = 0.0, 0.0

    def to_the_end(self) -> None:
        start, ticks = time.monotonic(), _busy_ticks()
        self._run_row(self._row(gates.FIRST), is_shown=True)
        threads = [
            threading.Thread(target=self._run_row, args=(self._row(name), name == gates.TESTS))
            for name in (gates.TESTS, gates.COMPILER, gates.CONTAINERS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for one in self.done:
            if one.step.row not in (gates.FIRST, gates.TESTS):
                print(f"\n{one.text()}\n{one}")
        self._run_row(self._row(gates.ALONE), is_shown=True)
        self.seconds = time.monotonic() - start
        self.cpu_s = (_busy_ticks() - ticks) / os.sysconf("SC_CLK_TCK")

    def _row(self, name: str) -> list[Step]:
        return [step for step in self._steps if step.row == name]

    def _run_row(self, row: Sequence[Step], is_shown: bool) -> None:
        for step in row:
            if step.needs in self._ended:
                self._ended[step.needs].wait()
            if is_shown:
                print(f"\n=== {step.name}", flush=True)
            one = self._carry_out(step, is_shown)
            one.count()
            self.done.append(one)
            self._ended[step.name].set()
            if is_shown:
                print(one, flush=True)

    def _carry_out(self, step: Step, is_shown: bool) -> Done:
        output = self._outputs / step.name
        environment = dict(os.environ)
        if step.name not in _NOT_AGAIN:
            environment[again.LATER] = str(self._later(step))
        start = time.monotonic()
        with output.open("wb", buffering=0) as kept:
            process = subprocess.Popen(
                ["bash", "-c", step.command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
            )
            assert process.stdout
            for line in process.stdout:
                kept.write(line)
                if is_shown:
                    sys.stdout.buffer.write(line)
                    sys.stdout.buffer.flush()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        cpu_s = used.ru_utime + used.ru_stime
        return Done(step, process.returncode, output, time.monotonic() - start, cpu_s)

    def _later(self, step: Step) -> Path:
        return self._outputs / f"{step.name}.again"

    def second_chances(self) -> None:
        """Runs again, alone, what failed beside others. What passes then is named as UNSTEADY."""
        for one in self.done:
            for late in again.read(self._later(one.step)):
                print(f"\n=== {one.step.name}, again and alone: {late.name}", flush=True)
                if late.passes() and not again.is_third_time(late.name):
                    one.failed -= late.failures
                    one.passed += 1
                    self._unsteady.append(str(late))

    def has_passed(self, *names: str) -> bool:
        passed = {one.step.name for one in self.done if not one.failed}
        return passed.issuperset(names)

    def close(self) -> int:
        """Prints the ends of all steps, what failed, and the counts. Returns the exit code."""
        print()
        for one in self.done:
            print(one)
        print(f"=== all: {self.seconds / 60:.1f} min, {self.cpu_s / 60:.1f} min of CPU")
        for one in self.done:
            if one.failed:
                _show_failures(one)
        print()
        # A container gives its own tests their second chance.
        inside = [line for one in self.done for line in _UNSTEADY.findall(one.text())]
        unsteady = list(dict.fromkeys([*self._unsteady, *inside]))
        if unsteady:
            print("for tests/unsteady.md:", *map(again.row_of, unsteady), "", sep="\n")
        for line in unsteady:
            print(line)
        too_many = len(unsteady) if len(unsteady) > again.MOST else 0
        if too_many:
            print(f"{too_many} tests are unsteady; {again.MOST} is the most that a gate may have")
        passed, failed, skipped = (
            sum(getattr(one, count) for one in self.done)
            for count in ("passed", "failed", "skipped")
        )
        print(f"{passed - too_many} passed, {failed + too_many} failed, {skipped} skipped")
        return int(failed + too_many > 0)


def _show_failures(one: Done) -> None:
    """Once more, because only the end of a long log may be at hand."""
    shown, left = 0, 0
    for line in one.text().splitlines():
        left = _LINES_OF_A_FAILURE if _FAILURE.search(line) else left - 1
        if left > 0 and shown < _LINES_OF_A_STEP:
            print(f"{one.step.name}: {line}")
            shown += 1


def _busy_ticks() -> int:
    """Of all processes of this host, containers and the compiler too."""
    first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    ticks = [int(field) for field in first.split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4]


def commit() -> str:
    """Of the sources; empty if git does not know, or they are not as it has them."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    told = subprocess.run(words, cwd=TESTS, check=False, capture_output=True, text=True).stdout
    return "" if "-dirty" in told else told.strip()


def record(gate: str, run: Run, page: Path = CHECKS) -> None:
    """Puts what the gate took into its row of the table in docs/checks.md."""
    longest = sorted(run.done, key=lambda one: -one.seconds)[:5]
    steps = ", ".join(f"{one.step.name} {one.seconds / 60:.1f}" for one in longest)
    row = f"| `{gate}` | {run.seconds / 60:.1f} | {run.cpu_s / 60:.1f} | {steps} |"
    text = page.read_text(encoding="utf-8")
    changed, count = re.subn(rf"^\| `{gate}` \| .*$", row, text, flags=re.MULTILINE)
    if count != 1:
        raise SystemExit(f"gate: {page.name} has no row for {gate} in its table of what gates take")
    page.write_text(changed, encoding="utf-8")
