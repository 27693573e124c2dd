"""The build in which all mutations are: build/mutants/tree, a copy of the sources with copies.py's.

It stays, so that only what changed is compiled again.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from copies import Plan, mutation_at, plan
from kept import ALL
from place import Mutation, Sources
from tree import ALSO, COPIED, TOP

from rig.errors import Failed

FOLDER = TOP / "build" / "mutants"
_POINT = ("tests/mutants/point.cpp", "lib/base/mutation_point.cpp")  # where it comes from, and is
# A function that a mutation leaves without a value ends the program, in place of running into the
# next one.
_FLAGS = (
    "UNITY=1",
    "WERROR=",
    "WARNINGS=-w",
    "CXXFLAGS=-O1 -fsanitize=return -fsanitize-undefined-trap-on-error",
    "CPPFLAGS=-include tests/mutants/point.h",
)
_ERROR = re.compile(r"^(?P<file>[^:\s]+):(?P<line>\d+):\d+: (?:fatal )?error: .*", re.MULTILINE)
_TARGETS = ("all", "peers", "build/unit_tests")
# What a copy needs that is not compiled again.
_BUILT = (
    *("linked-from", "authserver", "fileserver", "loadgen", "unit_tests", "lab", "peers"),
    "unity/generated",
)
_NOT_COPIED = ("__pycache__", ".mypy_cache", ".ruff_cache")


class OneBuild:
    """One thread. It is used by one process at a time."""

    def __init__(self, jobs: int = os.cpu_count() or 1) -> None:
        self.folder = FOLDER / "tree"
        self.sources = Sources(TOP)
        self.plan: Plan = plan(ALL, self.sources)
        self._jobs = jobs

    def update(self) -> None:
        """Makes the tree that of the sources as they are, and builds it. Failed if that fails."""
        wanted = {path: None for name in (*COPIED, *ALSO) for path in _files_of(name)}
        made = self.plan.files(self.sources, wanted)
        for path in wanted:
            _write(self.folder / path, _content(TOP / path, made.get(path)))
        _write(self.folder / _POINT[1], _content(TOP / _POINT[0], None))
        for path in {*_files_below(self.folder)} - {*wanted, _POINT[1]}:
            (self.folder / path).unlink()
        self.make()

    @contextmanager
    def compiled(self, mutation: Mutation) -> Iterator[None]:
        """A build of its own for a mutation that cannot be chosen. Failed when it does not build.

        Its file has none of the others meanwhile. What is built stays that of the mutation until
        the next call of make().
        """
        place = self.sources.place_of(mutation)
        changed = place.changed(self.sources.text(place.file))
        target = self.folder / place.file
        before = target.read_bytes()
        try:
            target.write_text(changed, encoding="utf-8")
            self.make()
            yield
        finally:
            target.write_bytes(before)

    def make(self) -> None:
        """Failed, with the mutations that do not compile, or with all errors."""
        done = subprocess.run(
            ["make", "--no-print-directory", "-k", f"-j{self._jobs}", *_FLAGS, *_TARGETS],
            cwd=self.folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0:
            said = dict.fromkeys(map(self._told, _ERROR.finditer(done.stderr)))
            raise Failed("\n".join([f"{self.folder} does not build:", *(said or [done.stderr])]))

    def _told(self, error: re.Match[str]) -> str:
        text = (self.folder / error["file"]).read_text(encoding="utf-8")
        name = mutation_at(text, int(error["line"]))
        return f"mutation {name}: {error[0]}" if name else error[0]


@contextmanager
def tree_with(file: str, text: str, tree: Path, folder: Path) -> Iterator[None]:
    """A copy of the tree in the folder, with what is built, in which the file has this text.

    Any number of them may be there at once.
    """
    try:
        for name in filter(lambda name: (tree / name).exists(), (*COPIED, *ALSO)):
            _copy(tree / name, folder / name)
        for name in filter(lambda name: (tree / "build" / name).exists(), _BUILT):
            _copy(tree / "build" / name, folder / "build" / name, "-l")
        (folder / file).write_text(text, encoding="utf-8")
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _files_of(name: str) -> Iterator[str]:
    if (TOP / name).is_dir():
        for path in _files_below(TOP / name):
            yield f"{name}/{path}"
    else:
        yield name


def _files_below(folder: Path) -> Iterator[str]:
    """Without those of builds, and what Python has compiled."""
    for top, folders, files in os.walk(folder):
        left_out = (*_NOT_COPIED, "build") if Path(top) == folder else _NOT_COPIED
        folders[:] = [one for one in folders if one not in left_out]
        for name in [*files, *(one for one in folders if os.path.islink(os.path.join(top, one)))]:
            yield os.path.relpath(os.path.join(top, name), folder)


def _content(path: Path, text: str | None) -> tuple[bytes | str, int]:
    """The bytes and the mode; of a link, where it leads to."""
    if path.is_symlink():
        return str(path.readlink()), 0
    return text.encode() if text is not None else path.read_bytes(), path.stat().st_mode


def _write(path: Path, content: tuple[bytes | str, int]) -> None:
    """Only if it is another one, as make compares times."""
    if (path.exists() or path.is_symlink()) and _content(path, None) == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    data, mode = content
    if isinstance(data, str):
        path.symlink_to(data)
    else:
        path.write_bytes(data)
        path.chmod(mode)


def _copy(source: Path, target: Path, *flags: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", "--reflink=auto", *flags, "-T", source, target], check=True)
