"""The kept list of mutations still fits the sources: `make mutants` could try each of them."""

import re
import sys
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "mutants"))

from kept import ALL  # noqa: E402

LEAST = 40


def unit_test_names() -> list[str]:
    """The names of all unit tests, and their tags."""
    names = []
    for path in TESTS.rglob("*_test.cpp"):
        for name, tags in re.findall(r'TEST_CASE\(\s*"(.*?)",\s*"(.*?)"\)', path.read_text()):
            names += [f"unit/{name}", *re.findall(r"\[\w+\]", tags)]
    return names


def exists(test: str, unit_tests: list[str]) -> bool:
    """Whether there is such a test, or class or file of tests."""
    if test.startswith(("[", "unit/")):
        start = test.removesuffix("*")
        return any(name.startswith(start) if test != start else name == test for name in unit_tests)
    module, *names = test.split(".")
    folder, file = module.split("/")
    path = next((TESTS / folder).rglob(f"{file}.py"), None)
    if path is None:
        return False
    wanted = [f"class {name}(" if name[0].isupper() else f"def {name}(" for name in names]
    return all(text in path.read_text() for text in wanted)


class MutantsTest(unittest.TestCase):
    def test_the_text_that_a_mutation_changes_is_in_its_file_once(self) -> None:
        for mutation in ALL:
            with self.subTest(mutation.name):
                path = TESTS.parent / mutation.file
                self.assertTrue(path.exists(), f"{mutation.name}: there is no {mutation.file}")
                self.assertEqual(
                    path.read_text().count(mutation.old),
                    1,
                    f"mutation {mutation.name} needs a new text: it must be in {mutation.file} "
                    f"once, but this is not:\n{mutation.old}",
                )
                self.assertNotEqual(mutation.old, mutation.new)

    def test_each_mutation_names_tests_that_exist(self) -> None:
        unit_tests = unit_test_names()
        for mutation in ALL:
            self.assertTrue(mutation.tests, f"{mutation.name} names no test")
            for test in mutation.tests:
                with self.subTest(mutation.name):
                    self.assertTrue(
                        exists(test, unit_tests), f"{mutation.name}: there is no test {test}"
                    )

    def test_their_names_differ(self) -> None:
        names = [mutation.name for mutation in ALL]
        self.assertEqual(len(set(names)), len(names))
        self.assertGreaterEqual(len(names), LEAST)
