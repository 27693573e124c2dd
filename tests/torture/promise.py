"""What a promise is: a measurement with a figure, and a control that shows it can fail."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

_TOP = Path(__file__).resolve().parents[2]
_FOLDERS = [_TOP, *(_TOP / "tests" / name for name in ("e2e", "mutants", "stores"))]
sys.path[:0] = [str(folder) for folder in _FOLDERS]

from tree import Mutation, build_variant  # noqa: E402

from rig.servers import Programs  # noqa: E402


class Skip(Exception):
    """The promise cannot be tested here. The text says why."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a measurement works with.

    programs are those under test. folder is its own, on a real disk, and is removed at the end.
    model is the --model of the fileservers, where the promise does not try several.
    """

    programs: Programs
    folder: Path
    is_short: bool
    model: str = "thread"

    @property
    def model_flags(self) -> list[str]:
        return ["--model", self.model]

    def scaled(self, full: int, short: int) -> int:
        """`full` in a full run, `short` in the short form that CI runs."""
        return short if self.is_short else full


@dataclass(frozen=True)
class Figure:
    """The result of a measurement: text has the figures, for a person."""

    is_kept: bool
    text: str


@dataclass(frozen=True)
class Promise:
    """measure() finds out whether the promise is kept. control() does the same with something
    broken, and must find that it is not kept.

    A wrong answer is a figure that is not kept, or an AssertionError. Both raise Skip where they
    cannot be run, and rig.errors.Failed or OSError where nothing could be measured.
    """

    title: str
    measure: Callable[[Bench], Figure]
    control: Callable[[Bench], Figure]


def broken(bench: Bench, mutation: Mutation, program: str) -> Bench:
    """The same bench with one broken program. Building it takes some seconds."""
    programs = build_variant(mutation, program, bench.folder / "variants")
    return replace(bench, programs=Programs(programs))
