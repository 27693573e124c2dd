"""A copy of the sources in which one text is changed at a time, and what is built from it.

`make torture` starts servers that were built from one, to see that a broken server is noticed.
`make mutants` has all mutations in one build instead: one_build.py.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from place import Mutation, Sources

from rig.errors import Failed

TOP = Path(__file__).resolve().parents[2]
COPIED = ("Makefile", "authserver", "fileserver", "lib", "loadgen", "scripts", "sql", "tests")
# What is there of it: files may have been compiled alone, or whole folders as one (UNITY=1).
_BUILT = ("linked-from", "objects", "generated", "libturnstile.a", "unity")
# What tests read.
_FILES = ("pyproject.toml", "README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE")
ALSO = ("bench", "lab", "rig", "docs", "docker", "packaging", *_FILES)


class Tree:
    """The copy. It shares nothing with the sources; objects are copied, so little is compiled."""

    def __init__(self, folder: Path, jobs: int = os.cpu_count() or 1) -> None:
        """Requires: the programs are built. An earlier copy in the folder is replaced.

        jobs is how many files are compiled at once.
        """
        self.folder = folder
        self._jobs = jobs
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in (*COPIED, *ALSO):
            _copy(TOP / name, folder / name)
        (folder / "build").mkdir()
        for name in filter(lambda name: (TOP / "build" / name).exists(), _BUILT):
            _copy(TOP / "build" / name, folder / "build" / name)

    @contextmanager
    def changed(self, mutation: Mutation) -> Iterator[None]:
        """Changes the file for the time of the block. Failed unless the text is there once."""
        place = Sources(self.folder).place_of(mutation)
        path = self.folder / place.file
        before = path.read_text(encoding="utf-8")
        path.write_text(place.changed(before), encoding="utf-8")
        try:
            yield
        finally:
            path.write_text(before, encoding="utf-8")

    def make(self, *targets: str) -> None:
        """Failed, with the first error, when a target cannot be built."""
        done = subprocess.run(
            ["make", "--no-print-directory", f"-j{self._jobs}", "WERROR=", *targets],
            cwd=self.folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0:
            errors = [line for line in done.stderr.split("\n") if "error" in line]
            raise Failed(f"make {' '.join(targets)}: {(errors or [done.stderr])[0]}")


def build_variant(mutation: Mutation, program: str, folder: Path) -> Path:
    """Builds the program with the mutation. Returns a folder with all three programs.

    folder keeps the tree for further variants.
    """
    out = folder / mutation.name
    out.mkdir(parents=True, exist_ok=True)
    for name in ("authserver", "fileserver", "loadgen"):
        _copy(TOP / "build" / name, out / name)
    tree = Tree(folder / "tree")
    with tree.changed(mutation):
        tree.make(f"build/{program}")
    _copy(tree.folder / "build" / program, out / program)
    return out


def _copy(source: Path, target: Path) -> None:
    """With its times, which make compares."""
    subprocess.run(["cp", "-a", "--reflink=auto", "-T", source, target], check=True)
