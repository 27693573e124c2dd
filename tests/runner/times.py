"""What the files of tests took when it was last written down: tests/times.txt."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from .files import TESTS
from .outcome import Outcome, Runnable

TIMES = TESTS / "times.txt"
_HEAD = """\
# The longest files of tests: seconds by the clock, seconds of CPU, folder/file.
# tests/run_unittests.py --record writes this.
"""
_SHORTEST_S = 2.0

AnyRunnable = TypeVar("AnyRunnable", bound=Runnable)


class Taken(NamedTuple):
    seconds: float
    cpu_s: float


_SHORT = Taken(1.0, 0.3)  # a file that is too short to be written down


def name_of(file: Runnable) -> str:
    return f"{file.kind}/{file.module}"


def recorded() -> dict[str, Taken]:
    lines = TIMES.read_text(encoding="utf-8").splitlines() if TIMES.exists() else []
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: Taken(float(seconds), float(cpu_s)) for seconds, cpu_s, name in rows}


def taken_by(file: Runnable, known: dict[str, Taken]) -> Taken:
    return known.get(name_of(file), _SHORT)


def longest_first(files: Iterable[AnyRunnable]) -> list[AnyRunnable]:
    """So that no long one runs alone at the end."""
    known = recorded()
    return sorted(files, key=lambda file: -taken_by(file, known).seconds)


def record(outcomes: Sequence[Outcome]) -> None:
    """Writes down what took more than a few seconds. Files that did not run keep their rows."""
    rows = recorded() | {name_of(one.file): Taken(one.seconds, one.cpu_s) for one in outcomes}
    longest = sorted(rows.items(), key=lambda row: (-row[1].seconds, row[0]))
    text = "".join(
        f"{taken.seconds:6.1f} {taken.cpu_s:6.1f} {name}\n"
        for name, taken in longest
        if taken.seconds >= _SHORTEST_S
    )
    TIMES.write_text(_HEAD + text, encoding="utf-8")
