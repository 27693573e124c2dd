"""The commands of `scripts/course`: check and grade.

Exit status: 0 marked, 1 a submission could not be marked (the others are), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from rig import namespace
from rig.errors import WrongUsage

from . import marking, measuring, reports, sandbox, submission
from .marks import Sheet
from .measuring import Tools
from .submission import Submission

_INTERRUPTED = 130
_MOST_NAME = 60


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message)


def main(arguments: list[str]) -> int:
    try:
        parsed = _parser().parse_args(arguments)
        status: int = parsed.command(parsed)
        sys.stdout.flush()
        return status
    except WrongUsage as error:
        print(f"course: {error}", file=sys.stderr)
        return 2
    except marking.NOT_MARKED as error:
        print(f"course: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("course: stopped", file=sys.stderr)
        return _INTERRUPTED


def _parser() -> _Parser:
    parser = _Parser(
        prog="course",
        description="Tests, judges and marks servers that students write. course/README.md is for "
        "teachers, course/server.md says what is asked of a server.",
        epilog="exit status: 0 marked, 1 a submission could not be marked, 2 wrong usage",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_check(commands)
    _add_grade(commands)
    return parser


def _add_check(commands: argparse._SubParsersAction[_Parser]) -> None:
    check = commands.add_parser(
        "check",
        help="build one submission, run the contract tests, judge its results folder",
        description="Builds the server in DIR, runs the contract tests on it, and judges the "
        "results folder DIR/results (or DIR itself) by DIR/answers.json.",
        allow_abbrev=False,
    )
    check.add_argument("folder", metavar="DIR", type=Path)
    check.add_argument("--answers", metavar="FILE", type=Path, help="in place of DIR/answers.json")
    check.add_argument(
        "--gradescope", metavar="FILE", type=Path, help="write the marks as results.json"
    )
    check.add_argument("--junit", metavar="FILE", type=Path, help="write the cases as JUnit's XML")
    check.set_defaults(command=_check)


def _add_grade(commands: argparse._SubParsersAction[_Parser]) -> None:
    grade = commands.add_parser(
        "grade",
        help="mark submissions in a sandbox, beside a reference",
        description="Marks each DIR as check does, and measures its server beside the reference "
        "of its stage. Writes class.csv, class.html and NAME/results.json.",
        allow_abbrev=False,
    )
    grade.add_argument("folders", metavar="DIR", type=Path, nargs="+")
    grade.add_argument("--out", metavar="FOLDER", type=Path, required=True)
    grade.add_argument("--no-gain", action="store_true", help="measure nothing: 70 points in all")
    grade.add_argument("--blocks", type=_number, default=3, help="A B B A of each (default: 3)")
    grade.add_argument(
        "--seconds", type=_number, default=2, help="of a measurement in a block (default: 2)"
    )
    grade.add_argument(
        "--programs",
        metavar="DIR",
        type=Path,
        default=measuring.DEFAULT_BUILD,
        help="where make has put our programs (default: build)",
    )
    grade.add_argument(
        "--work",
        metavar="DIR",
        type=Path,
        default=measuring.DEFAULT_WORK,
        help="for test files, on a disk (default: build/lab)",
    )
    grade.set_defaults(command=_grade)


def _number(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]?", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 99")
    return int(text)


def _require_folder(path: Path) -> None:
    if not path.is_dir():
        raise WrongUsage(f"{path} is not a folder")


def _require_place(path: Path | None) -> None:
    if path and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise WrongUsage(f"{path} cannot be written")


def _check(parsed: argparse.Namespace) -> int:
    _require_folder(parsed.folder)
    if parsed.answers and not parsed.answers.is_file():
        raise WrongUsage(f"--answers {parsed.answers} is not a file")
    for place in (parsed.gradescope, parsed.junit):
        _require_place(place)
    namespace.enter()
    work = Path(tempfile.mkdtemp(prefix="turnstile-course-"))
    work.chmod(0o711)
    try:
        if lacks := sandbox.missing(work):
            print(f"course: the sandbox is {lacks}", file=sys.stderr)
        handed_in = submission.read(parsed.folder, parsed.answers)
        try:
            sheet = marking.mark(handed_in, work)
        except Exception as error:
            _write(parsed, marking.without_marks(handed_in, error))
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(reports.text(sheet))
    _write(parsed, sheet)
    return 0


def _write(parsed: argparse.Namespace, sheet: Sheet) -> None:
    if parsed.gradescope:
        parsed.gradescope.write_text(reports.gradescope(sheet), encoding="utf-8")
    if parsed.junit:
        parsed.junit.write_text(reports.junit(sheet), encoding="utf-8")


def _grade(parsed: argparse.Namespace) -> int:
    for folder in parsed.folders:
        _require_folder(folder)
    if parsed.out.exists() and not parsed.out.is_dir():
        raise WrongUsage(f"--out {parsed.out} is not a folder")
    tools = None
    if not parsed.no_gain:
        build = measuring.usable_build(parsed.programs)
        tools = Tools(build, parsed.work.resolve(), parsed.blocks, parsed.seconds)
    namespace.enter()
    out = parsed.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if lacks := sandbox.missing(out):
        print(f"course: the sandbox is {lacks}", file=sys.stderr)
    not_marked = marking.queue(_submissions(parsed.folders), out, tools, print)
    print(f"{out / 'class.csv'}, {out / 'class.html'}")
    return 1 if not_marked else 0


def _submissions(folders: Sequence[Path]) -> list[Submission]:
    """Each with a name of its own, which is a file name and no more."""
    found: list[Submission] = []
    taken = {"work", "class.csv", "class.html"}
    for folder in folders:
        name = re.sub(r"[^A-Za-z0-9._@+-]", "-", folder.resolve().name).lstrip(".-")[:_MOST_NAME]
        unique, number = name or "submission", 2
        while unique in taken:
            unique, number = f"{name}-{number}", number + 1
        taken.add(unique)
        found.append(submission.read(folder, name=unique))
    return found
