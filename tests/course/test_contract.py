"""The contract tests: a good server passes all, and the case that names a fault tells it."""

import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import course_path
import students
from needs import missing

from course import contract, counted, peers
from course.contract import CASES, Case, Outcome
from course.peers import LIMIT_S
from course.shapes import SHAPES
from rig.processes import Program

STARTERS = course_path.ROOT / "course" / "starter"
TEACHER = course_path.ROOT / "course" / "teacher"


class ServerTest(unittest.TestCase):
    limit_s = LIMIT_S  # for a reply; less where many do not come

    def setUp(self) -> None:
        for module in (contract, counted, peers):
            patch = mock.patch.object(module, "LIMIT_S", self.limit_s)
            patch.start()
            self.addCleanup(patch.stop)
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)

    def tried(self, program: Path, cases: Sequence[Case]) -> list[Outcome]:
        """Without a sandbox."""
        seen = Path(tempfile.mkdtemp(dir=self.folder))

        def start(flags: Sequence[str], _: Path) -> Program:
            return Program("fileserver", [str(program), *flags], seen / "log")

        return contract.run(start, seen, cases)

    def of_source(self, source: str, cases: Sequence[Case]) -> list[Outcome]:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        return self.tried(students.handed_in(folder, source) / "fileserver", cases)

    def check_starter(self, program: Path) -> None:
        found = self.tried(program, CASES)
        holding = {one.name for one in found if one.holds}
        self.assertLessEqual({"ready", "file", "before", "asks", "wrong-password"}, holding)
        self.assertLessEqual(len(holding), 15)

    def built(self, language: str) -> Path:
        place = self.folder / language
        shutil.copytree(STARTERS / language, place)
        subprocess.run(["make", "-s", "-C", str(place), "CXXFLAGS=-O0"], check=True)
        return place / "fileserver"

    def check_all_hold(self, outcomes: Sequence[Outcome]) -> None:
        self.assertEqual([str(one) for one in outcomes if not one.holds], [])


class GoodServersTest(ServerTest):
    def test_there_are_twenty_cases_and_one_of_each_stage(self) -> None:
        self.assertEqual(len({case.name for case in CASES}), 20)
        self.assertEqual(sorted(SHAPES), [1, 2, 3, 4, 5])

    def test_a_thread_for_each_connection(self) -> None:
        self.check_all_hold(self.of_source(students.PERFECT, [*CASES, SHAPES[2], SHAPES[5]]))

    def test_a_process_for_each_connection(self) -> None:
        wanted = [case for case in CASES if case.name in ("parallel", "asks")]
        self.check_all_hold(self.of_source(students.PROCESSES, [*wanted, SHAPES[1]]))

    @unittest.skipIf(missing("make", "g++"), missing("make", "g++"))
    def test_the_last_solution_keeps_the_contract_and_its_shape(self) -> None:
        out = self.folder / "solution"
        out.mkdir()
        command = ["make", "-s", "-C", str(TEACHER), "STAGE=4", f"OUT={out}"]
        subprocess.run([*command, "CXX=g++ -O0"], check=True)
        self.check_all_hold(self.tried(out / "fileserver", [*CASES, SHAPES[3], SHAPES[4]]))


class FaultsTest(ServerTest):
    limit_s = 1.0

    def test_each_fault_and_each_cheat_is_told_by_a_case(self) -> None:
        by_name = {case.name: case for case in CASES}
        for name, fault in {**students.WRONG, **students.CHEATS}.items():
            if fault.case:
                with self.subTest(name):
                    (found,) = self.of_source(students.source_of(fault), [by_name[fault.case]])
                    self.assertFalse(found.holds)
                    self.assertRegex(str(found), r"\. But .+\.\Z")

    def test_a_server_has_the_shape_of_its_own_stage_only(self) -> None:
        found = self.of_source(students.PERFECT, [SHAPES[1], SHAPES[3], SHAPES[4]])
        self.assertEqual([one.holds for one in found], [False, False, False])

    def test_a_server_that_ends_fails_one_case_and_not_the_next_ones(self) -> None:
        source = students.PERFECT.replace('b"ERR not-found', 'os._exit(1), b"ERR not-found')
        by_name = {case.name: case for case in CASES}
        cases = [by_name[name] for name in ("not-found", "file", "not-found", "new")]
        found = self.of_source(source, cases)
        self.assertEqual([one.holds for one in found], [False, True, False, True])

    def test_a_server_that_never_answers_is_not_asked_twenty_times(self) -> None:
        source = students.PERFECT.replace("received += chunk", "pass")
        silent = Case("x", "It answers.", by("file"))
        found = self.of_source(source, [silent] * 5)
        self.assertEqual([one.why for one in found][3:], ["it did not answer before"] * 2)


def by(name: str):
    return next(case.run for case in CASES if case.name == name)


class StartersTest(ServerTest):
    """What a student begins with passes the first cases, and not all."""

    limit_s = 2.0

    def test_python(self) -> None:
        self.check_starter(STARTERS / "python" / "fileserver")

    @unittest.skipIf(missing("make", "g++"), missing("make", "g++"))
    def test_cpp(self) -> None:
        self.check_starter(self.built("cpp"))
