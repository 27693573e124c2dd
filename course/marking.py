"""Marks one submission, or a queue of them."""

import ctypes
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rig.errors import Failed

from . import contract, marks, measuring, reports, results, sandbox, submission
from .answers import Answers
from .contract import CASES, Outcome
from .marks import Part, Sheet
from .measuring import Measured, NotMeasured, Tools
from .sandbox import Sandbox
from .shapes import SHAPES
from .submission import NotBuilt, Submission

_REFERENCE = 399  # the number of the user that the reference runs as
_CLONE_NEWNS, _MS_PRIVATE, _MS_REC, _MS_NOSUID, _MS_NODEV = 0x20000, 0x40000, 0x4000, 0x2, 0x4
_ROOM = "size=1g,mode=711"  # for what one submission writes
NOT_MARKED = (Failed, NotMeasured, OSError)  # what mark() raises
_libc = ctypes.CDLL(None, use_errno=True)


def has_own_mounts() -> bool:
    """From now on what we mount is seen by us only. False where that is not permitted."""
    if os.geteuid() or _libc.unshare(_CLONE_NEWNS):
        return False
    flags = ctypes.c_ulong(_MS_REC | _MS_PRIVATE)
    failed: int = _libc.mount(None, b"/", None, flags, None)
    return not failed


@contextmanager
def _room(work: Path, number: int, is_bounded: bool) -> Iterator[Path]:
    """The folder of a submission, in memory with a bound where we may mount."""
    with submission.folder_of(work, number) as place:
        flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV)
        words = (b"tmpfs", os.fsencode(place), b"tmpfs")
        is_mounted = is_bounded and _libc.mount(*words, flags, _ROOM.encode()) == 0
        try:
            yield place
        finally:
            if is_mounted:
                _libc.umount2(os.fsencode(place), 2)  # also where something still uses it


def mark(
    handed_in: Submission,
    work: Path,
    number: int = 0,
    tools: Tools | None = None,
    *,
    is_bounded: bool = False,
) -> Sheet:
    """tools measure the gain; without them there is no such part.

    Failed when there is nothing to mark, NotMeasured when the machine is to blame.
    """
    if not handed_in.has_server and not handed_in.results:
        raise Failed("there is no Makefile, no fileserver and no results folder")
    parts: list[Part] = []
    gain: float | None = None
    if handed_in.has_server:
        with _room(work, number, is_bounded) as place:
            own, gain = _of_server(handed_in, place, number, tools)
        parts += own
    parts += _of_results(handed_in)
    problem = f"{handed_in.problem}; taken as stage 1" if handed_in.problem else ""
    return Sheet(handed_in.name, handed_in.answers.stage, tuple(parts), gain, problem)


def without_marks(handed_in: Submission, error: Exception) -> Sheet:
    """No points, and why."""
    said = str(error) if isinstance(error, NOT_MARKED) else f"{type(error).__name__}: {error}"
    return Sheet(handed_in.name, handed_in.answers.stage, (), None, f"not marked: {said}")


def _of_server(
    handed_in: Submission, place: Path, number: int, tools: Tools | None
) -> tuple[list[Part], float | None]:
    answers = handed_in.answers
    try:
        with sandbox.made(number, place.parent, has_share=True) as jail:
            program = submission.built(handed_in, place / "source", jail)
            outcomes, shape = _tried(program, place, jail, answers)
    except NotBuilt as error:
        lost = str(error)
        gain = [marks.gain(None, answers.language, lost)] if tools else []
        return [marks.contract([], lost), marks.shape(None, lost), *gain], None
    if not tools:
        return [marks.contract(outcomes), marks.shape(shape)], None
    found = _measured(outcomes, program, place, number, answers, tools)
    lost = found.why if found.is_cheat else ""
    parts = [
        marks.contract(outcomes, lost),
        marks.shape(shape, lost),
        marks.gain(found.ratio, answers.language, found.why),
    ]
    return parts, 1 / found.ratio if found.ratio else None


def _tried(
    program: Path, place: Path, jail: Sandbox, answers: Answers
) -> tuple[list[Outcome], Outcome | None]:
    seen = place / "contract"
    seen.mkdir()
    shape = SHAPES.get(answers.stage)
    cases = [*CASES, *([shape] if shape else [])]
    start = submission.starter(program, jail, place / "server.log")
    outcomes = contract.run(start, seen, cases)
    return outcomes[: len(CASES)], outcomes[-1] if shape else None


def _measured(
    outcomes: Sequence[Outcome],
    program: Path,
    place: Path,
    number: int,
    answers: Answers,
    tools: Tools,
) -> Measured:
    if bad := [one.name for one in outcomes if one.name in marks.GUARDS and not one.holds]:
        return Measured(None, f"not measured, because of {', '.join(bad)}")
    reference = measuring.reference(answers.stage, place.parent / "reference")
    work = place.parent
    with sandbox.made(_REFERENCE, work) as beside, sandbox.made(number, work) as own:
        return measuring.measure((reference, program), (beside, own), place / "measured", tools)


def _of_results(handed_in: Submission) -> list[Part]:
    folder, answers = handed_in.results, handed_in.answers
    if folder is None:
        lost = f"there is no folder {submission.RESULTS} of the lab"
        return [marks.results([], lost), marks.claims([], lost)]
    try:
        found = results.read(folder)
    except Failed as error:
        return [marks.results([], str(error)), marks.claims([], str(error))]
    judged = results.judge(found, answers, handed_in.answers_path)
    doubted = [one.name for one in judged if not one.holds and one.name != "predictions"]
    lost = f"the figures do not fit together ({', '.join(doubted)})" if doubted else ""
    claimed = [] if lost else results.claims(found, answers)
    return [marks.results(judged), marks.claims(claimed, lost)]


def queue(
    all_of: Sequence[Submission], out: Path, tools: Tools | None, say: Callable[[str], None]
) -> int:
    """Marks one after the other, and writes all tables. Returns how many could not be marked."""
    out.mkdir(parents=True, exist_ok=True)
    work = out / "work"
    work.mkdir(exist_ok=True)
    work.chmod(0o711)
    is_bounded = has_own_mounts()
    sheets: list[Sheet] = []
    not_marked = 0
    copies = _copies(all_of)
    for number, one in enumerate(all_of):
        try:
            sheet = mark(one, work, number, tools, is_bounded=is_bounded)
        except Exception as error:  # of any kind: the others are marked all the same
            not_marked += 1
            sheet = without_marks(one, error)
        sheet = _without_copies(sheet, copies.get(one.name, ()))
        sheets.append(sheet)
        say(f"{one.name}: {sheet.points:g} of {sheet.of}; {reports.plain(sheet.reason)}")
        place = out / one.name
        place.mkdir(exist_ok=True)
        (place / "results.json").write_text(reports.gradescope(sheet), encoding="utf-8")
        # After each, so that a queue that is stopped has them too.
        (out / "class.csv").write_text(reports.table(sheets), encoding="utf-8")
        (out / "class.html").write_text(reports.page(sheets), encoding="utf-8")
    return not_marked


def _copies(all_of: Sequence[Submission]) -> dict[str, list[str]]:
    """Whose points.csv is that of others, byte for byte."""
    owners: dict[str, list[str]] = {}
    for one in all_of:
        for name in ("points.csv", "recorded.zip"):
            path = one.results / name if one.results else None
            if not path or path.is_symlink() or not path.is_file():
                continue
            with suppress(OSError):
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                owners.setdefault(digest, []).append(one.name)
    return {
        name: [other for other in names if other != name]
        for names in owners.values()
        for name in names
        if len(names) > 1
    }


def _without_copies(sheet: Sheet, others: Sequence[str]) -> Sheet:
    if not others:
        return sheet
    lost = f"the results are those of {', '.join(others)}"
    own = {"results": marks.results([], lost), "claims": marks.claims([], lost)}
    parts = tuple(own.get(part.name, part) for part in sheet.parts)
    return Sheet(sheet.name, sheet.stage, parts, sheet.gain, sheet.remark)
