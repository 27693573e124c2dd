"""The files of Python tests: which there are, which were asked for, and what each needs."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .outcome import Outcome

TESTS = Path(__file__).resolve().parents[1]

# Files whose tests ask how long something takes, or measure for real. They disturb each other, so
# only a few run at once.
_TIME_IS_THE_POINT = ("*_for_real*", "*_stalls*", "*_trickle*", "test_knee*", "test_end_to_end*")


class NoSuchFile(Exception):
    """Nothing has the name that was asked for. The text says what comes close."""


@dataclass(frozen=True)
class TestFile:
    """A file of tests. `tests` names what to run of it, as unittest does: module[.class[.test]]."""

    __test__ = False  # for pytest

    folder: Path  # such as tests/e2e; the file may be in a folder below
    path: Path
    tests: str
    over: str = ""  # what the clients of HTTP speak it over; empty: TCP

    @property
    def kind(self) -> str:
        return self.folder.name

    @property
    def module(self) -> str:
        return f"{self.path.stem}@{self.over}" if self.over else self.path.stem

    @property
    def takes_token(self) -> bool:
        return any(fnmatchcase(self.module, pattern) for pattern in _TIME_IS_THE_POINT)

    def __str__(self) -> str:
        return f"{self.kind}/{self.tests}{'@' if self.over else ''}{self.over}"

    def only(self, test: str) -> TestFile:
        """`test` may begin with the name of the module."""
        return replace(self, tests=self.path.stem + test.removeprefix(self.module))

    def over_tls(self) -> TestFile:
        return replace(self, over="tls")

    def run(self, limit_s: int, begins: Callable[[str], None]) -> Outcome:
        from . import one_file  # which imports this module

        return one_file.run(self, limit_s, begins)


def find(folder: Path) -> list[TestFile]:
    """All files of a folder and of those in it. Each name is there once."""
    paths = sorted(folder.resolve().rglob("test_*.py"), key=lambda path: path.stem)
    for path, next_path in itertools.pairwise(paths):
        if path.stem == next_path.stem:
            raise NoSuchFile(f"two files of tests have the name {path.name}: {path}, {next_path}")
    return [TestFile(folder, path, path.stem) for path in paths]


def select(files: list[TestFile], wanted: list[str]) -> list[TestFile]:
    """The files with these names, or with this as a part of theirs: test_idle, idle, auth.

    A name may go on behind a dot, as in test_idle.IdleTest.
    """
    chosen: dict[str, TestFile] = {}
    for name in wanted:
        module = name.partition(".")[0].removesuffix(".py")
        exact = [file for file in files if file.module in (module, f"test_{module}")]
        found = exact or [file for file in files if module in file.module]
        if not found:
            raise NoSuchFile(_no_such(module, files))
        for file in found:
            rest = name.removeprefix(module).removeprefix(".py")
            chosen[file.module] = replace(file, tests=file.path.stem + rest)
    return list(chosen.values())


def _no_such(module: str, files: list[TestFile]) -> str:
    names = [file.module for file in files]
    close = difflib.get_close_matches(f"test_{module.removeprefix('test_')}", names, 3, 0.75)
    hint = f"did you mean {' or '.join(close)}?" if close else "make test-list lists all names"
    return f"no file of tests has '{module}' in its name; {hint}"
