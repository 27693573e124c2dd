"""`course grade`: the sandbox, the queue and the tables."""

import contextlib
import csv
import io
import json
import os
import re
import socket
import subprocess
import tempfile
import unittest
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import course_path
import proof
import students

from course import cli, jail, marking, marks, reports, sandbox, submission
from course.contract import CASES, Outcome
from course.marks import Sheet
from rig.errors import Failed

_HOG_BYTES = 200 << 20
SCRIPT = course_path.ROOT / "scripts" / "course"


def course(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SCRIPT), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )


class WithFolder(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        self.folder.chmod(0o711)


class UsageTest(WithFolder):
    def test_what_there_is_not_is_wrong_usage(self) -> None:
        empty = self.folder / "empty"
        empty.mkdir()
        for words in (
            [],
            ["grade"],
            ["check", self.folder / "no-such-folder"],
            ["check", empty, "--answers", self.folder / "no"],
            ["check", empty, "--junit", self.folder / "no" / "x"],
            ["grade", empty],
            ["grade", empty, "--out", SCRIPT],
            ["grade", empty, "--out", self.folder / "out", "--blocks", "0"],
        ):
            with self.subTest(words):
                said = io.StringIO()
                with contextlib.redirect_stderr(said):
                    self.assertEqual(cli.main([*map(str, words)]), 2)
                self.assertEqual(said.getvalue().count("\n"), 1)

    def test_nothing_to_mark_is_status_1_and_both_files_say_why(self) -> None:
        empty = self.folder / "empty"
        empty.mkdir()
        scope, junit = self.folder / "results.json", self.folder / "report.xml"
        done = course("check", empty, "--gradescope", scope, "--junit", junit)
        self.assertEqual(done.returncode, 1)
        reason = "there is no Makefile, no fileserver and no results folder"
        self.assertIn(reason, done.stderr)
        found = json.loads(scope.read_text(encoding="utf-8"))
        self.assertEqual((found["score"], found["output"]), (0, f"not marked: {reason}"))
        failure = ElementTree.fromstring(junit.read_text(encoding="utf-8")).find(".//failure")
        self.assertEqual(failure.get("message"), found["output"])


class CheckTest(WithFolder):
    def test_the_starter_is_marked_and_each_form_says_the_same(self) -> None:
        starter = course_path.ROOT / "course" / "starter" / "python"
        scope, junit = self.folder / "results.json", self.folder / "report.xml"
        done = course("check", starter, "--gradescope", scope, "--junit", junit)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(scope.read_text(encoding="utf-8"))
        self.assertEqual(done.stdout.splitlines()[-1], f"{found['score']:g} of 70")
        self.assertAlmostEqual(found["score"], sum(one["score"] for one in found["tests"]))
        self.assertEqual(sum(one["max_score"] for one in found["tests"]), 70)
        suites = ElementTree.fromstring(junit.read_text(encoding="utf-8"))
        contract = suites.find("testsuite[@name='contract']")
        self.assertEqual(len(contract.findall("testcase")), len(CASES))
        failed = [one for one in contract if one.find("failure") is not None]
        self.assertEqual(done.stdout.count("  mend: "), len(failed) + 1)  # and the shape
        self.assertTrue(2 < len(failed) < 15, done.stdout)


class QueueTest(WithFolder):
    def test_one_after_the_other_and_a_line_for_each(self) -> None:
        right = students.handed_in(self.folder / "right", students.PERFECT)
        bad = students.with_makefile(self.folder / "=bad", students.HOSTILE["does-not-compile"])
        empty = self.folder / "empty"
        empty.mkdir()
        out = self.folder / "out"
        done = course("grade", right, bad, empty, "--no-gain", "--out", out)
        self.assertEqual(done.returncode, 1, done.stderr)
        with open(out / "class.csv", newline="", encoding="utf-8") as file:
            rows = {row["submission"]: row for row in csv.DictReader(file)}
        self.assertEqual(list(rows), ["right", "bad", "empty"])
        self.assertEqual((rows["right"]["contract"], rows["right"]["marks"]), ("40", "50"))
        self.assertEqual(rows["right"]["of"], "70")
        self.assertIn("make failed: x.cpp:1: error", rows["bad"]["reason"])
        self.assertEqual((rows["bad"]["marks"], rows["bad"]["of"]), ("0", "70"))
        self.assertIn("not marked: there is no Makefile", rows["empty"]["reason"])
        self.assertEqual(json.loads((out / "right/results.json").read_text())["score"], 50)
        page = (out / "class.html").read_text(encoding="utf-8")
        HTMLParser().feed(page)
        self.assertIn("Where the class loses its points", page)
        self.assertFalse(list((out / "work").glob("submission-*")))

    def test_nobody_is_marked_in_a_sandbox_in_which_nothing_starts(self) -> None:
        right = submission.read(students.handed_in(self.folder / "right", students.PERFECT))
        broken = sandbox.Sandbox(0, ("/bin/sh", "-c", "echo closed >&2; exit 1"))
        with self.assertRaisesRegex(Failed, "no program starts in the sandbox here: closed"):
            submission.built(right, self.folder / "source", broken)

    def test_what_nobody_foresaw_stops_the_marking_of_one_only(self) -> None:
        sheet = Sheet("good", 1, (), None, "")
        made = [submission.read(self.folder, name=name) for name in ("odd", "good")]
        with (
            mock.patch.object(marking, "has_own_mounts", return_value=False),
            mock.patch.object(marking, "mark", side_effect=[RecursionError("too deep"), sheet]),
        ):
            self.assertEqual(marking.queue(made, self.folder / "out", None, lambda _: None), 1)
        with open(self.folder / "out" / "class.csv", newline="", encoding="utf-8") as file:
            reasons = {row["submission"]: row["reason"] for row in csv.DictReader(file)}
        self.assertEqual(reasons, {"odd": "not marked: RecursionError: too deep", "good": ""})


class SampleTest(WithFolder):
    """Of the class that `make course-proof` grades. None does harm where there is no sandbox."""

    def test_marks_are_the_expected_ones(self) -> None:
        students_of = proof.the_class()
        self.assertGreaterEqual(len(students_of), 40)
        for number, name in enumerate(("perfect", "serves-what-was-denied")):
            with self.subTest(name):
                students_of[name].make(self.folder / name)
                handed_in = submission.read(self.folder / name)
                sheet = marking.mark(handed_in, self.folder / "work", number)
                self.assertEqual(proof.faults_of(sheet, students_of[name], has_gain=False), [])
                if name == "perfect":
                    self.assertEqual((sheet.points, sheet.of, sheet.reason), (70, 70, ""))


class AutograderTest(WithFolder):
    """As Gradescope calls it, with another folder than /autograder."""

    folder_of = course_path.ROOT / "course" / "autograder"

    def results(self) -> dict[str, Any]:
        run = [str(self.folder_of / "run_autograder")]
        variables = {**os.environ, "AUTOGRADER": str(self.folder)}
        subprocess.run(run, env=variables, check=True, capture_output=True)
        text = (self.folder / "results" / "results.json").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    def test_a_submission_has_a_score_and_a_test_for_each_part(self) -> None:
        (self.folder / "source").symlink_to(course_path.ROOT)
        students.with_makefile(self.folder / "submission", students.HOSTILE["makes-nothing"])
        found = self.results()
        self.assertEqual(set(found), {"score", "output", "visibility", "tests"})
        keys = {"name", "score", "max_score", "status", "output"}
        self.assertEqual([set(one) for one in found["tests"]], [keys] * 4)
        self.assertEqual(found["score"], 0)

    def test_the_archive_is_enough_and_what_cannot_be_marked_has_a_score_too(self) -> None:
        archive = self.folder / "autograder.zip"
        subprocess.run([str(self.folder_of / "make-zip"), str(archive)], check=True)
        with zipfile.ZipFile(archive) as packed:
            names = packed.namelist()
            packed.extractall(self.folder / "source")
        self.assertLessEqual({"setup.sh", "run_autograder", "scripts/course"}, set(names))
        self.assertFalse([name for name in names if "teacher" in name])
        (self.folder / "submission").mkdir()
        found = self.results()
        self.assertEqual(found["score"], 0)
        self.assertIn("there is no Makefile", found["output"])


class MarksTest(unittest.TestCase):
    def test_the_points_of_a_ratio_fall_by_its_logarithm(self) -> None:
        points = [marks.gain(ratio, "c++").points for ratio in (0.5, 1.5, 2.7386, 5, 9)]
        self.assertEqual(points, [30, 30, 15, 0, 0])

    def test_a_ratio_that_varies_by_two_percent_changes_marks_by_at_most_one(self) -> None:
        for language in ("c++", "go", "python"):
            for ratio in (1.0, 1.6, 3.0, 8.0, 15.0):
                first, second = (marks.gain(one, language).points for one in (ratio, ratio * 1.02))
                self.assertLessEqual(abs(first - second), 1)

    def test_what_a_student_wrote_is_text_in_each_form(self) -> None:
        evil = "<script>alert(1)</script>\x1b[2J]]>"
        outcome = Outcome("x", "A sentence.", evil)
        sheet = Sheet("=cmd", 1, (marks.contract([outcome]),), None, evil)
        page = reports.page([sheet])
        self.assertNotIn("<script", page)
        ElementTree.fromstring(reports.junit(sheet))
        for text in (page, reports.text(sheet), reports.table([sheet]), reports.gradescope(sheet)):
            self.assertNotIn("\x1b", text)
        self.assertIn("'=cmd", reports.table([sheet]))


_LACKS = sandbox.missing(Path(tempfile.gettempdir())) if os.geteuid() == 0 else "not root"
_NO_SPACE = "file system" in _LACKS or "namespaces" in _LACKS or "user" in _LACKS
_NO_GROUP = "memory" in _LACKS


@unittest.skipIf(_LACKS == "not root" or _NO_SPACE, f"no sandbox here: {_LACKS}")
class SandboxTest(WithFolder):
    def said(self, script: str, **how: object) -> str:
        """What a shell in the sandbox says, which may write its folder."""
        place = self.folder / "own"
        place.mkdir(exist_ok=True)
        with sandbox.made(1, self.folder) as jail_:
            jail_.own(place)
            how = {"write": [place], "folder": place, **how}
            command = jail_.command(["/bin/sh", "-c", script], **how)  # type: ignore[arg-type]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return done.stdout + done.stderr

    def test_it_sees_the_system_and_its_own_folder_only(self) -> None:
        (self.folder / "neighbour").mkdir()
        (self.folder / "neighbour" / "secret").write_text("seen", encoding="utf-8")
        said = self.said(f"ls {self.folder}; cat {self.folder}/neighbour/secret /etc/shadow; id -u")
        self.assertNotIn("seen", said)
        self.assertNotIn("root:", said)
        self.assertRegex(said, r"\Aown\n")
        self.assertRegex(said, r"\n60101\n")

    def test_it_sees_and_ends_its_own_processes_only(self) -> None:
        with subprocess.Popen(["sleep", "100"]) as other:
            said = self.said(f"kill -9 {other.pid}; kill -9 -1; ls /proc | grep -c '^[0-9]'")
            self.assertIsNone(other.poll())
            other.kill()
        self.assertNotIn(str(other.pid) + "\n", said.splitlines()[-1:])

    def test_it_becomes_nobody_else_and_writes_nothing_of_the_system(self) -> None:
        said = self.said(
            "touch /usr/x /x /etc/x 2>&1; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status"
        )
        self.assertEqual(said.count("Read-only file system"), 3, said)
        self.assertIn("NoNewPrivs:\t1", said)
        self.assertRegex(said, r"CapEff:\t0+\n")

    def test_it_forks_no_more_than_its_limit_and_all_end_with_it(self) -> None:
        script = "import os, time\nn = 0\ntry:\n    while n < 2000:\n        n += 1\n"
        script += (
            "        if not os.fork(): time.sleep(60)\nexcept OSError: print('limit', n < 600)"
        )
        said = self.said(f'/usr/bin/python3 -c "{script}"')
        self.assertEqual(said, "limit True\n")

    def test_without_a_network_nothing_is_reached(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            script = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
            script = f'/usr/bin/python3 -c "{script}"'
            self.assertIn("Error", self.said(script, has_network=False))
            self.assertEqual(self.said(script), "")

    def test_its_temporary_folder_is_bounded(self) -> None:
        said = self.said(
            "head -c 200000000 /dev/zero >/tmp/filled; ls -l /tmp/filled", temporary="8m"
        )
        self.assertIn("No space left on device", said)

    @unittest.skipIf(_NO_GROUP, f"no control group here: {_LACKS}")
    def test_its_memory_is_bounded(self) -> None:
        script = f"x = b'x' * {_HOG_BYTES}; print(len(x))"
        with mock.patch.object(sandbox, "_MEMORY_BYTES", _HOG_BYTES // 2):
            said = self.said(f'/usr/bin/python3 -c "{script}"')
        self.assertNotIn(str(_HOG_BYTES), said)

    def test_a_limit_of_time_ends_make_and_all_that_it_started(self) -> None:
        bad = students.with_makefile(self.folder / "hangs", students.HOSTILE["make-hangs"])
        with mock.patch.object(submission, "_BUILD_S", 1):
            sheet = marking.mark(submission.read(bad), self.folder / "work")
        self.assertIn("make did not end within 1 s", sheet.reason)
        self.assertEqual(sheet.points, 0)


class MissingTest(unittest.TestCase):
    def test_what_a_host_cannot_give_is_one_line(self) -> None:
        with mock.patch.object(jail, "missing", return_value="without a user of its own"):
            self.assertLessEqual(len(sandbox.missing(Path("/nonexistent")).splitlines()), 1)
        self.assertNotRegex(re.sub(r"\w", "", sandbox.missing(Path(tempfile.gettempdir()))), "\n")
