"""What came of a file of tests, and which failures are never given a second chance."""

from __future__ import annotations

import re
import resource
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

CRASHES = (4, 6, 7, 8, 11)  # the signals of a program that goes wrong by itself
_CRASH = "|".join(map(str, CRASHES))
# What a sanitizer, the C library, the parent of a process or a test that saw one die has written.
_FAULT = re.compile(
    r"\w+Sanitizer: |: runtime error: |Segmentation fault|core dumped|stack smashing|"
    rf"terminate called|Assertion .* failed\.|ended with -(?:{_CRASH})\b|"
    rf"AssertionError: (?:-(?:{_CRASH}) != \d|\d+ != -(?:{_CRASH})\b)|"
    r"a child died pid=\d+ status=0x8?[4678b]\b"
)


class Runnable(Protocol):
    """Some tests that run together in one process of the pool: a file, or the unit tests."""

    @property
    def kind(self) -> str: ...
    @property
    def module(self) -> str: ...
    def only(self, test: str) -> Runnable: ...
    def run(self, limit_s: int, begins: Callable[[str], None]) -> Outcome: ...


@dataclass(frozen=True)
class Failure:
    """A test that failed. `text` is for people, its first line too."""

    test: str  # the name with which it runs alone
    text: str
    is_final: bool = False  # a crash, a sanitizer's report or a wrong byte: it is not run again

    @property
    def reason(self) -> str:
        """Its last line, which has the exception, in a length for a list."""
        lines = [line.strip() for line in self.text.splitlines() if line.strip()]
        said = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception|Failed)\b", line)]
        return (said or lines)[-1][:160] if lines else "no reason"


@dataclass
class Outcome:
    """The results of the tests of one file. A text of `skipped` is for people."""

    file: Runnable
    passed: int = 0
    skipped: list[str] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    seconds: float = 0.0
    cpu_s: float = 0.0  # with the programs that it started and waited for


def is_report_of_a_fault(text: str) -> bool:
    return bool(_FAULT.search(text))


def cpu_of_this_process_s() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
