"""A true results folder is believed, and each kind of forgery is told."""

import contextlib
import io
import json
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import folders
import students
from folders import CLAIMS, FORGED

from course import answers, marking, notebook, results, submission
from rig.errors import Failed


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = Path(made.name)
        students.answers(self.folder, 2, **CLAIMS)
        folders.honest(self.folder / "results")

    def bad(self, *, committed_s: float = folders.START_S - 60) -> dict[str, str]:
        """The names of the checks that do not hold, with the reason."""
        folders.committed(self.folder, committed_s)
        path = self.folder / answers.NAME
        found = results.read(self.folder / "results")
        judged = results.judge(found, answers.read(path), path)
        self.assertEqual(len(judged), results.CHECKS)
        return {one.name: one.why for one in judged if not one.holds}

    def claimed(self, **more: Any) -> list[str]:
        students.answers(self.folder, 2, **{**CLAIMS, **more})
        found = results.read(self.folder / "results")
        said = results.claims(found, answers.read(self.folder / answers.NAME))
        return [one.why for one in said]


class HonestTest(FolderTest):
    def test_all_checks_hold_and_all_claims(self) -> None:
        self.assertEqual(self.bad(), {})
        self.assertEqual(self.claimed(), ["", "", ""])

    def test_it_gets_all_points_for_results_and_claims(self) -> None:
        folders.committed(self.folder, folders.START_S - 60)
        sheet = marking.mark(submission.read(self.folder), self.folder / "work")
        self.assertEqual((sheet.points, sheet.of, sheet.reason), (20, 20, ""))


class ForgedTest(FolderTest):
    def test_without_git_nobody_can_say_when_they_were_committed(self) -> None:
        path = self.folder / answers.NAME
        found = results.read(self.folder / "results")
        with (
            mock.patch.dict("os.environ", PATH=str(self.folder)),
            self.assertRaisesRegex(Failed, "git is not installed"),
        ):
            results.judge(found, answers.read(path), path)

    def test_predictions_behind_the_run(self) -> None:
        bad = self.bad(committed_s=folders.START_S + 3600)
        self.assertRegex(bad.pop("predictions"), "committed 60 minutes after")
        self.assertEqual(bad, {})

    def test_no_predictions_and_no_commit(self) -> None:
        path = self.folder / answers.NAME
        found = results.read(self.folder / "results")
        (told,) = (one for one in results.judge(found, answers.read(path), path) if not one.holds)
        self.assertIn("git knows no commit", told.why)


def _forged(name: str):
    forge, check = FORGED[name]

    def test(self: FolderTest) -> None:
        forge(self.folder / "results")
        self.assertIn(check, self.bad())
        sheet = marking.mark(submission.read(self.folder), self.folder / "work")
        claims = sheet.part("claims")
        self.assertEqual(claims.points, 0)
        self.assertIn("do not fit together", claims.reason)

    return test


for _name in FORGED:
    setattr(ForgedTest, f"test_{re.sub('[^a-z]+', '_', _name)}", _forged(_name))


class ClaimsTest(FolderTest):
    def test_a_claim_outside_is_told_with_what_the_folder_says(self) -> None:
        gain = {**CLAIMS["gains"][0], "gain": 2.5}
        self.assertIn("the folder says 1.80", self.claimed(gains=[gain])[0])
        star = {**CLAIMS["n_stars"][0], "n_star": 64}
        self.assertRegex(self.claimed(n_stars=[star] * 2)[1], r"the folder says \d\Z")
        limit = {
            "stage": "ph2",
            "row": "1KB",
            "limit": "disk",
            "why": "it turned all the time here",
        }
        self.assertIn("the folder says: ", self.claimed(limits=[limit])[1])

    def test_a_claim_needs_a_sentence_and_a_cell_that_was_measured(self) -> None:
        gain = CLAIMS["gains"][0]
        self.assertIn("fewer than 5 words", self.claimed(gains=[{**gain, "why": "so"}])[0])
        other = {**gain, "after": "redis"}
        self.assertIn("was not measured", self.claimed(gains=[other])[0])

    def test_few_claims_are_none(self) -> None:
        self.assertEqual(len(self.claimed(gains=[], n_stars=[])), 1)


class HostileTest(FolderTest):
    """Each file is the student's."""

    def test_answers_that_are_none(self) -> None:
        path = self.folder / answers.NAME
        for text in (
            "",
            "[]",
            "{",
            '{"stage": 7}',
            '{"stage": true}',
            "[" * 100_000,
            '{"stage": 1, "gains": {}}',
            '{"stage": 1, "gains": [3]}',
            '{"stage": 1, "n_stars": [{"stage": "a", "row": "b", "n_star": 1e999}]}',
            '{"stage": 1, "n_stars": [{"stage": "a", "row": "b", "n_star": %s}]}' % ("9" * 400),
            '{"stage": 1, "language": "cobol"}',
            " " * 70_000,
        ):
            with self.subTest(text[:30]):
                path.write_text(text, encoding="utf-8")
                with self.assertRaises(Failed):
                    answers.read(path)

    def test_a_results_folder_with_any_bytes(self) -> None:
        place = self.folder / "results"
        for name in ("points.csv", "usage.csv", "environment.json"):
            kept = (place / name).read_bytes()
            for content in (b"", b"\x00\xff", kept[: len(kept) // 2], b"trial,stage\n1,x\n", b"{}"):
                (place / name).write_bytes(content)
                with self.subTest(name, content=content[:20]):
                    sheet = marking.mark(submission.read(self.folder), self.folder / "work")
                    self.assertLess(sheet.points, 20)
            (place / name).write_bytes(kept)

    def test_evidence_that_is_a_list_is_none(self) -> None:
        for path in (self.folder / "results" / "samples").iterdir():
            path.write_text("[]", encoding="utf-8")
        self.assertIn("evidence", self.bad())

    def test_an_archive_that_is_none_cannot_be_read(self) -> None:
        (self.folder / "results" / "recorded.zip").write_bytes(b"PK")
        with self.assertRaisesRegex(Failed, "results cannot be read: BadZipFile"):
            results.read(self.folder / "results")


class NotebookTest(FolderTest):
    def test_its_cells_run_on_a_results_folder(self) -> None:
        names: dict[str, Any] = {}
        place = str(self.folder / "results")
        with contextlib.redirect_stdout(io.StringIO()):
            for cell in json.loads(json.dumps(notebook.notebook()))["cells"]:
                text = "".join(cell["source"]).replace('Path("results")', f"Path({place!r})")
                text = text.replace("import matplotlib", "import no_such_module")
                if cell["cell_type"] == "code":
                    exec(compile(text, "cell", "exec"), names)
        self.assertEqual(sorted(names["x"]), [1, 2, 4])
        self.assertAlmostEqual(names["predicted"][1], names["x"][1], delta=names["x"][1] * 0.05)
