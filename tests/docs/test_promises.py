"""Each promise of SECURITY.md is held by tests, which promises.txt names; so is each attack of
attacks.txt.
"""

import re
import sys
import unittest

from shell import PROJECT

sys.path.append(str(PROJECT / "tests" / "scripts"))

import test_mutants

_ROWS = PROJECT / "tests" / "docs" / "promises.txt"
_ATTACKS = PROJECT / "tests" / "docs" / "attacks.txt"
_WORDS = re.compile(r"\b(no|nobody|never|none|nothing|only|cannot)\b", re.IGNORECASE)
_BLOCK = re.compile(r"\n(?=[-|#]|\n)")  # a bullet, a row of a table or a paragraph begins behind it
_END = re.compile(r"(?<=[.!?]) (?=[A-Z`\[])")
_NO_TEST = "no test: "


def promises(page: str) -> list[str]:
    """The sentences with one of the words, each as one line without bold type."""
    blocks = [block.removeprefix("- ") for block in _BLOCK.split(page) if block[:1] != "#"]
    lines = [" ".join(block.replace("**", "").split()) for block in blocks]
    sentences = [text for line in lines for text in _END.split(line)]
    return [text for text in sentences if _WORDS.search(text)]


def rows(text: str) -> dict[str, list[str]]:
    """sentence -> what stands below it."""
    found: dict[str, list[str]] = {}
    for block in re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip().split("\n\n"):
        lines = block.splitlines()
        sentence = " ".join(line for line in lines if not line.startswith(" "))
        found[sentence] = [line.strip() for line in lines if line.startswith(" ")]
    return found


class PromisesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.rows = rows(_ROWS.read_text(encoding="utf-8"))
        self.promises = promises((PROJECT / "SECURITY.md").read_text(encoding="utf-8"))

    def test_each_sentence_has_a_row_and_each_row_a_sentence(self) -> None:
        self.assertGreater(len(self.promises), 25, "most sentences were not found")
        for sentence in self.promises:
            with self.subTest("it has no row", sentence=sentence):
                self.assertTrue(sentence in self.rows)
        for sentence in self.rows:
            with self.subTest("it is not on the page any more", sentence=sentence):
                self.assertTrue(sentence in self.promises)

    def test_each_row_names_tests_that_exist(self) -> None:
        unit_tests = test_mutants.unit_test_names()
        held = 0
        for sentence, below in self.rows.items():
            tests = [line for line in below if not line.startswith(_NO_TEST)]
            held += bool(tests)
            with self.subTest(sentence=sentence):
                self.assertTrue(below, "nothing stands below it")
                missing = [test for test in tests if not test_mutants.exists(test, unit_tests)]
                self.assertEqual(missing, [])
        self.assertGreater(held, len(self.rows) - 6, "most promises are held by a test")

    def test_sentences_are_found_in_bullets_rows_and_paragraphs(self) -> None:
        page = (
            "# Nothing in a heading\n\nAll is well. It never\nends.\n\n- **No one** waits. `a` is\n"
            "  b.\n- Only\n  c.\n\n| d | nothing |\n|---|---|\n| e | f |\n"
        )
        found = ["It never ends.", "No one waits.", "Only c.", "| d | nothing |"]
        self.assertEqual(promises(page), found)

    def test_a_row_may_have_several_lines_and_tests(self) -> None:
        text = "# about\n\nIt never\nends.\n  a/b.C.d\n  unit/e f\n\nOnly c.\n  no test: advice\n"
        self.assertEqual(
            rows(text), {"It never ends.": ["a/b.C.d", "unit/e f"], "Only c.": ["no test: advice"]}
        )


class AttacksTest(unittest.TestCase):
    def test_each_attack_is_held_by_tests_that_exist(self) -> None:
        attacks = rows(_ATTACKS.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(attacks), 60)
        unit_tests = test_mutants.unit_test_names()
        for attack, tests in attacks.items():
            with self.subTest(attack):
                self.assertTrue(tests, "nothing stands below it")
                missing = [test for test in tests if not test_mutants.exists(test, unit_tests)]
                self.assertEqual(missing, [])


class LabServiceTest(unittest.TestCase):
    """The service of Docker Compose that has privileges."""

    def test_it_has_no_network_and_is_started_only_by_name(self) -> None:
        text = (PROJECT / "docker-compose.yml").read_text(encoding="utf-8")
        (service,) = re.findall(r"^  lab:\n((?:    .*\n)+)", text, re.MULTILINE)
        self.assertIn("    network_mode: none\n", service)
        self.assertIn("    profiles: [lab]\n", service)
        self.assertNotIn("ports:", service)
        self.assertNotIn("--profile lab", text)
