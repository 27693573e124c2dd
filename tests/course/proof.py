"""Grades a class of forty made-up students, and compares their marks with the expected ones.

`make course-proof` runs it. Each is marked as `course grade` does. --gain also measures the servers
that get that far, which takes most of the time; without it, cheats that only a load tells are not
in the class. --only NAME... marks these.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import course_path
import folders
import students
from students import CHEATS, HARMFUL, HOSTILE, PERFECT, PROCESSES, WRONG, source_of

from course import marking, submission
from course.marks import Sheet
from course.measuring import DEFAULT_BUILD, DEFAULT_WORK, Tools, usable_build
from rig import namespace

_TEACHER = course_path.ROOT / "course" / "teacher"
_BUILD_S = 30  # in place of minutes, for those that hang


@dataclass(frozen=True)
class Student:
    """failing are the cases of the contract that do not hold; None: nothing was tried, and reason
    is in what is said. has_gain: the server is measured and gets some of these points.
    """

    make: Callable[[Path], object]
    failing: frozenset[str] | None = frozenset()
    shape: int = 10
    reason: str = ""
    has_gain: bool = True
    only_load: bool = False


def _of(source: str, stage: int = 2) -> Callable[[Path], object]:
    return lambda folder: students.handed_in(folder, source, stage)


def _solution(stage: int) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        folder.mkdir()
        for name in ("fileserver.cpp", "Makefile"):
            shutil.copy(_TEACHER / name, folder)
        text = (folder / "Makefile").read_text(encoding="utf-8")
        text = text.replace("STAGE ?= 4", f"STAGE = {stage}").replace(
            "$(OUT)/fileserver", "fileserver"
        )
        (folder / "Makefile").write_text(text, encoding="utf-8")
        (folder / "answers.json").write_text(json.dumps({"stage": stage}), encoding="utf-8")

    return make


def _with_results(folder: Path) -> None:
    students.handed_in(folder, PERFECT, 2, **folders.CLAIMS)
    folders.honest(folder / "results")
    folders.committed(folder, folders.START_S - 60)


def _a_program_of_ours(folder: Path) -> None:
    folder.mkdir()
    shutil.copy(DEFAULT_BUILD / "fileserver", folder)
    students.answers(folder, 4)


def _hostile(name: str) -> Callable[[Path], object]:
    return lambda folder: students.with_makefile(folder, HOSTILE[name])


def the_class() -> dict[str, Student]:
    found = {f"solution-{stage}": Student(_solution(stage)) for stage in (1, 2, 3, 4)}
    found["perfect"] = Student(_with_results)
    found["own-idea"] = Student(_of(PERFECT, 5))
    found["processes"] = Student(_of(PROCESSES, 1))
    found["says-stage-1"] = Student(_of(PERFECT, 1), shape=0)
    found["says-stage-4"] = Student(_of(PERFECT, 4), shape=0)
    for name, fault in {**WRONG, **CHEATS}.items():
        if name == "no-ready-line":
            found[name] = Student(_of(source_of(fault)), None, 0, "ready", False)
            continue
        more, has_gain, shape = _FURTHER.get(name, ((), True, 10))
        cases = frozenset({fault.case, *more} - {""})
        is_load = name.endswith("only-at-first")
        reason = "under load" if is_load else ""
        made = Student(
            _of(source_of(fault)), cases, shape, reason, has_gain and not is_load, is_load
        )
        found[name] = made
    for name in HOSTILE:
        found[name] = Student(_hostile(name), None, 0, "make", False)
    found["hands-in-our-program"] = Student(_a_program_of_ours, None, 0, "made no file", False)
    for name, fault in HARMFUL.items():
        is_well = not fault.case
        of_contract = frozenset[str]() if is_well else None
        found[name] = Student(_of(source_of(fault)), of_contract, 10 if is_well else 0, "", is_well)
    return found


_OF_FILES = ("asks", "file", "half-closed", "not-found", "parallel", "pieces", "sizes")
# Beside the case that is named for it: further cases that fail, whether it is measured, and the
# points of the shape.
_FURTHER: dict[str, tuple[tuple[str, ...], bool, int]] = {
    "text-mode": (_OF_FILES, False, 10),
    "from-a-table": (_OF_FILES, False, 10),
    "one-after-the-other": ((), False, 0),
    "a-recv-is-a-line": (("asks", "half-closed"), False, 10),
    "ignores-sigterm": ((), False, 10),
    "never-asks": (("asks", "new", "taken-away", "unavailable"), False, 10),
    "does-not-wait": (("asks", "new", "taken-away", "unavailable"), False, 10),
    "remembers-who-came": (("asks", "unavailable"), False, 10),
    "asks-for-another": (("new", "taken-away"), False, 10),
    "serves-what-was-denied": (("new", "taken-away", "unavailable", "wrong-password"), False, 10),
    "keeps-the-grant": ((), False, 10),
    "hides-its-cpu-time": ((), False, 0),
    "waits-for-no-child": ((), False, 0),
}


def faults_of(sheet: Sheet, student: Student, has_gain: bool) -> list[str]:
    """How the marks differ from the expected ones."""
    found = []
    contract, shape, gain = sheet.part("contract"), sheet.part("shape"), sheet.part("gain")
    assert contract and shape
    if student.failing is None:
        if contract.points > 8:
            found.append(f"{contract.points:g} points for the contract")
    elif not (student.only_load and has_gain):
        failing = {one.name for one in contract.outcomes if not one.holds}
        if failing != student.failing:
            found.append(f"{sorted(failing)} do not hold, not {sorted(student.failing)}")
        if shape.points != student.shape:
            found.append(f"{shape.points:g} points for the shape: {shape.reason}")
    elif contract.points:
        found.append(f"{contract.points:g} points though it cheats under load")
    if (
        student.reason
        and student.reason not in sheet.reason
        and (has_gain or not student.only_load)
    ):
        found.append(f"'{student.reason}' is not in its reason: {sheet.reason}")
    if has_gain and gain and bool(gain.points) != student.has_gain:
        found.append(f"{gain.points:g} points for the gain: {gain.reason}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gain", action="store_true")
    parser.add_argument("--only", nargs="+", default=[])
    asked = parser.parse_args()
    tools = Tools(usable_build(DEFAULT_BUILD), DEFAULT_WORK, 3, 2) if asked.gain else None
    if os.geteuid():
        print("without a user of its own, some of these would end your programs: run it as root")
        return 1
    namespace.enter()
    submission._BUILD_S = _BUILD_S
    wrong = 0
    chosen = {
        name: one for name, one in the_class().items() if not asked.only or name in asked.only
    }
    chosen = {name: one for name, one in chosen.items() if tools or not one.only_load}
    with tempfile.TemporaryDirectory(prefix="turnstile-class-") as temporary:
        place = Path(temporary)
        place.chmod(0o711)
        (place / "work").mkdir()
        (place / "work").chmod(0o711)
        is_bounded = marking.has_own_mounts()
        for number, (name, student) in enumerate(chosen.items()):
            student.make(place / name)
            handed_in = submission.read(place / name)
            sheet = marking.mark(handed_in, place / "work", number, tools, is_bounded=is_bounded)
            bad = faults_of(sheet, student, tools is not None)
            wrong += bool(bad)
            said = f"WRONG: {'; '.join(bad)}" if bad else "as expected"
            print(f"{name}: {sheet.points:g} of {sheet.of}, {said}", flush=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
