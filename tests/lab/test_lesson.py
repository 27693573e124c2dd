"""The commands that the pages of the lab name are commands, and take as long as the lesson says."""

import re
import unittest
from pathlib import Path
from unittest import mock

from real_lab import ROOT

from lab import cli
from lab.plan import options, plan
from lab.procedures.progress import duration

DOCS = ROOT / "docs"
LESSON = DOCS / "lab-lesson.md"
PAGES = [*sorted(DOCS.glob("lab*.md")), DOCS / "docker.md"]
_COMMAND = re.compile(
    r"(?:scripts/lab|run --rm lab) ((?:run|doctor|search|list|compare|limits)[^`\n#]*)"
)
_TWO_CORES = (0, 1)


def commands(page: Path) -> list[list[str]]:
    """The words behind `lab` of each command of a page, without placeholders and without --help."""
    found = [text.split() for text in _COMMAND.findall(page.read_text(encoding="utf-8"))]
    return [
        words for words in found if "--help" not in words and not any("…" in word for word in words)
    ]


def planned(words: list[str]) -> plan.Plan:
    """As the doctor plans it where all test files are there."""
    nowhere = Path("/nonexistent")
    with (
        mock.patch("lab.plan.file_counts.make_seconds", return_value=0.0),
        mock.patch("lab.plan.file_counts.wanted_count", lambda size, mode, _: size.files[mode]),
    ):
        chosen = options.checked(cli._parser().parse_args(words))
        return plan.make(chosen, _TWO_CORES, nowhere)


class PagesTest(unittest.TestCase):
    @mock.patch("rig.hosts.read")  # the file of the hosts is the reader's own
    def test_each_command_has_words_that_the_lab_knows(self, _: mock.Mock) -> None:
        for page in PAGES:
            for words in commands(page):
                with self.subTest(page.name, words=words):
                    parsed = cli._parser().parse_args(words)
                    if words[0] in ("run", "doctor") and parsed.experiments:
                        options.checked(parsed)

    def test_there_are_commands_on_the_pages_that_a_class_reads(self) -> None:
        for name in ("lab.md", "lab-lesson.md", "lab-instructor.md", "docker.md"):
            self.assertGreater(len(commands(DOCS / name)), 2, name)


class LessonTest(unittest.TestCase):
    def test_each_part_takes_as_long_as_the_plan_says(self) -> None:
        text = LESSON.read_text(encoding="utf-8")
        plan_of = dict(
            re.findall(r"^\| [\d–]+ \| \[(\d)\. [^|]*\| ([^|]+) \|$", text, re.MULTILINE)
        )
        parts = re.split(r"^## (\d)\. .*$", text, flags=re.MULTILINE)[1:]
        self.assertEqual(list(plan_of), parts[::2])
        for number, part in zip(parts[::2], parts[1::2], strict=True):
            part = part.partition("\n## ")[0]
            runs = [found.split() for found in _COMMAND.findall(part) if found[:3] == "run"]
            seconds = sum(planned(run).seconds for run in runs)
            self.assertEqual(plan_of[number], duration(seconds) if seconds else "at once", number)

    def test_a_container_can_measure_each_part(self) -> None:
        """It can make no control groups, and reaches no other host."""
        runs = [words for words in commands(LESSON) if words[0] == "run"]
        self.assertGreaterEqual(len(runs), 6)
        for words in runs:
            made = planned(words)
            stages = {cell.stage: made.stages[cell.stage] for cell in made.cells}
            limited = [name for name, one in stages.items() if one.machine or one.cluster]
            self.assertEqual((limited, "--client" in words), ([], False), words)

    def test_in_a_container_results_are_kept(self) -> None:
        """In the one folder that is also outside."""
        own = re.findall(r"run --rm lab (.*)", LESSON.read_text(encoding="utf-8"))
        kept = [word for line in own for word in line.split() if "/" in word]
        self.assertEqual(len(kept), 4)
        self.assertEqual([word for word in kept if not word.startswith("/results/")], [])
