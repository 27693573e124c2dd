"""The files of Python tests: which there are, which were asked for, and which take longest."""

from __future__ import annotations

import difflib
import itertools
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LONGEST = TESTS / "longest.txt"


class NoSuchFile(Exception):
    """Nothing has the name that was asked for. The text says what comes close."""


@dataclass(frozen=True)
class TestFile:
    """A file of tests. `tests` names what to run of it, as unittest does: module[.class[.test]]."""

    __test__ = False  # for pytest

    folder: Path  # such as tests/e2e; the file may be in a folder below
    path: Path
    tests: str

    @property
    def kind(self) -> str:
        return self.folder.name

    @property
    def module(self) -> str:
        return self.path.stem


def find(folder: Path) -> list[TestFile]:
    """All files of a folder and of those in it. Each name is there once."""
    paths = sorted(folder.resolve().rglob("test_*.py"), key=lambda path: path.stem)
    for one, next_one in itertools.pairwise(paths):
        if one.stem == next_one.stem:
            raise NoSuchFile(f"two files of tests have the name {one.name}: {one}, {next_one}")
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
            chosen[file.module] = TestFile(file.folder, file.path, file.module + rest)
    return list(chosen.values())


def _no_such(module: str, files: list[TestFile]) -> str:
    names = [file.module for file in files]
    close = difflib.get_close_matches(f"test_{module.removeprefix('test_')}", names, 3, 0.75)
    hint = f"did you mean {' or '.join(close)}?" if close else "make test-list lists all names"
    return f"no file of tests has '{module}' in its name; {hint}"


def longest_first(files: list[TestFile]) -> list[TestFile]:
    """So that no long one runs alone at the end. The seconds are those of an earlier run."""
    seconds = dict(_recorded())
    return sorted(files, key=lambda file: -seconds.get(f"{file.kind}/{file.module}", 0.0))


def _recorded() -> list[tuple[str, float]]:
    lines = LONGEST.read_text(encoding="utf-8").splitlines() if LONGEST.exists() else []
    rows = [line.split() for line in lines if line and not line.startswith("#")]
    return [(name, float(seconds)) for seconds, name in rows]


def record(seconds: dict[str, float]) -> None:
    """Writes down which files take more than a few seconds."""
    rows = sorted(seconds.items(), key=lambda row: -row[1])
    text = "# Seconds of the longest files of tests. tests/run_unittests.py --record writes this.\n"
    text += "".join(f"{taken:5.0f} {name}\n" for name, taken in rows if taken >= 4)
    LONGEST.write_text(text, encoding="utf-8")
