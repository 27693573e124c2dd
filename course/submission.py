"""What a student hands in: a server, answers.json, and a results folder of the lab."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rig.errors import Failed
from rig.processes import Program

from . import answers, results
from .answers import Answers
from .sandbox import Sandbox
from .scene import Start

PROGRAM = "fileserver"
RESULTS = "results"  # the folder of results in that of a submission
_MOST_FILES = 2000
_MOST_BYTES = 32 << 20
_BUILD_S = 120
_SKIPPED = (".git", RESULTS, "__pycache__")
_UNKNOWN = Answers(1, "c++", (), ())


class NotBuilt(Exception):
    """The server of a submission cannot be built; the text says why."""


@dataclass(frozen=True)
class Submission:
    """problem says what is wrong with answers.json, in whose place a default is taken; or it is
    "".
    """

    name: str
    folder: Path
    answers_path: Path
    answers: Answers
    problem: str

    @property
    def has_server(self) -> bool:
        return any((self.folder / name).is_file() for name in ("Makefile", PROGRAM))

    @property
    def results(self) -> Path | None:
        """The results folder: in it, or the submission is one."""
        for folder in (self.folder / RESULTS, self.folder):
            if results.is_folder(folder):
                return folder
        return None


def read(folder: Path, answers_path: Path | None = None, name: str = "") -> Submission:
    path = answers_path or folder / answers.NAME
    try:
        found, problem = answers.read(path), ""
    except Failed as error:
        found, problem = _UNKNOWN, str(error)
    return Submission(name or folder.resolve().name, folder, path, found, problem)


def built(submission: Submission, place: Path, sandbox: Sandbox) -> Path:
    """Copies the sources to a new folder and runs make there. Returns the program.

    Nothing that was compiled before is taken. NotBuilt when that fails; Failed where not the
    submission is why, but this host.
    """
    _copy(submission.folder, place)
    sandbox.own(place)
    place.chmod(0o700)
    _require_works(sandbox, place)
    if (place / "Makefile").is_file():
        command = sandbox.command(
            ["/usr/bin/make", "-s", PROGRAM],
            write=[place],
            folder=place,
            has_network=False,
            temporary="512m",
        )
        _make(command, place)
    program = place / PROGRAM
    if program.is_symlink() or not program.is_file():
        raise NotBuilt(f"make made no file {PROGRAM}")
    if not program.stat().st_mode & 0o100:
        raise NotBuilt(f"{PROGRAM} may not be executed; chmod +x {PROGRAM}")
    return program


def _require_works(sandbox: Sandbox, place: Path) -> None:
    """Without namespaces, its user may have no way to the folder."""
    command = sandbox.command(["/bin/true"], write=[place], folder=place)
    tried = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if tried.returncode:
        raise Failed(f"no program starts in the sandbox here: {tried.stderr.strip()[:200]}")


def _make(command: Sequence[str], place: Path) -> None:
    """Its output is bounded by the file that it goes to."""
    log = place.with_name("build.log")
    with open(log, "wb") as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd="/"
        )
        try:
            status = process.wait(_BUILD_S)
        except subprocess.TimeoutExpired:
            raise NotBuilt(f"make did not end within {_BUILD_S} s") from None
        finally:
            process.kill()
            process.wait()
    if status:
        with open(log, "rb") as said_then:
            lines = said_then.read(4096).decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if "error" in line.lower()] or lines or ["no message"]
        raise NotBuilt(f"make failed: {errors[0][:200]}")


def _copy(source: Path, place: Path) -> None:
    """Without links, devices and compiled programs. NotBuilt when it is too much."""
    place.mkdir(parents=True)
    count = size = 0
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        there = place / Path(folder).relative_to(source)
        there.mkdir(exist_ok=True)
        for name in files:
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file() or _is_compiled(path):
                continue
            count, size = count + 1, size + path.stat().st_size
            if count > _MOST_FILES or size > _MOST_BYTES:
                raise NotBuilt(f"more than {_MOST_FILES} files or {_MOST_BYTES >> 20} MiB")
            shutil.copy(path, there / name)


def _is_compiled(path: Path) -> bool:
    """A program, a library or an archive of objects: what is graded is made of sources."""
    with open(path, "rb") as file:
        return file.read(8).startswith((b"\x7fELF", b"!<arch>\n"))


@contextmanager
def folder_of(work: Path, number: int) -> Iterator[Path]:
    """A folder for what a submission writes; it is gone when the block is left.

    Its user may enter it; the folders of the others are closed to it.
    """
    place = work / f"submission-{number}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    place.chmod(0o711)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def starter(program: Path, sandbox: Sandbox, log: Path) -> Start:
    """What starts the server for the contract tests."""

    def start(flags: Sequence[str], seen: Path) -> Program:
        show = [program.parent, seen]
        command = sandbox.command([str(program), *flags], show=show, folder=program.parent)
        return Program(PROGRAM, command, log)

    return start
