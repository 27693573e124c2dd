"""The second chance: a test that failed beside others is run again alone, and is not forgotten.

If it passes then, it counts as passed and is named as UNSTEADY. More than a few of them fail the
run. tests/unsteady.md keeps those that are not mended yet, and there is no third time.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from .files import TESTS, TestFile
from .outcome import Failure, Outcome, Runnable

KEPT = TESTS / "unsteady.md"
MOST = 5  # unsteady tests of one run; more than that is no accident
_TIMES = 3  # a test that is unsteady for this many times fails
_BROKEN = 20  # failures; when more tests fail, the build is broken, and none is run again

# A file to which the tests that may be run again are written. Who sets it runs them when all else
# is done, as tests/gate does.
LATER = "TURNSTILE_RUN_AGAIN"
_VARIABLES = ("PYTHONPATH", "TSAN_OPTIONS", "TURNSTILE_BUILD")  # with which they run then


@dataclass(frozen=True)
class Unsteady:
    name: str  # KIND/module.Class.test
    reason: str  # why it failed the first time

    def __str__(self) -> str:
        return f"UNSTEADY {self.name}: {self.reason}"


@dataclass(frozen=True)
class Late(Unsteady):
    """A test that waits for its second chance."""

    failures: int  # for how many it counts: each of its parts may have failed
    command: list[str]
    environment: dict[str, str]

    def passes(self) -> bool:
        ended = subprocess.run(
            self.command, check=False, env=os.environ | self.environment, stdin=subprocess.DEVNULL
        )
        return ended.returncode == 0


def row_of(line: str) -> str:
    """The row of tests/unsteady.md for such a line."""
    name, _, reason = line.removeprefix("UNSTEADY ").partition(": ")
    return f"| {date.today()} | `{name}` | {reason} | not known yet |"


def candidates(outcomes: Iterable[Outcome]) -> list[tuple[Outcome, Failure]]:
    """The failures that deserve a second chance. A test with several parts is there once."""
    failures = [(outcome, failure) for outcome in outcomes for failure in outcome.failed]
    if len(failures) > _BROKEN:
        return []
    final = {(id(outcome), failure.test) for outcome, failure in failures if failure.is_final}
    first = {(id(outcome), failure.test): (outcome, failure) for outcome, failure in failures[::-1]}
    return [pair for key, pair in reversed(first.items()) if key not in final]


def run_again(
    outcomes: Sequence[Outcome], run: Callable[[Runnable], Outcome], kept: Path = KEPT
) -> list[Unsteady]:
    """Runs the candidates one after the other, and takes back the failures of those that pass."""
    unsteady = []
    for outcome, failure in candidates(outcomes):
        name = _name_of(outcome, failure)
        alone = run(outcome.file.only(failure.test))
        if not alone.failed and not is_third_time(name, kept):
            outcome.failed = [other for other in outcome.failed if other.test != failure.test]
            outcome.passed += alone.passed
            unsteady.append(Unsteady(name, failure.reason))
    return unsteady


def leave_for_later(outcomes: Sequence[Outcome], later: Path) -> None:
    """Writes the candidates down. Their failures count until somebody has run them again."""
    with later.open("a", encoding="utf-8") as lines:
        for outcome, failure in candidates(outcomes):
            late = Late(
                _name_of(outcome, failure),
                failure.reason,
                sum(other.test == failure.test for other in outcome.failed),
                _command_of(outcome.file, failure.test),
                {name: os.environ[name] for name in _VARIABLES if name in os.environ},
            )
            lines.write(json.dumps(asdict(late)) + "\n")


def read(later: Path) -> list[Late]:
    lines = later.read_text(encoding="utf-8").splitlines() if later.exists() else []
    return [Late(**json.loads(line)) for line in lines]


def is_third_time(name: str, kept: Path = KEPT) -> bool:
    """Whether tests/unsteady.md has this test often enough. If so, it says so."""
    text = kept.read_text(encoding="utf-8") if kept.exists() else ""
    before = len(re.findall(rf"^\| [0-9-]+ \| `{re.escape(name)}` \|", text, re.MULTILINE))
    if before + 1 < _TIMES:
        return False
    print(f"{name} is unsteady for the third time, so it counts as failed: see {kept.name}")
    return True


def _name_of(outcome: Outcome, failure: Failure) -> str:
    return f"{outcome.file.kind}/{failure.test}"


def _command_of(file: Runnable, test: str) -> list[str]:
    command = [sys.executable, str(TESTS / "run_unittests.py"), "--no-second-chance"]
    if isinstance(file, TestFile):
        return [*command, str(file.folder.resolve()), test]
    return [*command, f"--unit={file.only(test).specification}"]
