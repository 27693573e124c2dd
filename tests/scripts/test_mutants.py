"""The kept list of mutations still fits the sources: `make mutants` could try each of them."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.append(str(TESTS / "mutants"))

from kept import ALL, read  # noqa: E402
from place import Mutation, Place, Sources  # noqa: E402

from rig.errors import Failed  # noqa: E402

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
    return is_in(TESTS / folder, file, names)


def is_in(folder: Path, file: str, names: list[str]) -> bool:
    """Whether the file has this class and test, or its class has the test of one elsewhere."""
    path = next(folder.rglob(f"{file}.py"), None)
    if path is None:
        return False
    text = path.read_text()
    wanted = [f"class {name}(" if name[0].isupper() else f"def {name}(" for name in names]
    if all(words in text for words in wanted):
        return True
    base = re.search(rf"class {names[0]}\((\w+)\.(\w+)\)", text) if len(names) == 2 else None
    return base is not None and is_in(folder, base[1], [base[2], names[1]])


class MutantsTest(unittest.TestCase):
    def test_the_text_that_a_mutation_changes_is_in_its_function_once(self) -> None:
        sources = Sources(TESTS.parent)
        for mutation in ALL:
            with self.subTest(mutation.name):
                try:
                    place = sources.place_of(mutation)
                except Failed as error:
                    self.fail(str(error))
                self.assertNotEqual(mutation.old, mutation.new)
                if not mutation.function:
                    self.assert_is_in_no_function(sources, place, mutation)

    def assert_is_in_no_function(self, sources: Sources, place: Place, mutation: Mutation) -> None:
        """Or else it breaks as soon as another function of the file has the same text."""
        at = sources.text(place.file).find(mutation.old)
        for function in sources.functions(place.file):
            is_in_it = function.begin <= at and at + len(mutation.old) <= function.end
            self.assertFalse(is_in_it, f"say: {mutation.name} in {function.name}")

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


class ReadTest(unittest.TestCase):
    def read(self, text: str) -> list:
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return list(read(Path(file.name)))

    def test_a_block_has_a_name_tests_and_two_texts(self) -> None:
        text = "# about\n\n@ a.h\n\none (may hang): [net] | e2e/test_x\n- if (a)\n-   b;\n+\n+ c;\n"
        (one,) = self.read(text)
        self.assertEqual((one.name, one.file, one.may_hang), ("one", "a.h", True))
        self.assertEqual(one.tests, ("[net]", "e2e/test_x"))
        self.assertEqual((one.old, one.new), ("if (a)\n  b;", "\nc;"))

    def test_a_name_may_say_the_function(self) -> None:
        text = "@ a.h\none in A::a (may hang): [x]\n- a\ntwo in operator bool: unit/x: y\n- b\n"
        one, two = self.read(text)
        self.assertEqual((one.name, one.function, one.may_hang), ("one", "A::a", True))
        self.assertEqual((two.function, two.tests), ("operator bool", ("unit/x: y",)))

    def test_a_text_that_only_goes_has_no_new_one(self) -> None:
        first, second = self.read("@ a.h\none: [x]\n- a\ntwo: [x]\n- b\n")
        self.assertEqual((first.new, second.file), ("", "a.h"))

    def test_anything_else_is_refused_with_its_line(self) -> None:
        for text, said in (
            ("@ a.h\none: [x]\n", "one needs a file and a text"),
            ("one: [x]\n- a\n", "one needs a file and a text"),
            ("@ a.h\n- a\n", ":2: this text is of no mutation"),
            ("@ a.h\none: [x]\n- a\n+ b\n- c\n", ":5: this text is of no mutation"),
            ("@ a.h\none\n", ":2: not NAME: TEST"),
        ):
            with self.subTest(text), self.assertRaisesRegex(Failed, said):
                self.read(text)
